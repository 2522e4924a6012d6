//! Prepares a run from a table: chooses columns and task, splits and encodes the rows, makes model and configuration. Unset options get
//! defaults that depend on the task and the number of training rows, so every interface starts the same run from the same options.

mod names;
mod reading;
mod table;

use super::batches::split_order;
use super::checkpoint::Checkpoint;
use super::config::{CoverageGoal, StepKind, TrainerConfig};
use super::curriculum::Curriculum;
use super::data::{Data, Examples};
use crate::error::{Error, Result, hint, listed};
use crate::io::{self, Choice, Fractions, Preparation, Split, Table, Target, Task};
use crate::loss::{self, Loss, PairLoss};
use crate::nn::{Activation, Decoding, Head, Layer, Policy, RationalLayer, Spec};
use crate::optim::{Optimizer, Schedule};

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

impl Norm {
    fn layer(self) -> Layer {
        let epsilon = 1e-5;
        match self {
            Self::Batch => Layer::MaskedNorm { epsilon, policy: None },
            Self::Layer => Layer::LayerNorm { epsilon },
        }
    }
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
    pub gaps: io::MissingReport,
    /// What a person should know about the columns.
    pub warnings: Vec<io::Warning>,
    /// The rows of the table in each part.
    pub split: Split,
}

/// A table with its column roles chosen and its rows split, not yet encoded.
#[derive(Clone, Debug)]
pub struct SplitTable {
    split: Split,
    preparation: Preparation,
    reason: String,
    gaps: io::MissingReport,
    warnings: Vec<io::Warning>,
}

/// Default widths of the hidden layers.
const HIDDEN: [usize; 3] = [64, 64, 64];
/// Default patience of a model with poles: its loss falls in steps, as poles are found.
const PATIENCE_OF_POLES: usize = 50;
/// Default ratio of `tau_train` to `tau_infer`.
const BEYOND_TAU: f32 = 3.0;
/// A table with fewer training rows is small.
const SMALL: usize = 2000;

/// Defaults that depend on the size of the table. For small tables, a batch of 32 gives enough steps per epoch; a decay of 1 per
/// unit of learning rate and smoothed labels keep 9,000 weights from overfitting a few hundred rows. Chosen over 20 seeds on
/// scikit-learn's wine, breast cancer, digits and diabetes tables.
struct Defaults {
    batch: usize,
    weight_decay: f32,
    smoothing: f32,
}

impl Defaults {
    fn of(rows: usize) -> Self {
        match rows {
            0..SMALL => Self { batch: 32, weight_decay: 1.0, smoothing: 0.1 },
            _ => Self { batch: 256, weight_decay: 1e-6, smoothing: 0.0 },
        }
    }
}

impl SplitTable {
    /// Chooses the columns and rows of a table and splits the rows with a seed.
    pub fn new(table: &Table, choice: &Choice, fractions: Fractions, seed: u64) -> Result<Self> {
        let chosen = io::choose(table, choice)?;
        let order = split_order(chosen.rows.len(), choice.split_seed.unwrap_or(seed));
        let split = io::split_table(table, &chosen, fractions, &order)?;
        Self::of(table, choice, &chosen, split)
    }

    /// With its rows split already.
    pub(super) fn of(table: &Table, choice: &Choice, chosen: &io::ColumnRoles, split: Split) -> Result<Self> {
        let preparation = Preparation::fit(table, chosen, &split.train)?;
        let is_class = choice.categorical.contains(&choice.target);
        let target_role = if is_class { io::Role::Category } else { io::Role::Number };
        // What is said of a column of numbers does not matter where it is used as a category.
        let columns = chosen.features.iter().copied().chain([(chosen.target, target_role)]);
        let used = columns.map(|(at, role)| (&table.columns()[at], role));
        let is_said = |(column, role): &(&io::Column, _)| !(*role == io::Role::Category && column.is_numeric());
        let read = used.filter(is_said).filter_map(|(column, _)| column.warning().cloned());
        let warnings = read.chain(chosen.left_out.clone()).chain(io::inspect(table, chosen)).collect();
        Ok(Self { split, preparation, reason: chosen.reason.clone(), gaps: chosen.report.clone(), warnings })
    }

    /// Encodes the rows for a model and its settings.
    pub fn run(self, table: &Table, spec: Spec, settings: TrainerConfig) -> Result<Run> {
        let Self { split, preparation, reason, gaps, warnings } = self;
        let examples = |rows: &[u32]| Examples::encode(&preparation, table, rows, &settings.loss);
        let data = Data {
            inputs: preparation.inputs(),
            targets: match settings.loss {
                Loss::Pointwise(_) => preparation.target.outputs(),
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
        // An infinite target is a pole for every head that can have one.
        let choice = Choice { has_poles: self.choice.has_poles || self.head.is_some(), ..self.choice.clone() };
        let split = SplitTable::new(table, &choice, self.fractions, self.seed)?;
        let (spec, settings) = self.resolve(&split)?;
        split.run(table, spec, settings)
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

    /// The model and its settings for a split table. Errors if the loss, the decoding or a policy is invalid for it.
    pub fn resolve(&self, table: &SplitTable) -> Result<(Spec, TrainerConfig)> {
        let (inputs, target) = (table.preparation.inputs(), &table.preparation.target);
        let mut spec = self.spec(inputs, target.outputs());
        if let Some(Layer::Projective(head)) = spec.layers.last_mut() {
            head.decoding = self.decoding.unwrap_or_else(|| default_decoding(target));
            head.decoding.check().map_err(|error| error.within("train"))?;
        }
        let mut settings = self.settings(target, table.split.train.len())?;
        for (layer, policy) in &self.policies {
            check_policy_layer(&spec, layer)?;
            settings.policies.register(layer, *policy)?;
        }
        Ok((spec, settings))
    }

    /// Widths of the hidden layers.
    pub fn hidden(&self) -> &[usize] {
        self.hidden.as_deref().unwrap_or(&HIDDEN)
    }

    /// The model for `inputs` and `outputs`.
    pub fn spec(&self, inputs: usize, outputs: usize) -> Spec {
        let hidden = self.hidden();
        let activation = self.activation.clone().unwrap_or_else(Activation::silu);
        let mut spec = match self.head {
            Some(head) => Spec::projective(inputs, hidden, Head { outputs, ..head }, activation),
            None => Spec::mlp(inputs, hidden, outputs, activation),
        };
        let between = |layer: Layer| match layer {
            Layer::Activation { .. } => {
                let function = self.rational.map_or(layer, Layer::Rational);
                let dropout = (self.dropout > 0.0).then_some(Layer::Dropout { rate: self.dropout });
                [Some(function), self.norm.map(Norm::layer), dropout].into_iter().flatten()
            }
            _ => [Some(layer), None, None].into_iter().flatten(),
        };
        spec.layers = spec.layers.into_iter().flat_map(between).collect();
        spec
    }

    /// The configuration of a run over `rows` training rows. Errors if the loss does not fit the target.
    pub fn settings(&self, target: &Target, rows: usize) -> Result<TrainerConfig> {
        let (plain, defaults) = (TrainerConfig::default(), Defaults::of(rows));
        let optimizer = self.optimizer.clone().unwrap_or_else(|| Optimizer::adamw(0.0));
        Ok(TrainerConfig {
            loss: self.loss(target.task(), self.smoothing.unwrap_or(defaults.smoothing))?,
            optimizer: optimizer.with_weight_decay(self.weight_decay.unwrap_or(defaults.weight_decay)),
            lr: self.lr.unwrap_or(plain.lr),
            schedule: self.schedule.unwrap_or(plain.schedule),
            epochs: self.epochs.unwrap_or(plain.epochs),
            batch: self.batch.unwrap_or(defaults.batch),
            accumulate: self.accumulate.unwrap_or(plain.accumulate),
            patience: self.patience.unwrap_or(if self.head.is_some() { PATIENCE_OF_POLES } else { plain.patience }),
            seed: self.seed,
            step: self.step,
            class_weights: if self.is_balanced { balanced(target) } else { Vec::new() },
            coverage: self.coverage,
            curriculum: self.curriculum.clone(),
            ..plain
        })
    }

    fn loss(&self, task: Task, smoothing: f32) -> Result<Loss> {
        if self.head.is_some() {
            return self.pair_loss(task);
        }
        let (usual, target, wanted) = match task {
            Task::Regression => (Loss::mse(), loss::Target::Numbers, "a number; use mse, mae, huber or a formula"),
            Task::Classification => {
                (Loss::CrossEntropy { smoothing }, loss::Target::Classes, "a class; use cross-entropy or bce")
            }
        };
        let chosen = match &self.loss {
            None | Some(Loss::CrossEntropy { .. }) => Loss::CrossEntropy { smoothing },
            Some(loss) => loss.clone(),
        };
        let chosen = if self.loss.is_none() { usual } else { chosen };
        let is_cross_entropy = matches!(chosen, Loss::CrossEntropy { .. });
        let unused = [("class weights", self.is_balanced), ("smoothing", self.smoothing.is_some())];
        if let Some((name, _)) = unused.into_iter().find(|(_, is_set)| *is_set && !is_cross_entropy) {
            return Err(Error::usage(format!("train: {name} applies only to loss \"cross-entropy\"")));
        }
        if chosen.target() != target || matches!(chosen, Loss::Pairs(_)) {
            return Err(Error::usage(format!(
                "train: the loss \"{}\" does not fit the target, which is {wanted}",
                chosen.text()
            )));
        }
        Ok(chosen)
    }
}

impl TrainOptions {
    /// The loss of a model with a head. Errors if the target is a class or the loss is not one of pairs.
    fn pair_loss(&self, task: Task) -> Result<Loss> {
        if task == Task::Classification {
            return Err(Error::usage("train: a head with poles predicts numbers, the target is a class"));
        }
        if self.smoothing.is_some() || self.is_balanced {
            return Err(Error::usage(
                "train: smoothing and class weights belong to classes; the head predicts numbers",
            ));
        }
        match &self.loss {
            None => Ok(Loss::Pairs(PairLoss::default())),
            Some(Loss::Pairs(loss)) => Ok(Loss::Pairs(*loss)),
            Some(_) => Err(Error::usage("train: a head with poles has a loss of its own; leave the loss out")),
        }
    }
}

/// Errors if `name` is neither the path nor the kind of a layer with a gradient policy.
fn check_policy_layer(spec: &Spec, name: &str) -> Result<()> {
    let (mut kinds, mut places) = (Vec::new(), Vec::new());
    for (at, layer) in spec.layers.iter().enumerate() {
        let Some((kind, _)) = layer.gradient_policy() else { continue };
        if !kinds.iter().any(|known| known == kind) {
            kinds.push(kind.to_owned());
        }
        places.push(format!("layers.{at}"));
    }
    let near = hint(name, kinds.iter().map(String::as_str));
    kinds.append(&mut places);
    if kinds.is_empty() {
        return Err(Error::usage("train: policy: only rational and masked layers have one; try activation rational"));
    }
    if !kinds.iter().any(|known| known == name) {
        let known = listed(&kinds.iter().map(String::as_str).collect::<Vec<_>>());
        return Err(Error::usage(format!("train: policy: \"{name}\" is no layer with one; there are {known}{near}")));
    }
    Ok(())
}

/// No value beyond the largest finite training target; values beyond a third of it are marked as near a pole. The limit is at least
/// ten times their spread.
fn default_decoding(target: &Target) -> Decoding {
    let Target::Regression { mean, scale, min, max, .. } = target else { return Decoding::default() };
    let largest = ((max - mean).max(mean - min) / scale).clamp(10.0, 1e6);
    let sine = (1.0 / (largest * largest + 1.0).sqrt()) as f32;
    Decoding { tau_infer: sine, tau_train: Some(BEYOND_TAU * sine), ..Decoding::default() }
}

/// Class weights: rows / (classes · rows of the class); 1 for a class without training rows.
fn balanced(target: &Target) -> Vec<f32> {
    let Target::Classification { counts, .. } = target else { return Vec::new() };
    let share = counts.iter().sum::<u32>() as f32 / counts.len() as f32;
    counts.iter().map(|&count| if count == 0 { 1.0 } else { share / count as f32 }).collect()
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
