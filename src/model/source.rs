//! Where the gradients of a step come from, if not from the model's own ops: finite differences, local rules, a simulator. A source is recorded, like
//! the rest of a step, and replayed: what it returns are ops on what it gets.

use super::closures::{Batch, Parameters};
use super::network::Network;
use crate::autograd::Var;
use crate::error::Result;

/// A source of gradients, or of whole updates.
///
/// ```
/// use meromorph::model::{Direction, GradientSource, SourceStep, Sourced};
/// use meromorph::prelude::*;
///
/// /// y = slope * x by the perceptron rule: a row moves the slope by its error times its input.
/// struct LocalRule;
///
/// impl GradientSource for LocalRule {
///     fn name(&self) -> &str {
///         "local rule"
///     }
///
///     fn step(&self, step: &SourceStep<'_>) -> Result<Sourced> {
///         let batch = step.batch;
///         let error = &step.outputs(step.parameters.values())?[0] - &batch.y;
///         let weighted = ops::mul(&error, &batch.weight);
///         let slope = ops::matmul(&ops::transpose(&batch.x), &weighted);
///         let loss = ops::reshape(&ops::sum(&ops::mul(&weighted, &error), 0..2), [1]);
///         let weight = ops::reshape(&ops::sum(&batch.weight, 0..2), [1]);
///         Ok(Sourced { direction: Direction::Gradients(vec![slope]), loss, weight, state: Vec::new() })
///     }
/// }
///
/// let x: Vec<f32> = (0..64).map(|i| i as f32 / 32.0 - 1.0).collect();
/// let data = Data { inputs: 1, targets: 1, train: Examples { y: x.iter().map(|x| 3.0 * x).collect(), x }, ..Data::default() };
/// let line = Network::function(1, [("slope", Initial::zeros([1, 1]))], |p, x| ops::matmul(x, &p["slope"]));
/// let config = TrainerConfig { epochs: 200, lr: 0.1, patience: 0, ..TrainerConfig::default() };
/// let mut trainer = Trainer::new(&Device::cpu(1), line.with_source(LocalRule), config, data)?;
/// pollster::block_on(trainer.run(&mut |_| Flow::Continue))?;
/// assert!((pollster::block_on(trainer.parameters())?[0] - 3.0).abs() < 0.05);
/// # Ok::<(), Error>(())
/// ```
pub trait GradientSource {
    /// Its name, for messages.
    fn name(&self) -> &str;

    /// What it keeps on the device from step to step: the first contents of each block. Checkpoints hold them.
    fn state(&self) -> Vec<StateBlock> {
        Vec::new()
    }

    /// Records a step.
    fn step(&self, step: &SourceStep<'_>) -> Result<Sourced>;

    /// The names of the blocks that are read after each window of steps to report of it; none if nothing is reported.
    fn reported(&self) -> &'static [&'static str] {
        &[]
    }

    /// The report of a window: figures with their names, from the contents of those blocks after it.
    fn report(&self, state: &[StateBlock]) -> Vec<(String, f64)> {
        let _ = state;
        Vec::new()
    }
}

impl<T: GradientSource + ?Sized> GradientSource for Box<T> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn state(&self) -> Vec<StateBlock> {
        (**self).state()
    }

    fn step(&self, step: &SourceStep<'_>) -> Result<Sourced> {
        (**self).step(step)
    }

    fn reported(&self) -> &'static [&'static str] {
        (**self).reported()
    }

    fn report(&self, state: &[StateBlock]) -> Vec<(String, f64)> {
        (**self).report(state)
    }
}

/// A part of a source's state.
#[derive(Clone, Debug, PartialEq)]
pub struct StateBlock {
    /// Its name, in checkpoints.
    pub name: String,
    /// Its contents.
    pub values: Vec<f32>,
}

/// A source as a checkpoint holds it: its name, and what it keeps.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceState {
    /// The name of the source.
    pub name: String,
    /// Its blocks.
    pub blocks: Vec<StateBlock>,
}

/// What a source gets.
pub struct SourceStep<'s> {
    /// The parameters that the step starts from.
    pub parameters: &'s Parameters,
    /// The rows. Those that only fill the last batch have weight 0.
    pub batch: &'s Batch,
    /// The contents of the state's blocks, each [length].
    pub state: &'s [Var],
    pub(crate) network: &'s Network,
}

impl SourceStep<'_> {
    /// The model's outputs for the rows, [rows, columns] each, at any values of the parameters, as it predicts: without dropout.
    pub fn outputs(&self, parameters: &[Var]) -> Result<Vec<Var>> {
        self.network.predict(parameters, &self.batch.x)
    }
}

/// What a source returns.
pub struct Sourced {
    /// Where the parameters go.
    pub direction: Direction,
    /// The weighted sum of the rows' losses, [1].
    pub loss: Var,
    /// The sum of their weights, [1].
    pub weight: Var,
    /// The new contents of the state's blocks, each [length].
    pub state: Vec<Var>,
}

/// Where the parameters go in a step.
pub enum Direction {
    /// By the optimiser, along the weighted sum over the rows of the gradient by each parameter, which have the parameters' shapes.
    Gradients(Vec<Var>),
    /// To these values, without optimiser, rates and limits.
    Parameters {
        /// The new value of each parameter.
        values: Vec<Var>,
        /// 0 where the step is rejected and the parameters stay, [1]; absent if no step is.
        is_accepted: Option<Var>,
    },
}
