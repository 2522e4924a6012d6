//! Training options as a record, the same for every interface. `options/table.rs` has their names and ranges, `options/resolve.rs` what they mean for a
//! table.

mod absent;
mod columns;
mod defaults;
mod gradients;
mod layers;
mod memory;
mod names;
mod poles;
mod precision;
mod predicting;
mod reading;
mod resolve;
mod table;
mod training;

pub use absent::absent;
pub use predicting::{PREDICTING, Predicting};
pub use reading::READING;
pub use table::TABLE;

use crate::device::Recompute;
use crate::loss::{Loss, TargetForm};
use crate::nn::{Activation, Decoding, Head, Norm, Policy, RationalLayer};
use crate::optim::{Optimizer, Schedule};
use crate::options::{Entry, Kind};
use crate::table::{Choice, Fractions, Quantity};
use crate::train::{CoverageGoal, Curriculum, GradientConfig, MixedPrecision, StepKind};

/// Training options; unset fields get defaults that may depend on the task and the number of rows.
#[derive(Clone, Debug, Default)]
pub struct TrainOptions {
    /// Target, features and how missing values are handled.
    pub choice: Choice,
    /// Shares of the rows held out for validation and test.
    pub fractions: Fractions,
    /// Widths of the hidden layers; three of 64 if unset.
    pub hidden: Option<Vec<usize>>,
    /// Function between layers; silu if unset.
    pub activation: Option<Activation>,
    /// Learnt rational function that replaces the activation.
    pub rational: Option<RationalLayer>,
    /// Normalization of the function's values, before the next linear layer; none if unset.
    pub norm: Option<Norm>,
    /// Share of the hidden values zeroed while training.
    pub dropout: f32,
    /// Loss function; mean squared error or cross-entropy if unset.
    pub loss: Option<Loss>,
    /// Share of a class label spread over all classes; 0, or 0.1 for a small table, if unset.
    pub smoothing: Option<f32>,
    /// Optimizer, with any decay; adamw if unset.
    pub optimizer: Option<Optimizer>,
    /// Weight decay; 1e-6, or 1 for a small table, if unset.
    pub weight_decay: Option<f32>,
    /// Learning rate schedule; half a cosine if unset.
    pub schedule: Option<Schedule>,
    /// Learning rate.
    pub lr: Option<f64>,
    /// Maximum passes over the training rows.
    pub epochs: Option<usize>,
    /// Rows per step; 256, or 32 for a small table, if unset.
    pub batch: Option<usize>,
    /// Steps whose gradients are accumulated for one update; 1 if unset.
    pub accumulate: Option<usize>,
    /// What happens between the gradients of a step and its update.
    pub gradients: GradientConfig,
    /// Which results of the forward pass are computed again in the backward pass.
    pub recompute: Recompute,
    /// Layers, kinds of layers and ops whose results are computed again, instead of `recompute`.
    pub recompute_layers: Vec<String>,
    /// What is stored in 16 bits.
    pub precision: Option<MixedPrecision>,
    /// Epochs without improvement before stopping; 0 = never.
    pub patience: Option<usize>,
    /// Seed of split, weights, order and dropout.
    pub seed: u64,
    /// Models that are trained at once, each from the next seed.
    pub members: Option<usize>,
    /// How a step is run.
    pub step: Option<StepKind>,
    /// Whether classes are weighted by rows / (classes · rows of the class).
    pub is_balanced: bool,
    /// Projective head on the last hidden layer; its output count is that of the target. A linear layer if unset.
    pub head: Option<Head>,
    /// Thresholds below which the head returns no value; from the range of the training targets if unset.
    pub decoding: Option<Decoding>,
    /// Gradient policies at ⊥ by layer, in addition to the defaults.
    pub policies: Vec<(String, Policy)>,
    /// What changes from epoch to epoch.
    pub curriculum: Curriculum,
    /// Validation coverage required to continue.
    pub coverage: Option<CoverageGoal>,
}

impl TrainOptions {
    /// The choice of columns with what head and loss say of the target: for every head that can have a pole, an infinite target is one; a
    /// loss of counts or of shares takes them as they are.
    pub(crate) fn fitted_choice(&self) -> Choice {
        let quantity = match self.loss.as_ref().map(|loss| loss.target().form) {
            Some(TargetForm::AsItIs) => Quantity::Count,
            Some(TargetForm::Shares) => Quantity::Share,
            _ => self.choice.quantity,
        };
        Choice { has_poles: self.choice.has_poles || self.head.is_some(), quantity, ..self.choice.clone() }
    }
}

/// An option of a training run.
const fn option(name: &'static str, kind: Kind, doc: &'static str) -> Entry<TrainOptions> {
    Entry::new(name, kind, doc)
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
