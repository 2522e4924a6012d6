//! The complete configuration of a training run.

pub(crate) mod curriculum;
pub(crate) mod gradients;
pub(crate) mod precision;

use curriculum::Curriculum;
use gradients::GradientConfig;
use precision::MixedPrecision;

use crate::device::Recompute;
use crate::error::{Error, Result};
use crate::host::number;
use crate::kernels::optimise::{GradientBounds, LossScale, Rule};
use crate::loss::Loss;
use crate::model::Network;
use crate::nn::Registry;
use crate::optim::{Motion, Optimizer, Schedule};
use crate::record;

/// Configuration of a training run, kept in its checkpoints.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainerConfig {
    /// Loss function.
    pub loss: Loss,
    /// Optimizer.
    pub optimizer: Optimizer,
    /// Base learning rate.
    pub lr: f64,
    /// Learning rate schedule.
    pub schedule: Schedule,
    /// Maximum passes over the training rows.
    pub epochs: usize,
    /// Rows per step; the last step of an epoch may have fewer.
    pub batch: usize,
    /// Steps whose gradients are accumulated for one update, as if their rows were one batch; an epoch's last update may have fewer.
    pub accumulate: usize,
    /// What happens between the gradients of a step and its update.
    pub gradients: GradientConfig,
    /// Which results of the forward pass are computed again in the backward pass; only recorded steps keep any.
    pub recompute: Recompute,
    /// Layers, kinds of layers and ops whose results are computed again, instead of `recompute`.
    pub recompute_layers: Vec<String>,
    /// What is stored in 16 bits; `None` = nothing. Only recorded steps store anything.
    pub precision: Option<MixedPrecision>,
    /// Epochs without improvement before stopping; 0 = never stop early.
    pub patience: usize,
    /// Smallest decrease of the validation loss that counts as improvement.
    pub min_delta: f64,
    /// Seed of weights, order and dropout.
    pub seed: u64,
    /// Models that are trained at once, each from the next seed; the mean of their predictions is that of the model. At least 1.
    pub members: usize,
    /// How a step is run; `None` lets the trainer choose.
    pub step: Option<StepKind>,
    /// Weight of each class; empty = all 1.
    pub class_weights: Vec<f32>,
    /// Validation coverage required to continue; `None` = any.
    pub coverage: Option<CoverageGoal>,
    /// What changes from epoch to epoch.
    pub curriculum: Curriculum,
    /// Gradient policies at ⊥, by layer.
    pub policies: Registry,
    /// Whether the gap of a head with poles is as wide as its errors near poles, if those are larger than the gap of its decoding.
    pub measures_gap: bool,
    /// Whether the model that is made of the run is a blend of its network and a linear model.
    pub blends: bool,
    /// The epoch whose weights are kept.
    pub keep: Keep,
    /// Whether ⊥ targets are accepted although the model's denominators cannot approach 0.
    pub allows_unreachable: bool,
}

record! {
    TrainerConfig {
        loss, optimizer, lr, schedule, epochs, batch, accumulate = 1, patience, min_delta, seed, members = 1, step, class_weights, coverage,
        curriculum, policies = Registry::default(), allows_unreachable = false, gradients = GradientConfig::default(), recompute = Recompute::Nothing, recompute_layers = Vec::new(), precision = None, measures_gap = false, blends = false, keep = Keep::Best,
    }
}

/// Coverage below which a run ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoverageGoal {
    /// Minimum share of validation pairs that decode to a value, in [0, 1].
    pub least: f64,
    /// Consecutive epochs below it that end the run; at least 1.
    pub patience: usize,
}

record! { CoverageGoal { least, patience } }

/// The epoch whose weights a run keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The best one.
    Best,
    /// The last one, whatever it is; nothing is evaluated between epochs.
    Last,
}

record! { enum Keep { Best, Last } }

/// How a step is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// Two launches: forward and backward per tile of rows; reduction and update. One more where gradients are limited or accumulated.
    Fused,
    /// The model's ops, recorded once and replayed.
    Recorded,
}

record! { enum StepKind { Fused, Recorded } }

record! { enum Recompute { Nothing, Every(_), Root, Cheap(_), Within(_) } }

impl StepKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fused => "fused",
            Self::Recorded => "recorded",
        }
    }
}

impl Default for TrainerConfig {
    fn default() -> Self {
        Self {
            loss: Loss::mse(),
            optimizer: Optimizer::adamw(1e-6),
            lr: 1e-3,
            schedule: Schedule::COSINE,
            epochs: 200,
            batch: 256,
            accumulate: 1,
            gradients: GradientConfig::default(),
            recompute: Recompute::Nothing,
            recompute_layers: Vec::new(),
            precision: None,
            patience: 15,
            min_delta: 1e-6,
            seed: 0,
            members: 1,
            step: None,
            class_weights: Vec::new(),
            coverage: None,
            curriculum: Curriculum::default(),
            policies: Registry::default(),
            measures_gap: false,
            blends: false,
            keep: Keep::Best,
            allows_unreachable: false,
        }
    }
}

impl TrainerConfig {
    /// Whether the rows of a batch of this model share neither statistics nor terms of the loss, so that several steps can make the update of one.
    pub fn has_independent_rows(&self, network: &Network) -> bool {
        let shares = network.layout().parameters.iter().any(|parameter| parameter.is_statistic)
            || network.spec().is_none()
            || network.has_own_loss()
            || network.source().is_some()
            || matches!(self.loss, Loss::Pairs(_))
            || self.gradients.sharpness.is_some();
        !shares
    }

    /// The seed of one of its models.
    pub(crate) fn seed_of(&self, member: usize) -> u64 {
        self.seed.wrapping_add(member as u64)
    }

    /// The update rule, without limits.
    pub(crate) fn rule(&self) -> Rule {
        self.optimizer.rule(self.gradients.mean_decay.map(|decay| decay as f32))
    }

    /// What is done to the gradients of an update before the optimiser sees them.
    pub(crate) fn bounds(&self) -> GradientBounds {
        let bounds = self.gradients.bounds(self.accumulate);
        let scale = self.loss_scale();
        GradientBounds { scale, skips: bounds.skips || scale.is_some(), ..bounds }
    }

    /// Whether passes change what a recorded step keeps.
    pub(crate) fn has_passes(&self) -> bool {
        self.recompute != Recompute::Nothing || !self.recompute_layers.is_empty() || self.precision.is_some()
    }

    /// What the loss is multiplied by at first, and how that moves.
    pub(crate) fn loss_scale(&self) -> Option<LossScale> {
        self.precision.as_ref().and_then(MixedPrecision::loss_scale)
    }

    /// Errors if a setting needs an evaluation of each epoch.
    fn check_last(&self) -> Result<()> {
        let is_plateau = self.schedule.shape.as_kind().patience().is_some();
        let needs = [
            (is_plateau, "a plateau schedule"),
            (self.patience > 0, "a patience"),
            (self.coverage.is_some() || self.curriculum.held_coverage.is_some(), "a coverage goal"),
        ];
        needs.into_iter().find(|(is_set, _)| *is_set).map_or(Ok(()), |(_, got)| {
            Err(Error::usage(format!("train: keep: got {got}, which needs an evaluation of each epoch")))
        })
    }

    /// Errors if a setting is out of range; messages use the user's names.
    pub fn check(&self) -> Result<()> {
        let is_rate = self.lr.is_finite() && self.lr > 0.0;
        let wrong = [
            (self.epochs == 0, "epochs is 0; training needs at least 1".to_owned()),
            (self.batch == 0, "batch is 0; a step needs at least 1 row".to_owned()),
            (self.accumulate == 0, "accumulate is 0; an update needs the gradients of at least 1 step".to_owned()),
            (self.members == 0, "members is 0; a run trains at least 1 model".to_owned()),
            (!is_rate, format!("lr is {}; a learning rate is a finite number above 0", number(self.lr))),
            (!self.min_delta.is_finite(), format!("min_delta is {}; it must be finite", number(self.min_delta))),
        ];
        if let Some((_, message)) = wrong.into_iter().find(|(is_wrong, _)| *is_wrong) {
            return Err(Error::usage(format!("train: {message}")));
        }
        if let Some(goal) = self.coverage.filter(|goal| !(0.0..=1.0).contains(&goal.least) || goal.patience == 0) {
            let (least, patience) = (number(goal.least), goal.patience);
            return Err(Error::usage(format!(
                "train: a coverage of {least} for {patience} epochs; expected 0 to 1, and at least 1 epoch"
            )));
        }
        self.schedule.check().map_err(|error| error.within("train"))?;
        if self.keep == Keep::Last {
            self.check_last()?;
        }
        self.gradients.check(self.accumulate)?;
        let recomputes = self.recompute != Recompute::Nothing || !self.recompute_layers.is_empty();
        if recomputes && self.step == Some(StepKind::Fused) {
            let option = if matches!(self.recompute, Recompute::Within(_)) { "memory_budget" } else { "recompute" };
            return Err(Error::usage(format!(
                "train: {option}: the fused step keeps no results between its passes: expected the recorded step"
            )));
        }
        if self.recompute != Recompute::Nothing && !self.recompute_layers.is_empty() {
            return Err(Error::usage(
                "train: recompute_layers: got recompute or memory_budget as well, expected one of them",
            ));
        }
        if self.gradients.skips_overflow && self.optimizer.motion() == Motion::ByTensor {
            let name = self.optimizer.name();
            return Err(Error::usage(format!("train: skip_overflow: the optimizer {name} cannot leave out an update")));
        }
        if self.gradients.mean_decay.is_some() && self.optimizer.motion() != Motion::ByValue {
            let name = self.optimizer.name();
            return Err(Error::usage(format!("train: mean_decay: the optimizer {name} keeps no mean of the weights")));
        }
        if self.gradients.mean_decay.is_some() && self.optimizer.rule(None).has_mean() {
            let name = self.optimizer.name();
            return Err(Error::usage(format!("train: mean_decay: the optimizer {name} keeps a mean of its own")));
        }
        if let Some(precision) = &self.precision {
            precision.check(&self.optimizer)?;
            if self.step == Some(StepKind::Fused) {
                let name = precision.name();
                return Err(Error::usage(format!(
                    "train: precision: got {name}, but the fused step keeps nothing between its passes: expected the recorded step"
                )));
            }
        }
        self.curriculum.check(&self.loss)?;
        if let Loss::Pairs(loss) = &self.loss { loss.check().map_err(|error| error.within("train")) } else { Ok(()) }
    }
}
