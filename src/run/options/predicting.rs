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
         number, has no prediction, or with refuse is an error",
    )
    .default("other")
    .set(|options, value| options.unknown = value.one_of(&Unknown::ALL)),
    Entry::new(
        "precision",
        Kind::Name(|| vec![("f32", "Single precision"), ("f16", "Half the memory")]),
        "Type in which a GPU stores inputs, activations and outputs; the CPU always uses f32. With f16, for plain perceptrons of up to \
         16 layers of up to 128 units, predictions differ by about 0.1 % of their usual size, and a row with values beyond ±65,504 is \
         an error",
    )
    .default("f32")
    .set(|options, value| options.precision = value.one_of(&Precision::ALL)),
    Entry::new(
        "interval",
        Kind::Double(Range::Probability),
        "Add lower and upper, between which the target lies with this probability, such as 0.9; they come from the errors of the \
         test rows of training, or of all its folds. A curve fit has bands in any case, by default of its own level",
    )
    .set(|options, value| options.interval = Some(value.number())),
];
