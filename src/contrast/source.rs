//! The contrastive rule as a source of gradients. A step is a window: queries and memory are mapped, a free and two nudged phases of retrieval leave the
//! pull of each key on each query, and what a row of queries or keys contributes to the gradient by the map is the product of its pull and its own
//! coordinates: local statistics, without a tape through the window. Then the rows of the window replace the oldest ones of the memory.

use super::map::{Map, stepped};
use crate::autograd::Var;
use crate::device::View;
use crate::error::Result;
use crate::kernels::retrieve::{Cue, FIGURES, Lookup, Retrieval, Sizes, Storage};
use crate::model::{Direction, GradientSource, Network, SourceStep, Sourced, StateBlock};
use crate::ops;
use crate::program::expr::{abs, le, min, select};
use crate::record;
use crate::tensor::{DType, Tensor};

/// What a memory holds of each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum States {
    /// Its class: a target is [class, number of the row].
    Classes,
    /// So many numbers, and how those that are retrieved are compared with a target [numbers…, number of the row].
    Vectors(usize, Cue),
    /// The same, in halves: phases read the memory again in every step, and this is half as much to read. Memory and differences stay in 32 bits.
    Halves(usize, Cue),
}

impl States {
    /// Numbers of a state, without the number of the row.
    pub fn width(self) -> usize {
        match self {
            Self::Classes => 1,
            Self::Vectors(width, _) | Self::Halves(width, _) => width,
        }
    }
}

/// The memory of a run: the rows that queries are compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct Bank {
    /// Slots.
    pub slots: usize,
    /// Coordinates of the rows at the start, [rows, coordinates], at most as many as there are slots.
    pub keys: Vec<f32>,
    /// Their states, [rows, width + 1]; the last number is that of the row, negative for none.
    pub states: Vec<f32>,
    /// Whether the rows of each window are put in front of the others, of which the last are dropped.
    pub grows: bool,
}

/// How the parameters move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Update {
    /// By the optimiser of the run, along the mean gradient over the rows.
    Optimizer,
    /// By plain steps at rates of their own, inside the bounds of the parameters. A step that is not finite is left out.
    Steps {
        /// Of the weights of a metric.
        metric: f32,
        /// Of the angles of rotations.
        angles: f32,
    },
}

record! { enum Update { Optimizer, Steps { metric, angles } } }

/// The contrastive rule.
pub struct Contrast {
    /// The map of the coordinates.
    pub map: Map,
    /// Sharpness, nudges and relaxation.
    pub retrieval: Retrieval,
    /// R: what multiplies each distance.
    pub curvature: f32,
    /// What the memory holds.
    pub states: States,
    /// The memory at the start.
    pub bank: Bank,
    /// How the parameters move.
    pub update: Update,
}

/// Names of the figures of a window: means over its rows.
pub const REPORT: [&str; FIGURES] = ["loss", "cost", "distance", "entropy"];

impl GradientSource for Contrast {
    fn name(&self) -> &'static str {
        "contrast"
    }

    fn state(&self) -> Vec<StateBlock> {
        let (n, stride) = (self.map.inputs, self.states.width() + 1);
        let filled = self.bank.keys.len() / n;
        let padded = |values: &[f32], width: usize| {
            let mut values = values.to_vec();
            values.resize(self.bank.slots * width, 0.0);
            values
        };
        let blocks = [
            ("keys", padded(&self.bank.keys, n)),
            ("states", padded(&self.bank.states, stride)),
            ("control", vec![filled as f32, self.curvature]),
            ("figures", vec![0.0; FIGURES]),
        ];
        blocks.into_iter().map(|(name, values)| StateBlock { name: name.to_owned(), values }).collect()
    }

    fn step(&self, step: &SourceStep<'_>) -> Result<Sourced> {
        self.step_by(step, &step.batch.x, &by_kernel)
    }

    fn reported(&self) -> &'static [&'static str] {
        &["figures"]
    }

    fn report(&self, state: &[StateBlock]) -> Vec<(String, f64)> {
        let figures = state.last().map(|block| &block.values[..]).unwrap_or_default();
        // The kernels sum w ln w.
        let figure = |name: &str, figure: f32| f64::from(if name == "entropy" { -figure } else { figure });
        REPORT.iter().zip(figures).map(|(name, &value)| ((*name).to_owned(), figure(name, value))).collect()
    }
}

impl Contrast {
    /// The model whose outputs are the mapped coordinates, trained by this rule on rows with targets [state…, number of the row]. `weight` holds the initial
    /// values of a matrix, [outputs, inputs].
    pub fn network(self, weight: Option<&[f32]>) -> Network {
        self.map.network(weight).with_source(self)
    }

    pub(super) fn stepped(
        &self,
        step: &SourceStep<'_>,
        gradients: &[Var],
        weight: &Var,
        [metric, angles]: [f32; 2],
    ) -> Direction {
        let names = self.map.parameters(None);
        let values: Vec<Var> = names
            .iter()
            .zip(step.parameters.values())
            .zip(gradients)
            .map(|(((name, _), value), gradient)| {
                let rate = if name == "angles" { angles } else { metric };
                let mean = ops::fused(&[gradient, &scalar(weight, gradient)], |v| v[0] / v[1]);
                stepped(name, value, &mean, rate)
            })
            .collect();
        // By the gradients: bounds turn a new value that is NaN into a number.
        let sums = gradients.iter().map(|one| ops::reshape(&ops::sum(&ops::abs(one), 0..one.shape().rank()), [1]));
        let all = sums.reduce(|a, b| ops::add(&a, &b)).expect("a map has parameters");
        let is_accepted = ops::fused(&[&all], |v| select(le(abs(v[0]), f32::MAX), 1.0, 0.0));
        Direction::Parameters { values, is_accepted: Some(is_accepted) }
    }

    /// A step on rows with these coordinates, whose phases run as given.
    pub(super) fn step_by(&self, step: &SourceStep<'_>, x: &Var, retrieve: &Retrieve<'_>) -> Result<Sourced> {
        let [keys, states, control, _] = step.state else { unreachable!("the blocks of `state`") };
        let (n, slots) = (self.map.inputs, self.bank.slots);
        let keys = ops::reshape(keys, [slots, n]);
        let leaves: Vec<Var> = step.parameters.values().iter().map(|value| Var::leaf(value.value().clone())).collect();
        let matrix = self.map.matrix(&leaves);
        let window = Window { source: self, x, y: &step.batch.y, weight: &step.batch.weight };
        let local = window.local_by(&matrix.detach(), &keys, [states, control], retrieve)?;
        let gradients = through_map(&leaves, &matrix, &local.matrix)?;
        let weight = total(&step.batch.weight);
        let direction = match self.update {
            Update::Optimizer => Direction::Gradients(gradients),
            Update::Steps { metric, angles } => self.stepped(step, &gradients, &weight, [metric, angles]),
        };
        let [keys, states, control] = self.remembered(&window, [&keys, states, control]);
        let figures = ops::fused(&[&local.figures, &weight], |v| v[0] / v[1]);
        let loss = ops::slice(&local.figures, 0, 0..1);
        Ok(Sourced { direction, loss, weight, state: vec![keys, states, control, figures] })
    }

    /// The mean loss of queries under a map, [1].
    pub(super) fn loss_of(&self, queries: &Var, step: &SourceStep<'_>, matrix: &Var) -> Result<Var> {
        let [keys, states, control, ..] = step.state else { unreachable!("the blocks of `state`") };
        let keys = ops::reshape(keys, [self.bank.slots, self.map.inputs]);
        let window = Window { source: self, x: queries, y: &step.batch.y, weight: &step.batch.weight };
        let local = window.local(matrix, &keys, states, control)?;
        let loss = ops::slice(&local.figures, 0, 0..1);
        Ok(ops::fused(&[&loss, &total(&step.batch.weight)], |v| v[0] / v[1]))
    }

    /// The memory after a window. Rows that only fill the batch are no candidates there.
    pub(super) fn remembered(&self, window: &Window<'_>, [keys, states, control]: [&Var; 3]) -> [Var; 3] {
        let (n, slots, stride) = (self.map.inputs, self.bank.slots, self.states.width() + 1);
        if !self.bank.grows {
            return [ops::reshape(keys, [slots * n]), states.clone(), control.clone()];
        }
        let rows = window.x.shape().sizes()[0];
        let kept = rows.min(slots);
        let device = window.x.value().device();
        let last: Vec<f32> = (0..stride).map(|at| f32::from(u8::from(at + 1 == stride))).collect();
        let last = Var::constant(Tensor::constant(device, [1, stride], &last));
        let named = ops::fused(&[window.y, window.weight, &last], |v| select(v[2] * (1.0 - v[1]), -1.0, v[0]));
        let queue = |new: &Var, old: &Var, width: usize| {
            let new = ops::slice(new, 0, rows - kept..rows);
            let all = if kept == slots { new } else { ops::concat(&[&new, &ops::slice(old, 0, 0..slots - kept)], 0) };
            ops::reshape(&all, [slots * width])
        };
        let pair = |values: [f32; 2]| Var::constant(Tensor::constant(device, [2], &values));
        let (more, most) = (pair([kept as f32, 0.0]), pair([slots as f32, f32::MAX]));
        let control = ops::fused(&[control, &more, &most], |v| min(v[0] + v[1], v[2]));
        [queue(window.x, keys, n), queue(&named, &ops::reshape(states, [slots, stride]), stride), control]
    }
}

/// The rows of a window.
pub(super) struct Window<'w> {
    pub source: &'w Contrast,
    pub x: &'w Var,
    pub y: &'w Var,
    pub weight: &'w Var,
}

/// Sums over the rows of a window.
pub(super) struct Local {
    /// The gradient of the loss by the map, [outputs, inputs].
    pub matrix: Var,
    /// The gradient of each row's loss by its mapped coordinates, [rows, outputs].
    pub queries: Var,
    /// The figures, [`FIGURES`].
    pub figures: Var,
}

impl Window<'_> {
    pub(super) fn local(&self, matrix: &Var, keys: &Var, states: &Var, control: &Var) -> Result<Local> {
        self.local_by(matrix, keys, [states, control], &by_kernel)
    }

    fn local_by(
        &self,
        matrix: &Var,
        keys: &Var,
        [states, control]: [&Var; 2],
        retrieve: &Retrieve<'_>,
    ) -> Result<Local> {
        let queries = ops::product(self.x, matrix, false, true);
        let mapped = ops::product(matrix, keys, false, true);
        let [pulls, found] = retrieve(self, &Compared { queries: &queries, keys: &mapped, states, control })?;
        let weight = self.weight;
        let figures = ops::mul(&ops::slice(&found, 1, 0..FIGURES), weight);
        let [matrix, queries] = gradients_by_map(&pulls, weight, [self.x, &queries], [keys, &mapped]);
        Ok(Local { matrix, queries, figures: ops::reshape(&ops::sum(&figures, 0..1), [FIGURES]) })
    }
}

/// What the phases of a window compare: mapped queries [rows, outputs] and keys [outputs, slots], and the blocks of the memory.
pub(super) struct Compared<'c> {
    pub queries: &'c Var,
    pub keys: &'c Var,
    pub states: &'c Var,
    pub control: &'c Var,
}

/// The phases of a window: the pulls of the keys [rows, slots], and figures [rows, at least `FIGURES`].
pub(super) type Retrieve<'r> = dyn Fn(&Window<'_>, &Compared<'_>) -> Result<[Var; 2]> + 'r;

/// In one launch.
fn by_kernel(window: &Window<'_>, compared: &Compared<'_>) -> Result<[Var; 2]> {
    let Contrast { map, bank, states, retrieval, .. } = window.source;
    let device = compared.queries.value().device();
    let rows = window.x.shape().sizes()[0];
    let sizes = Sizes { rows, keys: bank.slots, coordinates: map.outputs(), width: states.width() };
    retrieval.check(device.info(), sizes, *states == States::Classes).map_err(|error| error.within("contrast"))?;
    let pulls = Tensor::empty(device, [rows, sizes.keys], DType::F32);
    let found = Tensor::empty(device, [rows, FIGURES + sizes.width], DType::F32);
    let view = |var: &Var| var.value().view().clone();
    let lookup = Lookup {
        queries: view(compared.queries),
        keys: view(compared.keys),
        states: if let States::Halves(..) = states { packed(compared.states, sizes) } else { view(compared.states) },
        targets: view(window.y),
        control: view(compared.control),
    };
    let outputs = [pulls.view().clone(), found.view().clone()];
    pulls.launch(match *states {
        States::Classes => retrieval.of_classes(sizes, lookup, outputs),
        States::Vectors(_, cue) => retrieval.mixed((cue, Storage::Floats), sizes, lookup, outputs),
        States::Halves(_, cue) => retrieval.mixed((cue, Storage::Halves), sizes, lookup, outputs),
    });
    Ok([pulls, found].map(Var::constant))
}

/// The gradient by A [outputs, inputs], summed over the rows: from the pulls [rows, keys], the weights of the rows [rows, 1], the rows [rows, inputs] and
/// their maps [rows, outputs], the keys [keys, inputs] and their maps [outputs, keys].
/// Also the gradient by each mapped query [rows, outputs].
pub fn gradients_by_map(pulls: &Var, weight: &Var, [x, queries]: [&Var; 2], [keys, mapped]: [&Var; 2]) -> [Var; 2] {
    // Σ_j pull_j (z - k_j) for each query, Σ pull (k - z) for each key.
    let sums = ops::sum(pulls, 1..2);
    let pulled = ops::product(pulls, mapped, false, true);
    let by_query = ops::fused(&[&sums, queries, &pulled, weight], |v| v[3] * (v[0] * v[1] - v[2]));
    let sums = ops::sum(&ops::mul(pulls, weight), 0..1);
    let pulled = ops::product(&ops::mul(queries, weight), pulls, true, false);
    let by_key = ops::fused(&[&sums, mapped, &pulled], |v| v[0] * v[1] - v[2]);
    [ops::add(&ops::product(&by_query, x, true, false), &ops::matmul(&by_key, keys)), by_query]
}

/// States [keys, width + 1] as `retrieve` reads halves: the numbers, then those of the rows.
fn packed(states: &Var, sizes: Sizes) -> View {
    let Sizes { keys, width, .. } = sizes;
    let states = ops::reshape(states, [keys, width + 1]);
    let halves = ops::cast(&ops::slice(&states, 1, 0..width), DType::F16);
    let words = (keys * width).div_ceil(2);
    let all = Tensor::empty(states.value().device(), [words + keys], DType::U32);
    halves.value().copy_into(&all.view().part(0, words));
    ops::slice(&states, 1, width..width + 1).value().copy_into(&all.view().part(words, keys));
    all.view().clone()
}

pub(super) fn total(x: &Var) -> Var {
    ops::reshape(&ops::sum(x, 0..2), [1])
}

/// A value of shape [1] with the rank of another.
pub(super) fn scalar(value: &Var, like: &Var) -> Var {
    ops::reshape(value, vec![1; like.shape().rank()])
}

/// From the gradient by A to those by the parameters.
pub(super) fn through_map(leaves: &[Var], matrix: &Var, gradient: &Var) -> Result<Vec<Var>> {
    let all: Vec<&Var> = leaves.iter().collect();
    let zeros = |leaf: &Var| ops::broadcast_to(&ops::constant(leaf, 0.0), leaf.shape());
    let found = ops::grad_with_seed(matrix, gradient, &all)?.into_iter().zip(leaves);
    Ok(found.map(|(found, leaf)| found.map_or_else(|| zeros(leaf), |one| one.detach())).collect())
}
