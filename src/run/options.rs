//! Prepares a run from a table: chooses columns and task, splits and encodes the rows, makes model and configuration, so that every interface
//! starts the same run from the same options. `resolve.rs` has the defaults that depend on the task and the number of training rows.

mod gradients;
mod memory;
mod names;
mod precision;
mod reading;
mod resolve;
mod table;

use crate::device::Recompute;
use crate::error::{Error, Result};
use crate::files::{Column, Table, Warning};
use crate::loss::{Loss, Target};
use crate::math::split_order;
use crate::nn::{Activation, Decoding, Head, Policy, RationalLayer, Spec};
use crate::optim::{Optimizer, Schedule};
use crate::table::{
    Choice, ColumnRoles, Fractions, MissingReport, Preparation, Quantity, Role, Split, Task, choose, inspect,
    split_table,
};
use crate::train::Checkpoint;
use crate::train::Curriculum;
use crate::train::GradientConfig;
use crate::train::MixedPrecision;
use crate::train::{CoverageGoal, StepKind, TrainerConfig};
use crate::train::{Data, Examples};

pub use reading::READING;
pub use table::TABLE;

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

/// Normalization to mean 0 and variance 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// Per column, over the values that are not ⊥.
    Batch,
    /// Per row.
    Layer,
}

/// Everything a trainer needs, and what its model must store.
#[derive(Clone, Debug)]
pub struct Run {
    /// Encoded rows.
    pub data: Data,
    /// The model.
    pub spec: Spec,
    /// How it is trained.
    pub settings: TrainerConfig,
    /// How rows became inputs.
    pub preparation: Preparation,
    /// The reason for the task, in words.
    pub reason: String,
    /// Rows with missing values, and how they were handled.
    pub gaps: MissingReport,
    /// What a person should know about the columns.
    pub warnings: Vec<Warning>,
    /// The rows of the table in each part.
    pub split: Split,
}

/// A table with its column roles chosen and its rows split, not yet encoded.
#[derive(Clone, Debug)]
pub struct SplitTable {
    split: Split,
    preparation: Preparation,
    reason: String,
    gaps: MissingReport,
    warnings: Vec<Warning>,
}

impl SplitTable {
    /// Chooses the columns and rows of a table and splits the rows with a seed.
    pub fn new(table: &Table, choice: &Choice, fractions: Fractions, seed: u64) -> Result<Self> {
        let chosen = choose(table, choice)?;
        let order = split_order(chosen.rows.len(), choice.split_seed.unwrap_or(seed));
        let split = split_table(table, &chosen, fractions, &order)?;
        Self::of(table, &chosen, split)
    }

    /// With its rows split already.
    pub(crate) fn of(table: &Table, chosen: &ColumnRoles, split: Split) -> Result<Self> {
        let preparation = Preparation::fit(table, chosen, &split.train)?;
        let is_class = preparation.target.task() == Task::Classification;
        let target_role = if is_class { Role::Category } else { Role::Number };
        // What is said of a column of numbers does not matter where it is used as a category.
        let columns = chosen.features.iter().copied().chain([(chosen.target, target_role)]);
        let used = columns.map(|(at, role)| (&table.columns()[at], role));
        let is_said = |(column, role): &(&Column, _)| !(*role == Role::Category && column.is_numeric());
        let read = used.filter(is_said).filter_map(|(column, _)| column.warning().cloned());
        let warnings = read.chain(chosen.left_out.clone()).chain(inspect(table, chosen)).collect();
        Ok(Self { split, preparation, reason: chosen.reason.clone(), gaps: chosen.report.clone(), warnings })
    }

    /// Encodes the rows for a model and its settings.
    pub fn run(self, table: &Table, spec: Spec, settings: TrainerConfig) -> Result<Run> {
        let Self { split, preparation, reason, gaps, warnings } = self;
        let examples = |rows: &[u32]| Examples::encode(&preparation, table, rows, &settings.loss);
        let data = Data {
            inputs: preparation.inputs(),
            targets: match settings.loss {
                Loss::Pointwise(_) | Loss::Gaussian | Loss::KullbackLeibler => preparation.target.outputs(),
                Loss::Pairs(_) => 2,
                Loss::CrossEntropy { .. } => 1,
            },
            train: Examples::encode_training(&preparation, table, &split.train, &settings.loss)?,
            validation: examples(&split.validation)?,
            test: examples(&split.test)?,
        };
        Ok(Run { data, spec, settings, preparation, reason, gaps, warnings, split })
    }
}

impl Run {
    /// The checkpoint's run again: the same rows, split the same way. `source` names the checkpoint in messages.
    pub fn again(table: &Table, checkpoint: &Checkpoint, source: &str) -> Result<Self> {
        let origin = checkpoint.origin(source)?;
        let (spec, settings) = (checkpoint.spec.clone(), checkpoint.settings.clone());
        SplitTable::new(table, &origin.choice, origin.fractions, settings.seed)?.run(table, spec, settings)
    }
}

impl TrainOptions {
    /// Resolves the options on a table and encodes its rows.
    pub fn prepare(&self, table: &Table) -> Result<Run> {
        self.check()?;
        let split = SplitTable::new(table, &self.fitted_choice(), self.fractions, self.seed)?;
        let (spec, settings) = self.resolve(&split)?;
        split.run(table, spec, settings)
    }

    /// The choice of columns with what head and loss say of the target: for every head that can have a pole, an infinite target is one; a
    /// loss of counts or of shares takes them as they are.
    pub(crate) fn fitted_choice(&self) -> Choice {
        let quantity = match self.loss.as_ref().map(Loss::target) {
            Some(Target::Counts) => Quantity::Count,
            Some(Target::Shares) => Quantity::Share,
            _ => self.choice.quantity,
        };
        Choice { has_poles: self.choice.has_poles || self.head.is_some(), quantity, ..self.choice.clone() }
    }

    /// Errors that can be found without a table. The ranges are those of [`TABLE`].
    pub fn check(&self) -> Result<()> {
        let refused = |what: &str| Err(Error::usage(format!("train: {what}")));
        let whole = |value: Option<usize>| value.map(|value| value as f64);
        let numbers = [
            ("dropout", Some(f64::from(self.dropout))),
            ("smoothing", self.smoothing.map(f64::from)),
            ("weight_decay", self.weight_decay.map(f64::from)),
            ("lr", self.lr),
            ("epochs", whole(self.epochs)),
            ("batch", whole(self.batch)),
            ("accumulate", whole(self.accumulate)),
        ];
        for (name, value) in numbers {
            value.map_or(Ok(()), |value| TABLE.check_number(name, value)).map_err(|error| error.within("train"))?;
        }
        if self.rational.is_some_and(|layer| !layer.is_safe) && self.head.is_none() {
            return refused(
                "rational layers with poles can return ⊥; set head to one that can report it, such as rational",
            );
        }
        if self.norm.is_some() && self.hidden.as_ref().is_some_and(Vec::is_empty) {
            return refused("norm applies to hidden layers, but hidden is empty");
        }
        if let Some(at) = self.hidden.iter().flatten().position(|width| *width == 0) {
            return refused(&format!("hidden[{at}]: got 0, expected a whole number above 0"));
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
