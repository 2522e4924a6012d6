//! From a table to a run: columns chosen, rows dealt out and encoded, a model and settings. What is left unsaid follows from
//! the task and the number of training rows, so every face starts the same run from the same words.

use super::batches::split_order;
use super::data::{Data, Examples};
use super::settings::{Settings, StepKind};
use crate::error::{Error, Result};
use crate::io::{self, Choice, Fractions, Preparation, Table, Target};
use crate::loss::Loss;
use crate::nn::{Activation, Layer, Spec};
use crate::optim::{Optimizer, Schedule};

/// What a user may say of a run.
#[derive(Clone, Debug, Default)]
pub struct Recipe {
    /// Target, features and what becomes of gaps.
    pub choice: Choice,
    /// The parts of the rows held back.
    pub fractions: Fractions,
    /// Widths of the hidden layers; three of 64 if not given.
    pub hidden: Option<Vec<usize>>,
    /// Function between layers; silu if not given.
    pub activation: Option<Activation>,
    /// Share of the hidden values zeroed while training.
    pub dropout: f32,
    /// What is made small: mean squared error or cross-entropy if not given.
    pub loss: Option<Loss>,
    /// Share of a class label spread over all classes: 0, or 0.1 for a small table, if not given.
    pub smoothing: Option<f32>,
    /// How parameters follow gradients, with any decay; adamw if not given.
    pub optimizer: Option<Optimizer>,
    /// Pull of the weights to zero; 1e-6, or 1 for a small table, if not given.
    pub weight_decay: Option<f32>,
    /// How the learning rate changes; half a cosine if not given.
    pub schedule: Option<Schedule>,
    /// Learning rate.
    pub lr: Option<f64>,
    /// Most passes over the training rows.
    pub epochs: Option<usize>,
    /// Rows per step: 256, or 32 for a small table, if not given.
    pub batch: Option<usize>,
    /// Epochs without improvement before stopping; 0 = never.
    pub patience: Option<usize>,
    /// Seed of split, weights, order and dropout.
    pub seed: u64,
    /// Which step to take.
    pub step: Option<StepKind>,
    /// Whether rare classes count for more: rows / (classes · rows of the class).
    pub is_balanced: bool,
}

/// All that a trainer needs, and what its model must remember.
#[derive(Clone, Debug)]
pub struct Run {
    /// Encoded rows.
    pub data: Data,
    /// The model.
    pub spec: Spec,
    /// How it is trained.
    pub settings: Settings,
    /// How rows became inputs.
    pub preparation: Preparation,
    /// Why the task is what it is, in words.
    pub reason: String,
    /// What became of rows with gaps, in words; empty where there were none.
    pub gaps: String,
}

/// Fewer training rows than this make a small table: smaller batches give it steps enough per epoch, a decay of 1 per unit of
/// learning rate and labels that are not quite sure keep 9,000 weights from learning some hundred rows by heart.
const SMALL: usize = 2000;

impl Recipe {
    /// Settles the recipe on a table.
    pub fn prepare(&self, table: &Table) -> Result<Run> {
        self.check()?;
        let chosen = io::choose(table, &self.choice)?;
        let order = split_order(chosen.rows.len(), self.seed);
        let split = io::split(chosen.rows.len(), self.fractions, &order)?.of(&chosen.rows);
        let preparation = Preparation::fit(table, &chosen, &split.train)?;
        let target = &preparation.target;
        let loss = self.loss(target, split.train.len())?;
        let examples = |rows: &[u32]| -> Result<Examples> {
            let y = preparation.encode_target(table, rows)?;
            let y = if loss == Loss::Bce { one_hot(&y, target.outputs()) } else { y };
            Ok(Examples { x: preparation.encode(table, rows)?, y })
        };
        let data = Data {
            inputs: preparation.inputs(),
            targets: if loss == Loss::Bce { target.outputs() } else { 1 },
            train: examples(&split.train)?,
            validation: examples(&split.validation)?,
            test: examples(&split.test)?,
        };
        let gaps = if chosen.report.columns.is_empty() { String::new() } else { chosen.report.to_string() };
        let settings = self.settings(target, loss, split.train.len());
        let spec = self.spec(data.inputs, target.outputs());
        Ok(Run { data, spec, settings, preparation, reason: chosen.reason, gaps })
    }

    fn check(&self) -> Result<()> {
        let decay = self.weight_decay.unwrap_or(0.0);
        if !(0.0..1.0).contains(&self.dropout) {
            return Err(Error::new(format!("train: dropout is {}, wanted at least 0 and less than 1", self.dropout)));
        }
        if let Some(share) = self.smoothing.filter(|share| !(0.0..1.0).contains(share)) {
            return Err(Error::new(format!("train: smoothing is {share}, wanted at least 0 and less than 1")));
        }
        if !(decay.is_finite() && decay >= 0.0) {
            return Err(Error::new(format!("train: weight decay is {decay}, wanted a finite number of at least 0")));
        }
        match self.hidden.iter().flatten().find(|width| **width == 0) {
            Some(_) => Err(Error::new("train: a hidden layer of width 0; wanted whole numbers above 0")),
            None => Ok(()),
        }
    }

    fn loss(&self, target: &Target, rows: usize) -> Result<Loss> {
        let smoothing = self.smoothing.unwrap_or(if rows < SMALL { 0.1 } else { 0.0 });
        let (usual, task) = match target {
            Target::Regression { .. } => (Loss::Mse, "a number; use mse, mae or huber"),
            Target::Classification { .. } => (Loss::CrossEntropy { smoothing }, "a class; use cross-entropy or bce"),
        };
        let is_for_class = |loss| matches!(loss, Loss::CrossEntropy { .. } | Loss::Bce);
        match self.loss.unwrap_or(usual) {
            loss if is_for_class(loss) != is_for_class(usual) => {
                Err(Error::new(format!("train: the loss does not fit the target, which is {task}")))
            }
            Loss::CrossEntropy { .. } => Ok(Loss::CrossEntropy { smoothing }),
            loss => Ok(loss),
        }
    }

    fn spec(&self, inputs: usize, outputs: usize) -> Spec {
        let hidden = self.hidden.as_deref().unwrap_or(&[64, 64, 64]);
        let mut spec = Spec::mlp(inputs, hidden, outputs, self.activation.unwrap_or(Activation::Silu));
        if self.dropout > 0.0 {
            let with_dropout = |layer| match layer {
                Layer::Activation { .. } => vec![layer, Layer::Dropout { rate: self.dropout }],
                _ => vec![layer],
            };
            spec.layers = spec.layers.into_iter().flat_map(with_dropout).collect();
        }
        spec
    }

    fn settings(&self, target: &Target, loss: Loss, rows: usize) -> Settings {
        let plain = Settings::default();
        let is_small = rows < SMALL;
        let decay = if is_small { 1.0 } else { 1e-6 };
        let optimizer = self.optimizer.unwrap_or(Optimizer::adamw(0.0));
        Settings {
            loss,
            optimizer: optimizer.with_weight_decay(self.weight_decay.unwrap_or(decay)),
            lr: self.lr.unwrap_or(plain.lr),
            schedule: self.schedule.unwrap_or(plain.schedule),
            epochs: self.epochs.unwrap_or(plain.epochs),
            batch: self.batch.unwrap_or(if is_small { 32 } else { plain.batch }),
            patience: self.patience.unwrap_or(plain.patience),
            seed: self.seed,
            step: self.step,
            class_weights: if self.is_balanced { balanced(target) } else { Vec::new() },
            ..plain
        }
    }
}

fn one_hot(classes: &[f32], count: usize) -> Vec<f32> {
    let row = |&class: &f32| (0..count).map(move |at| f32::from(u8::from(at == class as usize)));
    classes.iter().flat_map(row).collect()
}

/// Rows / (classes · rows of the class); 1 for a class without training rows.
fn balanced(target: &Target) -> Vec<f32> {
    let Target::Classification { counts, .. } = target else { return Vec::new() };
    let share = counts.iter().sum::<u32>() as f32 / counts.len() as f32;
    counts.iter().map(|&count| if count == 0 { 1.0 } else { share / count as f32 }).collect()
}
