//! Rows as inputs, and what is noted about them.

use super::*;
use crate::files::csv::{Header, read};
use crate::table::choose::{Choice, choose};
use crate::table::feature::Feature;
use crate::table::missing::Missing;
use crate::table::rows::MISSING;

fn table(text: &str) -> Table {
    read(text.as_bytes(), "new.csv", Header::Yes).unwrap()
}

/// Fitted to x from 0 to 10 and the colours red and blue.
fn fitted() -> Preparation {
    let text = format!("x,colour,y\n{}", "0,red,1\n10,blue,2.5\n".repeat(50));
    let table = table(&text);
    let chosen = choose(&table, &Choice { target: "y".into(), missing: Missing::Drop, ..Choice::default() }).unwrap();
    Preparation::fit(&table, &chosen, &chosen.rows).unwrap()
}

#[test]
fn a_text_is_no_number_however_many_numbers_are_around_it() {
    let text = format!("x,colour\n{}garbage,red\n,red\n", "5,red\n".repeat(30));
    let new = table(&text);
    let notes = fitted().encode_noting(&new, &new.every_row(), Unknown::Other).unwrap().notes;
    let why = |text: &str| NoteKind::Unusable(text.into());
    let expected = [(30, why("\"garbage\" is not a number")), (31, why(MISSING))];
    assert_eq!(notes, expected.map(|(row, kind)| Note { row, feature: 0, kind }));
}

#[test]
fn rows_that_cannot_be_used_are_noted_one_by_one() {
    let new = table("x,colour\n5,red\n,blue\nabc,red\n5,green\n12,red\n10.9,red\ninf,blue\n$1,red\n5,\n-,red\n");
    let rows = new.every_row();
    let noted = |unknown| fitted().encode_noting(&new, &rows, unknown).unwrap();
    let why = |text: &str| NoteKind::Unusable(text.into());
    let note = |row, feature, kind| Note { row, feature, kind };
    let mut expected = vec![
        note(1, 0, why(MISSING)),
        note(2, 0, why("\"abc\" is not a number")),
        note(4, 0, NoteKind::Outside),
        note(6, 0, why("is infinite")),
        note(9, 0, why(MISSING)),
        note(3, 1, NoteKind::Unseen("green".into())),
        note(8, 1, why(MISSING)),
    ];
    let other = noted(Unknown::Other);
    assert_eq!(other.notes, expected);
    assert_eq!(other.x[3 * 3..4 * 3], [0.0, 0.0, 0.0]);
    assert_eq!(other.x[..3], [0.0, 0.0, 1.0]);
    assert_eq!(other.x[7 * 3], -0.8, "$1 is 1");
    expected[5].kind = why("unknown value \"green\": expected one of \"blue\", \"red\"");
    assert_eq!(noted(Unknown::Skip).notes, expected);
    let refused = fitted().encode_noting(&new, &rows, Unknown::Refuse).unwrap_err().to_string();
    assert_eq!(refused, format!("new.csv: row 2, column \"x\": {MISSING}"));
}

#[test]
fn dates_become_inputs() {
    let text: String = (0..60).map(|row| format!("{}.{}.2024,{row}.5\n", row % 28 + 1, row % 12 + 1)).collect();
    let training = table(&format!("day,y\n{text}None,3.5\n"));
    let chosen = choose(&training, &Choice { target: "y".into(), ..Choice::default() }).unwrap();
    let preparation = Preparation::fit(&training, &chosen, &chosen.rows).unwrap();
    let new = table("day\n1.3.2024\nsoon\nNone\n1.3.2034\n31.2.2024\n");
    let Encoded { x, notes } = preparation.encode_noting(&new, &new.every_row(), Unknown::Other).unwrap();
    let why = |text: &str| NoteKind::Unusable(format!("\"{text}\" is not a date like 2024-12-24"));
    let kinds: Vec<_> = notes.into_iter().map(|note| (note.row, note.kind)).collect();
    assert_eq!(kinds, [(1, why("soon")), (3, NoteKind::Outside), (4, why("31.2.2024"))]);
    let row = |at: usize| &x[at * preparation.inputs()..][..preparation.inputs()];
    assert_eq!(row(1), vec![0.0; preparation.inputs()]);
    // The first of March 2024, a Friday: 0 of the month.
    let Feature::Date(date) = &preparation.features[0] else { panic!("{:?}", preparation.features[0]) };
    let circle = date.elapsed.inputs();
    assert_eq!(row(0)[circle..circle + 2], [0.0, 1.0]);
    assert_eq!((date.months.len(), date.weekdays.len()), (0, 7), "of less than a year");
}
