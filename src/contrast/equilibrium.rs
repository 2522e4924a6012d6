//! A network of layers that settle: each layer's state is s_k = tanh(W_k s_(k-1) + b_k + W_(k+1)ᵀ s_(k+1)), which minimises the energy
//! E = Σ_k [G(s_k) - s_k · (W_k s_(k-1) + b_k)] with G' = atanh; a readout softmax(V s_K + c) is compared with the class. It learns by equilibrium
//! propagation (Scellier and Bengio 2017; readout and symmetric nudges as in Laborieux et al. 2021): the states settle freely, then under a nudge of
//! +b and of -b times the slope of the loss by the last layer, and dC/dW_k = -[s_k s_(k-1)ᵀ(+b) - s_k s_(k-1)ᵀ(-b)] / 2b, from the two layers alone. No
//! tape is kept, and W_1 x is computed once.

use crate::autograd::Var;
use crate::error::{Error, Result};
use crate::model::{Direction, GradientSource, Initial, Network, SourceStep, Sourced};
use crate::ops;
use crate::program::expr::{eq, select, tanh};
use crate::record;
use crate::tensor::Tensor;

/// A network of layers that settle, for classes.
#[derive(Clone, Debug, PartialEq)]
pub struct Equilibrium {
    /// Inputs of a row.
    pub inputs: usize,
    /// Sizes of the layers.
    pub hidden: Vec<usize>,
    /// Classes.
    pub classes: usize,
    /// Sweeps over the layers in the free phase.
    pub free_steps: usize,
    /// Sweeps in each nudged phase.
    pub nudged_steps: usize,
    /// b.
    pub nudge: f64,
}

record! { Equilibrium { inputs, hidden, classes, free_steps, nudged_steps, nudge } }

impl Equilibrium {
    /// Layers of these sizes with the usual numbers of sweeps.
    pub fn new(inputs: usize, hidden: impl Into<Vec<usize>>, classes: usize) -> Self {
        let hidden = hidden.into();
        // A single layer has nothing above it to wait for: its free state is reached at once. More sweeps do not make two layers of 512 better at digits.
        let (free_steps, nudged_steps) = if hidden.len() > 1 { (4, 3) } else { (0, 8) };
        Self { inputs, hidden, classes, free_steps, nudged_steps, nudge: 0.1 }
    }

    /// The network, trained by equilibrium propagation. Targets are classes, and the loss of the run is cross-entropy.
    ///
    /// Errors if a size is 0, there are fewer than two classes, or the nudge is not positive.
    pub fn network(self) -> Result<Network> {
        let own = self.clone();
        let forward = move |parameters: &crate::model::Parameters, x: &Var| own.outputs(parameters.values(), x);
        let network = Network::function(self.inputs, self.parameters()?, forward);
        Ok(network.with_source(self))
    }

    /// The same network trained by backpropagation through its settling: to compare with.
    ///
    /// Errors as [`Equilibrium::network`].
    pub fn backpropagated(self) -> Result<Network> {
        let parameters = self.parameters()?;
        let inputs = self.inputs;
        Ok(Network::function(inputs, parameters, move |parameters, x| self.outputs(parameters.values(), x)))
    }

    fn parameters(&self) -> Result<Vec<(String, Initial)>> {
        let sizes: Vec<usize> = [&[self.inputs], &self.hidden[..], &[self.classes]].concat();
        if self.hidden.is_empty() || sizes.contains(&0) || self.classes < 2 {
            let (hidden, classes) = (&self.hidden, self.classes);
            return Err(Error::usage(format!(
                "equilibrium: got {} inputs, layers {hidden:?} and {classes} classes, expected at least 1 input, 1 layer and 2 classes",
                self.inputs
            )));
        }
        if !(self.nudge > 0.0 && self.nudge.is_finite()) || self.nudged_steps == 0 {
            let (nudge, steps) = (self.nudge, self.nudged_steps);
            return Err(Error::usage(format!(
                "equilibrium: got a nudge of {nudge} for {steps} steps, expected a positive one and at least 1 step"
            )));
        }
        let layer = |(at, pair): (usize, &[usize])| {
            let name = if at == self.hidden.len() { "readout".to_owned() } else { format!("layers.{at}") };
            // Between layers that pull at each other: with twice as much the states may settle in several places.
            let gain = if (1..self.hidden.len()).contains(&at) { 0.5 } else { 1.0 };
            let weight = Initial::normal([pair[1], pair[0]], gain / (pair[0] as f64).sqrt());
            [(format!("{name}.weight"), weight), (format!("{name}.bias"), Initial::zeros([pair[1]]))]
        };
        Ok(sizes.windows(2).enumerate().flat_map(layer).collect())
    }

    /// The logits of the classes, [rows, classes], from the free states.
    fn outputs(&self, parameters: &[Var], x: &Var) -> Var {
        let layers = Layers { equilibrium: self, parameters };
        let drive = layers.input(0, x);
        layers.readout(layers.free(&drive).last().expect("at least one layer"))
    }
}

/// A network with values of its parameters.
struct Layers<'l> {
    equilibrium: &'l Equilibrium,
    parameters: &'l [Var],
}

impl Layers<'_> {
    fn count(&self) -> usize {
        self.equilibrium.hidden.len()
    }

    /// W_k s + b_k for the state before layer k, from 0; the readout is the layer after the last.
    fn input(&self, layer: usize, below: &Var) -> Var {
        ops::layer(below, &self.parameters[2 * layer], Some(&self.parameters[2 * layer + 1]), None)
    }

    fn readout(&self, state: &Var) -> Var {
        self.input(self.count(), state)
    }

    /// The states after a pass upwards and the free sweeps.
    fn free(&self, drive: &Var) -> Vec<Var> {
        let mut states = vec![ops::tanh(drive)];
        for layer in 1..self.count() {
            states.push(ops::tanh(&self.input(layer, &states[layer - 1])));
        }
        self.relaxed(drive, states, self.equilibrium.free_steps, None)
    }

    /// The states after sweeps over the layers from below, the last one nudged by b times the slope of the loss at [rows, classes] targets.
    fn relaxed(&self, drive: &Var, mut states: Vec<Var>, steps: usize, nudge: Option<(f64, &Var)>) -> Vec<Var> {
        for _ in 0..steps {
            for layer in 0..self.count() {
                let below = if layer == 0 { drive.clone() } else { self.input(layer, &states[layer - 1]) };
                let above = states.get(layer + 1).map(|above| ops::matmul(above, &self.parameters[2 * (layer + 1)]));
                let pulled = nudge.filter(|_| layer + 1 == self.count()).map(|(nudge, target)| {
                    let error = ops::sub(&ops::softmax(&self.readout(&states[layer])), target);
                    (nudge, ops::matmul(&error, &self.parameters[2 * self.count()]))
                });
                states[layer] = match (above, pulled) {
                    (None, None) => ops::tanh(&below),
                    (Some(above), None) => ops::fused(&[&below, &above], |v| tanh(v[0] + v[1])),
                    (None, Some((nudge, pull))) => ops::fused(&[&below, &pull], |v| tanh(v[0] - nudge * v[1])),
                    (Some(_), Some(_)) => unreachable!("the last layer has none above it"),
                };
            }
        }
        states
    }
}

impl GradientSource for Equilibrium {
    fn name(&self) -> &'static str {
        "equilibrium propagation"
    }

    fn step(&self, step: &SourceStep<'_>) -> Result<Sourced> {
        let parameters: Vec<Var> = step.parameters.values().iter().map(Var::detach).collect();
        let layers = Layers { equilibrium: self, parameters: &parameters };
        let (x, weight) = (&step.batch.x, &step.batch.weight);
        let drive = layers.input(0, x);
        let free = layers.free(&drive);
        let class: Vec<f32> = (0..self.classes).map(|class| class as f32).collect();
        let class = Var::constant(Tensor::constant(x.value().device(), [1, self.classes], &class));
        let target = ops::fused(&[&step.batch.y, &class], |v| select(eq(v[0], v[1]), 1.0, 0.0));
        let nudged = |nudge: f64| layers.relaxed(&drive, free.clone(), self.nudged_steps, Some((nudge, &target)));
        let phases = [nudged(self.nudge), nudged(-self.nudge)];
        let mut gradients = Vec::new();
        let scale = -0.5 / self.nudge;
        for layer in 0..layers.count() {
            let states = phases.each_ref().map(|states| ops::fused(&[&states[layer], weight], |v| scale * v[0] * v[1]));
            let change = ops::sub(&states[0], &states[1]);
            // What is below the first layer is the same in both phases.
            let weight = if layer == 0 {
                ops::product(&change, x, true, false)
            } else {
                let [up, down] =
                    [0, 1].map(|phase| ops::product(&states[phase], &phases[phase][layer - 1], true, false));
                ops::sub(&up, &down)
            };
            gradients.extend([weight, summed(&change)]);
        }
        // The readout is outside of the energy: its gradient is the loss's own.
        let last = free.last().expect("at least one layer");
        let logits = layers.readout(last);
        let error = ops::fused(&[&ops::softmax(&logits), &target, weight], |v| v[2] * (v[0] - v[1]));
        gradients.extend([ops::product(&error, last, true, false), summed(&error)]);
        let losses = ops::sum(&ops::mul(&ops::log_softmax(&logits), &target), 1..2);
        let loss = ops::reshape(&ops::sum(&ops::fused(&[&losses, weight], |v| -1.0 * v[0] * v[1]), 0..2), [1]);
        let weight = ops::reshape(&ops::sum(weight, 0..2), [1]);
        Ok(Sourced { direction: Direction::Gradients(gradients), loss, weight, state: Vec::new() })
    }
}

/// Sums over the rows, [columns].
fn summed(x: &Var) -> Var {
    ops::reshape(&ops::sum(x, 0..1), [x.shape().sizes()[1]])
}
