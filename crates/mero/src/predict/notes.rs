//! What was noticed about rows while they were predicted, for each row and in one line.

use std::collections::BTreeSet;

use meromorph::error::listed;
use meromorph::model::Prediction;
use meromorph::table::{Note, NoteKind};

/// For each row, what was noticed about it: `age: outside the training range; city: not seen in training`; `bottom` where it has no value.
pub(super) fn note_texts(notes: &[Note], names: &[&str], predictions: &[Prediction], bottom: &str) -> Vec<String> {
    let mut texts = vec![String::new(); predictions.len()];
    for Note { row, feature, kind } in notes {
        let what = match kind {
            NoteKind::Outside => "outside the training range",
            NoteKind::Unseen(_) => "not seen in training",
            NoteKind::Filled => "missing, a usual value filled in",
            NoteKind::Unusable(why) => why.as_str(),
        };
        let text = &mut texts[*row];
        let between = if text.is_empty() { "" } else { "; " };
        *text += &format!("{between}{}: {what}", names[*feature]);
    }
    for (text, prediction) in texts.iter_mut().zip(predictions) {
        let why = match prediction {
            Prediction::None if text.is_empty() => "the model's output is not a finite number",
            Prediction::Decoded { value: None, is_fault: true, .. } => "no value: a number is not finite",
            Prediction::Decoded { value: None, .. } => bottom,
            Prediction::Decoded { is_gap: true, .. } => "near a pole: the value is uncertain",
            _ => continue,
        };
        let between = if text.is_empty() { "" } else { "; " };
        *text += &format!("{between}{why}");
    }
    texts
}

/// The notes of all rows in one line, if there are any.
pub(super) fn summary(notes: &[Note], names: &[&str], rows: usize) -> Option<String> {
    let kinds = [
        "without a prediction",
        "with a value that training did not see",
        "outside the training range",
        "with a missing cell filled in",
    ];
    let place = |kind: &NoteKind| match kind {
        NoteKind::Unusable(_) => 0,
        NoteKind::Unseen(_) => 1,
        NoteKind::Outside => 2,
        NoteKind::Filled => 3,
    };
    let part = |(at, what): (usize, &str)| {
        let of_kind: Vec<&Note> = notes.iter().filter(|note| place(&note.kind) == at).collect();
        let count = of_kind.iter().map(|note| note.row).collect::<BTreeSet<_>>().len();
        let columns: BTreeSet<usize> = of_kind.iter().map(|note| note.feature).collect();
        let columns: Vec<&str> = columns.into_iter().map(|feature| names[feature]).collect();
        (count > 0).then(|| format!("{count} {what} ({})", listed(&columns)))
    };
    let parts: Vec<String> = kinds.into_iter().enumerate().filter_map(part).collect();
    (!parts.is_empty()).then(|| format!("of {rows} rows, {}; see the column note", parts.join(", ")))
}
