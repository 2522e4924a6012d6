//! Predictions of a model on a table: their options, and what they are.

use std::fmt;

use super::predictor::Factor;
use crate::kernels::mlp::Precision;
use crate::table::{Note, Unknown};

/// Options of a prediction.
#[derive(Clone, Copy, Debug, Default)]
pub struct PredictOptions<'a> {
    /// Validity factors: a prediction is ⊥ wherever one is near 0. Only for models with a projective head.
    pub factors: &'a [Factor],
    /// The type of the activations. f16 is for plain perceptrons of up to 16 layers, on GPUs 128 wide; heads need f32 to decide what is ⊥.
    pub precision: Precision,
    /// What happens to a row with a cell that the model cannot use.
    pub unknown: Unknown,
    /// Called after each part of the rows; not for models with a projective head.
    pub follow: Option<Follow<'a>>,
}

impl PredictOptions<'_> {
    /// A category that training did not see counts as none of those it saw, as `mero predict` has it by default.
    pub fn lenient() -> Self {
        Self { unknown: Unknown::Other, ..Self::default() }
    }
}

/// A function of the number of rows predicted so far and of all rows.
#[derive(Clone, Copy)]
pub struct Follow<'a>(pub &'a dyn Fn(usize, usize));

impl fmt::Debug for Follow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Follow")
    }
}

/// Predictions of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Noted {
    /// One for each row.
    pub predictions: Vec<Prediction>,
    /// What was noticed about single cells, in order of the columns, then of the rows.
    pub notes: Vec<Note>,
    /// The probability of every class [rows, classes]; NaN in rows without a prediction. Empty if the target is a number.
    pub probabilities: Vec<f64>,
}

/// The prediction for one row.
#[derive(Clone, Debug, PartialEq)]
pub enum Prediction {
    /// No prediction, because the model cannot use a cell of the row, or its output is not finite.
    None,
    /// A number in the target's units.
    Number(f64),
    /// A number and its standard deviation, in the target's units: of the target around it, from a model trained with loss `gaussian_nll`; or of the
    /// predictions of several models that were trained at once.
    Normal {
        /// The number.
        mean: f64,
        /// Its standard deviation.
        deviation: f64,
    },
    /// A number in the target's units, or ⊥.
    Decoded {
        /// The number; `None` for ⊥.
        value: Option<f64>,
        /// Whether it is in the gap near a pole, where values are uncertain.
        is_gap: bool,
        /// Whether it is ⊥ because of a fault (an overflow, an input that is not finite) rather than a pole.
        is_fault: bool,
    },
    /// The most probable class and its probability: softmax, or sigmoid if each class was trained against the rest.
    Class {
        /// Its name.
        name: String,
        /// In (0, 1].
        probability: f64,
    },
}
