//! A complete example: choose, fit, encode, decode, and every error message.

use super::*;
use crate::files::csv::{Header, read};
use crate::table::choose::{Choice, choose};
use crate::table::feature::{Bins, CategoryFeature, NumberFeature};
use crate::table::missing::Missing;
use crate::table::rows::{NoteKind, Unknown};

fn table(text: &str) -> Table {
    read(text.as_bytes(), "new.csv", Header::Yes).unwrap()
}

fn fitted(text: &str, choice: Choice, training: &[u32]) -> Result<(Table, Preparation)> {
    let table = read(text.as_bytes(), "train.csv", Header::Yes)?;
    let chosen = choose(&table, &Choice { target: "y".into(), ..choice })?;
    let preparation = Preparation::fit(&table, &chosen, training)?;
    preparation.check()?;
    Ok((table, preparation))
}

const MIXED: &str = "x,colour,k,y\n1,red,5,10\n3,blue,5,30\n,red,5,20\n100,,5,40.5\n100,green,5,-7\n";

pub(crate) fn mixed() -> (Table, Preparation) {
    fitted(MIXED, Choice { missing: Missing::Impute, ..Choice::default() }, &[0, 1, 2]).unwrap()
}

#[test]
fn statistics_come_from_training_rows_only() {
    let (_, preparation) = mixed();
    let number = |name: &str, mean, min, max, has_gaps| {
        let bins = Bins::default();
        Feature::Numeric(NumberFeature {
            name: name.into(),
            mean,
            scale: 1.0,
            min,
            max,
            impute: Some(mean),
            has_gaps,
            bins,
            ..NumberFeature::default()
        })
    };
    let colour = Feature::Categorical(CategoryFeature {
        name: "colour".into(),
        levels: ["blue", "red"].map(String::from).to_vec(),
        counts: vec![1, 2],
        impute: Some(1),
        ..CategoryFeature::default()
    });
    let features = vec![number("x", 2.0, 1.0, 3.0, true), colour, number("k", 5.0, 5.0, 5.0, false)];
    assert_eq!(preparation.features, features);
    let Target::Regression { mean, scale, min, max, .. } = preparation.target else { panic!("a number is a class") };
    assert_eq!((mean, min, max), (20.0, 10.0, 30.0));
    assert!((scale - (200.0_f64 / 3.0).sqrt()).abs() < 1e-12);
}

#[test]
fn rows_become_inputs() {
    let (table, preparation) = mixed();
    assert_eq!((preparation.inputs(), preparation.target.outputs()), (5, 1));
    let inputs = preparation.encode(&table, &[1, 2, 3]).unwrap();
    #[rustfmt::skip]
    assert_eq!(inputs, [
        1.0,  0.0,  1.0, 0.0,  0.0,
        0.0,  1.0,  0.0, 1.0,  0.0,
        98.0, 0.0,  0.0, 1.0,  0.0,
    ]);
    assert!(preparation.encode(&table, &[]).unwrap().is_empty());
}

#[test]
fn columns_of_other_files_are_found_by_name() {
    let (_, preparation) = mixed();
    let other = table("k,extra,colour,x\n6,a,blue,NA\n");
    assert_eq!(preparation.encode(&other, &[0]).unwrap(), [0.0, 1.0, 1.0, 0.0, 1.0]);
    let k = table("k,colour,x\n,red,1\n");
    assert_eq!(noted(&preparation, &k), [(2, NoteKind::Filled)]);
}

fn noted(preparation: &Preparation, table: &Table) -> Vec<(usize, NoteKind)> {
    let encoded = preparation.encode_noting(table, &table.every_row(), Unknown::Refuse).unwrap();
    encoded.notes.into_iter().map(|note| (note.feature, note.kind)).collect()
}

#[test]
fn missing_categories_are_a_level_of_their_own() {
    let (table, preparation) = fitted("c,x,y\na,1,1\n,2,2.5\nb,3,3\n", Choice::default(), &[0, 1, 2]).unwrap();
    let inputs = preparation.encode(&table, &[0, 1, 2]).unwrap();
    let category: Vec<&[f32]> = inputs.chunks(4).map(|row| &row[..3]).collect();
    assert_eq!(category, [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]);
    assert_eq!(noted(&preparation, &table), []);
}

#[test]
fn numbers_have_bins_between_their_quantiles() {
    let rows: String = (0..32).map(|i| format!("{i},{}\n", f64::from(i).sqrt())).collect();
    let all: Vec<u32> = (0..32).collect();
    let (table, preparation) = fitted(&format!("x,y\n{rows}"), Choice::default(), &all).unwrap();
    assert_eq!(preparation.inputs(), 17);
    let inputs = preparation.encode(&table, &[0, 31]).unwrap();
    assert!(inputs[..17].iter().all(|x| *x < 0.0) && inputs[17..].iter().all(|x| *x > 0.0), "{inputs:?}");
    let (_, plain) = fitted(&format!("x,y\n{rows}"), Choice { bins: Some(0), ..Choice::default() }, &all).unwrap();
    assert_eq!(plain.inputs(), 1);
}

#[test]
fn targets_are_encoded_and_decoded() {
    let (table, preparation) = mixed();
    for (output, expected) in preparation.encode_target(&table, &[0, 3, 4]).unwrap().iter().zip([10.0, 40.5, -7.0]) {
        assert!((preparation.decode_target(*output) - expected).abs() < 1e-5);
    }
    let text = format!("x,y\n{}", "1,3\n2,10\n".repeat(5));
    let (table, classes) = fitted(&text, Choice::default(), &[0, 1, 2]).unwrap();
    assert_eq!((classes.target.levels(), classes.target.outputs()), (&["3".to_string(), "10".to_string()][..], 2));
    assert_eq!(classes.encode_target(&table, &[0, 1]).unwrap(), [0.0, 1.0]);
    assert_eq!(classes.decode_target(1.0), 1.0);
    assert!(matches!(classes.target, Target::Classification { counts, .. } if counts == [2, 1]));
}

#[test]
fn numbers_can_be_a_category() {
    let choice = Choice { categorical: vec!["k".into()], ..Choice::default() };
    let (table, preparation) = fitted("k,y\n10,0.5\n2,1.5\n2.0,2\n", choice, &[0, 1]).unwrap();
    assert_eq!(preparation.encode(&table, &[0, 1, 2]).unwrap(), [0.0, 1.0, 1.0, 0.0, 1.0, 0.0]);
}

#[test]
fn errors_of_a_fit() {
    let impute = || Choice { missing: Missing::Impute, ..Choice::default() };
    let cases = [
        (
            fitted("x,y\n,1\n,2\n3,4.5\n", impute(), &[0, 1]),
            "column \"x\" has no value in the training rows of train.csv; expected a column with values",
        ),
        (
            fitted("x,y\n,1\n,2\na,4.5\n", impute(), &[0, 1]),
            "column \"x\" has no value in the training rows of train.csv; expected a column with values",
        ),
        (
            fitted("x,y\n1e308,1\n-1e308,2\n3,4.5\n", impute(), &[0, 1]),
            "column \"x\" has values up to 1e308; their variance does not fit a 64-bit float",
        ),
    ];
    for (got, expected) in cases {
        assert_eq!(got.unwrap_err().to_string(), expected);
    }
}

#[test]
fn errors_of_new_rows() {
    let choice = Choice { missing: Missing::Drop, ..Choice::default() };
    let (_, strict) = fitted("x,c,y\n1,a,1\n3,b,2.5\n", choice, &[0, 1]).unwrap();
    let cases = [
        ("x,z\n1,2\n1,2\n", "column \"c\" is missing from new.csv; it has \"x\", \"z\""),
        ("x,c\n1,a\nabc,a\n", "new.csv: row 2, column \"x\": \"abc\" is not a number"),
        (
            "x;c\n1,5;a\n2;a\n",
            "new.csv: row 1, column \"x\": \"1,5\" is not a number; numbers are written with a point",
        ),
        (
            "x,c\n1,a\n,a\n",
            "new.csv: row 2, column \"x\": is missing, and the model was prepared without a value to fill in",
        ),
        ("x,c\n1,a\n-inf,a\n", "new.csv: row 2, column \"x\": is infinite"),
        (
            "x,c\n1,a\n1e300,a\n",
            "new.csv: row 2, column \"x\": 1e300 is too far from the training mean 2.0 for a 32-bit input",
        ),
        ("x,c\n1,a\n1,red\n", "new.csv: row 2, column \"c\": unknown value \"red\": expected one of \"a\", \"b\""),
    ];
    for (text, expected) in cases {
        assert_eq!(strict.encode(&table(text), &[0, 1]).unwrap_err().to_string(), expected);
    }
    let message = strict.encode_target(&table("x,c\n1,a\n"), &[0]).unwrap_err().to_string();
    assert_eq!(message, "column \"y\" is missing from new.csv; it has \"x\", \"c\"");
}

#[test]
fn plain_inputs_are_those_without_bins() {
    let cell = |row: usize| if row == 7 { String::new() } else { row.to_string() };
    let text: String = (0..40).map(|row| format!("{},{},{row}\n", cell(row), ["red", "blue"][row % 2])).collect();
    let choice = Choice { bins: Some(4), missing: Missing::Impute, ..Choice::default() };
    let training: Vec<u32> = (0..40).collect();
    let (_, preparation) = fitted(&format!("x,colour,y\n{text}"), choice, &training).unwrap();
    // x, four bins, whether it is missing; blue, red.
    assert_eq!((preparation.inputs(), preparation.plain_inputs()), (8, vec![0, 5, 6, 7]));
}
