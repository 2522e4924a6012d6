//! The options of a prediction, the same in every face.

use crate::model::PredictOptions;
use crate::options::{Entry, Group, Kind, Range, Table};
use crate::table::Unknown;
use crate::train::Precision;

/// How rows are predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predicting {
    /// What happens to a row with a cell that the model cannot use.
    pub unknown: Unknown,
    /// The type of the activations.
    pub precision: Precision,
    /// Probability of an interval around each prediction, if there is to be one.
    pub interval: Option<f64>,
}

impl Default for Predicting {
    fn default() -> Self {
        Self { unknown: Unknown::Other, precision: Precision::default(), interval: None }
    }
}

impl Predicting {
    /// The same for the model.
    pub fn options(&self) -> PredictOptions<'static> {
        PredictOptions { unknown: self.unknown, precision: self.precision, ..PredictOptions::default() }
    }
}

/// The options of a prediction.
pub static PREDICTING: Table<Predicting> = Table { groups: &[Group { title: "Prediction", entries: || ENTRIES }] };

const ENTRIES: &[Entry<Predicting>] = &[
    Entry::new(
        "unknown",
        Kind::Name(|| {
            vec![
                ("other", "It counts as none of those that training saw"),
                ("skip", "The row has no prediction"),
                ("refuse", "An error"),
            ]
        }),
        "What happens to a row with a category that training never saw; a row with a cell that cannot be used, such as a text for a \
         number, has no prediction then, or is an error",
    )
    .default("other")
    .set(|options, value| options.unknown = named(&Unknown::ALL, value.text())),
    Entry::new(
        "precision",
        Kind::Name(|| vec![("f32", "Single precision"), ("f16", "Half the memory")]),
        "Type in which a GPU stores inputs, activations and outputs of a plain perceptron; with f16, predictions differ by about 0.1 % \
         of their usual size",
    )
    .default("f32")
    .set(|options, value| options.precision = named(&Precision::ALL, value.text())),
    Entry::new(
        "interval",
        Kind::Double(Range::Probability),
        "Add lower and upper, between which the target lies with this probability, such as 0.9; they come from the errors of the \
         test rows of training, or of all its folds",
    )
    .set(|options, value| options.interval = Some(value.number())),
];

fn named<T: Copy>(all: &[(&str, T)], name: &str) -> T {
    let found = all.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("the option was checked to have no value {name}")).1
}
