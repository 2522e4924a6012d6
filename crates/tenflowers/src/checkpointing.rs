//! The guide's policy of activation checkpointing. What it calls a checkpoint is a result that is kept; the others are computed again.

use meromorph::device::Recompute;
use meromorph::error::{Error, Result};

/// How the results that are kept for the backward pass are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CheckpointStrategy {
    /// All.
    #[default]
    NoCheckpointing,
    /// The last of so many layers.
    Block,
    /// The last of as many layers as take least memory, the root of their number.
    SquareRoot,
    /// Those of launches with at least so many operations.
    Selective,
    /// As many as fit a budget.
    Auto,
}

/// A policy of activation checkpointing, for [`TrainerConfig::recompute`](meromorph::train::TrainerConfig) and
/// [`Passes::recompute`](meromorph::device::Passes).
///
/// ```
/// use meromorph_tenflowers::{ActivationCheckpointPolicy, CheckpointStrategy};
/// use meromorph::prelude::*;
///
/// let block = ActivationCheckpointPolicy::default().with_strategy(CheckpointStrategy::Block).with_interval(3);
/// let selective =
///     ActivationCheckpointPolicy::default().with_strategy(CheckpointStrategy::Selective).with_min_computation_threshold(1000);
/// let auto = ActivationCheckpointPolicy::default().with_strategy(CheckpointStrategy::Auto).with_memory_budget_mb(4096);
/// assert!(ActivationCheckpointPolicy::default().with_strategy(CheckpointStrategy::Block).with_interval(0).recompute().is_err());
///
/// let examples = Examples { x: vec![0.5; 512], y: vec![0.25; 512] };
/// let bytes = |policy: ActivationCheckpointPolicy| -> Result<u64> {
///     let data = Data { inputs: 1, targets: 1, train: examples.clone(), ..Data::default() };
///     let settings = TrainerConfig {
///         recompute: policy.recompute()?,
///         step: Some(meromorph::train::StepKind::Recorded),
///         ..TrainerConfig::default()
///     };
///     let mut trainer = Trainer::new(&Device::dry(), Spec::mlp(1, &[64; 24], 1, Activation::tanh()), settings, data)?;
///     trainer.prepare()?;
///     Ok(trainer.step_summary().transient_bytes)
/// };
/// let all = bytes(ActivationCheckpointPolicy::default())?;
/// assert!(bytes(block)? < all * 2 / 5);
/// assert_eq!(bytes(auto)?, all);
/// # let _ = bytes(selective)?;
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ActivationCheckpointPolicy {
    strategy: CheckpointStrategy,
    interval: usize,
    threshold: u64,
    budget_mb: u64,
}

impl ActivationCheckpointPolicy {
    /// With another strategy.
    #[must_use]
    pub fn with_strategy(self, strategy: CheckpointStrategy) -> Self {
        Self { strategy, ..self }
    }

    /// Layers of which only the last keeps its result, for [`CheckpointStrategy::Block`].
    #[must_use]
    pub fn with_interval(self, interval: usize) -> Self {
        Self { interval, ..self }
    }

    /// Floating-point operations from which results are kept, for [`CheckpointStrategy::Selective`].
    #[must_use]
    pub fn with_min_computation_threshold(self, flops: u64) -> Self {
        Self { threshold: flops, ..self }
    }

    /// The most memory for intermediate results in units of 2^20 bytes, for [`CheckpointStrategy::Auto`].
    #[must_use]
    pub fn with_memory_budget_mb(self, budget_mb: u64) -> Self {
        Self { budget_mb, ..self }
    }

    /// The policy as plans take it. Errors if the strategy's number is 0.
    pub fn recompute(&self) -> Result<Recompute> {
        let refused = |what: &str| Err(Error::usage(format!("checkpointing: {what}: got 0, expected at least 1")));
        match self.strategy {
            CheckpointStrategy::NoCheckpointing => Ok(Recompute::Nothing),
            CheckpointStrategy::SquareRoot => Ok(Recompute::Root),
            CheckpointStrategy::Block if self.interval == 0 => refused("interval"),
            CheckpointStrategy::Block => Ok(Recompute::Every(self.interval)),
            CheckpointStrategy::Selective if self.threshold == 0 => refused("threshold"),
            CheckpointStrategy::Selective => Ok(Recompute::Cheap(self.threshold)),
            CheckpointStrategy::Auto if self.budget_mb == 0 => refused("budget"),
            CheckpointStrategy::Auto => Ok(Recompute::Within(self.budget_mb << 20)),
        }
    }
}
