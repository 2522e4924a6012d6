//! Retrieval with a second distance: cost_j = R sqrt(|k_j - z|² + ε) + β_s sqrt(|σ_j - σ|² + ε), where σ are spectra, numbers of a row that no map changes.
//! The kernel of retrieval has one root, so that this window is composed of ops, a few launches for each step of its phases: it is slower.

use super::source::{Compared, Contrast, States, Window};
use crate::autograd::Var;
use crate::error::{Error, Result};
use crate::kernels::retrieve::FLOOR;
use crate::model::{GradientSource, Network, SourceStep, Sourced, StateBlock};
use crate::ops;
use crate::program::expr::{eq, ge, ln, lt, max, select, sqrt};
use crate::tensor::Tensor;

/// The contrastive rule with spectra. A row of inputs is [coordinates…, spectrum…].
pub struct SpectralContrast {
    /// The rule, whose memory holds classes and does not grow.
    pub contrast: Contrast,
    /// The spectra of the rows in memory, [slots, width].
    pub spectra: Vec<f32>,
    /// Numbers of a spectrum.
    pub width: usize,
    /// β_s.
    pub scale: f32,
}

impl SpectralContrast {
    /// The model whose outputs are the mapped coordinates, trained by this rule.
    ///
    /// Errors if sizes do not fit, states are vectors, or the memory grows.
    pub fn network(self, weight: Option<&[f32]>) -> Result<Network> {
        let wrong = |what: String| Err(Error::usage(format!("contrast: spectra: {what}")));
        let Contrast { map, bank, states, .. } = &self.contrast;
        if *states != States::Classes {
            return wrong("got states that are vectors, expected classes".into());
        }
        if self.contrast.retrieval.steps == 0 {
            return wrong("steps: got 0, expected at least 1".into());
        }
        if bank.grows {
            return wrong("got a memory that grows, expected one that stays".into());
        }
        let (got, expected) = (self.spectra.len(), bank.slots * self.width);
        if self.width == 0 || got != expected {
            let (slots, width) = (bank.slots, self.width);
            return wrong(format!("got {got} numbers, expected {expected}, {width} for each of {slots} slots"));
        }
        if !(self.scale >= 0.0 && self.scale.is_finite()) {
            return wrong(format!("scale: got {}, expected a finite number of at least 0", self.scale));
        }
        let (map, n) = (*map, map.inputs);
        let model = Network::function(n + self.width, map.parameters(weight), move |parameters, x| {
            ops::product(&ops::slice(x, 1, 0..n), &map.matrix(parameters.values()), false, true)
        });
        Ok(model.with_source(self))
    }

    /// The pulls [rows, slots] and the figures [rows, `FIGURES`] of a window.
    fn composed(&self, window: &Composed<'_>) -> [Var; 2] {
        let Contrast { retrieval, .. } = &self.contrast;
        let (epsilon, scale) = (retrieval.epsilon, self.scale);
        let [near, spectral] =
            [(window.queries, window.keys), (window.spectra, window.known)].map(|(x, y)| squares(x, y));
        let distance = ops::fused(&[&near], |v| sqrt(v[0] + epsilon));
        let cost = ops::fused(&[&distance, window.r, &spectral], |v| v[1] * v[0] + scale * sqrt(v[2] + epsilon));
        let phases = Phases { source: &self.contrast, cost: &cost, window };
        let free = phases.weights(&cost);
        let likely = phases.likely(&free);
        let b = retrieval.nudge;
        let (other, width) =
            if retrieval.is_symmetric { (phases.nudged(-b, &likely), 2.0 * b) } else { (free.clone(), b) };
        let pulls = ops::fused(&[&phases.nudged(b, &likely), &other, &distance, window.r], |v| {
            (v[0] - v[1]) * (1.0 / width) * v[3] / v[2]
        });
        let sum = |x: &Var| ops::sum(&ops::mul(&free, x), 1..2);
        let logarithm = ops::fused(&[&free], |v| ln(max(v[0], f32::MIN_POSITIVE)));
        let loss = ops::fused(&[&likely], |v| -ln(v[0] + FLOOR as f32));
        let figures = [loss, sum(&cost), sum(&distance), sum(&logarithm)];
        [pulls, ops::concat(&figures.each_ref()[..], 1)]
    }
}

/// What a window is composed of.
struct Composed<'c> {
    /// Mapped, [rows, outputs] and [slots, outputs].
    queries: &'c Var,
    keys: &'c Var,
    /// [rows, width] and [slots, width].
    spectra: &'c Var,
    known: &'c Var,
    /// 1 for a key with the class of the row, and 1 for a key that may be found, [rows, slots].
    same: &'c Var,
    valid: &'c Var,
    /// R, [1, 1].
    r: &'c Var,
}

/// The phases of a window with these costs [rows, slots].
struct Phases<'p> {
    source: &'p Contrast,
    cost: &'p Var,
    window: &'p Composed<'p>,
}

impl Phases<'_> {
    /// softmax(-β cost) over the keys that may be found.
    fn weights(&self, cost: &Var) -> Var {
        let sharpness = self.source.retrieval.sharpness;
        let logits = ops::fused(&[cost, self.window.valid], |v| select(v[1], -sharpness * v[0], -1e30));
        ops::mul(&ops::softmax(&logits), self.window.valid)
    }

    /// The probability of the class of each row, [rows, 1].
    fn likely(&self, weights: &Var) -> Var {
        ops::sum(&ops::mul(weights, self.window.same), 1..2)
    }

    /// The weights after a phase that is nudged by b times the slope -1 / (p + 1e-3) of the loss, from p. Upwards a step is shortened as in the kernel
    /// `retrieve_classes`: without that it would jump over the resting point.
    fn nudged(&self, b: f32, start: &Var) -> Var {
        let (rate, floor) = (self.source.retrieval.rate, FLOOR as f32);
        let steepness = self.source.retrieval.sharpness * b.max(0.0);
        let (mut p, mut weights) = (start.clone(), None);
        for _ in 0..self.source.retrieval.steps {
            let cost = ops::fused(&[self.cost, self.window.same, &p], |v| v[0] - b * v[1] / (v[2] + floor));
            let now = self.weights(&cost);
            p = ops::fused(&[&p, &self.likely(&now)], |v| {
                let slope = steepness * v[1] * (1.0 - v[1]) / ((v[0] + floor) * (v[0] + floor));
                v[0] + rate * (v[1] - v[0]) / (1.0 + slope)
            });
            weights = Some(now);
        }
        weights.expect("a phase has a step")
    }
}

/// |x_i - y_j|² for x [rows, n] and y [slots, n]: [rows, slots].
fn squares(x: &Var, y: &Var) -> Var {
    let ([rows, n], [slots, _]) = (x.shape().sizes(), y.shape().sizes()) else { unreachable!("two axes") };
    let (x, y) = (ops::reshape(x, [*rows, 1, *n]), ops::reshape(y, [1, *slots, *n]));
    let all = ops::fused(&[&x, &y], |v| (v[0] - v[1]) * (v[0] - v[1]));
    ops::reshape(&ops::sum(&all, 2..3), [*rows, *slots])
}

impl GradientSource for SpectralContrast {
    fn name(&self) -> &'static str {
        "contrast with spectra"
    }

    fn state(&self) -> Vec<StateBlock> {
        let spectra = StateBlock { name: "spectra".into(), values: self.spectra.clone() };
        [spectra].into_iter().chain(self.contrast.state()).collect()
    }

    fn step(&self, step: &SourceStep<'_>) -> Result<Sourced> {
        let (spectra, own) = step.state.split_first().expect("the blocks of `state`");
        let (n, slots, width) = (self.contrast.map.inputs, self.contrast.bank.slots, self.width);
        let x = &step.batch.x;
        let (coordinates, own_spectra) = (ops::slice(x, 1, 0..n), ops::slice(x, 1, n..n + width));
        let known = ops::reshape(spectra, [slots, width]);
        let retrieve = |window: &Window<'_>, compared: &Compared<'_>| {
            let states = ops::reshape(compared.states, [slots, 2]);
            let column = |x: &Var, at: usize| ops::slice(x, 1, at..at + 1);
            let row = |at: usize| ops::reshape(&column(&states, at), [1, slots]);
            let [class, number] = [0, 1].map(|at| column(window.y, at));
            let same = ops::fused(&[&class, &row(0)], |v| select(eq(v[0], v[1]), 1.0, 0.0));
            let places: Vec<f32> = (0..slots).map(|at| at as f32).collect();
            let places = Var::constant(Tensor::constant(x.value().device(), [1, slots], &places));
            let control = |at: usize| ops::reshape(&ops::slice(compared.control, 0, at..at + 1), [1, 1]);
            let valid = ops::fused(&[&number, &row(1), &places, &control(0)], |v| {
                let is_other = select(eq(v[0], v[1]), 0.0, 1.0);
                is_other * select(ge(v[1], 0.0), 1.0, 0.0) * select(lt(v[2], v[3]), 1.0, 0.0)
            });
            let keys = ops::transpose(compared.keys);
            let composed = Composed {
                queries: compared.queries,
                keys: &keys,
                spectra: &own_spectra,
                known: &known,
                same: &same,
                valid: &valid,
                r: &control(1),
            };
            Ok(self.composed(&composed))
        };
        let mut sourced = self.contrast.step_by(&SourceStep { state: own, ..*step }, &coordinates, &retrieve)?;
        sourced.state.insert(0, spectra.clone());
        Ok(sourced)
    }

    fn reported(&self) -> &'static [&'static str] {
        self.contrast.reported()
    }

    fn report(&self, state: &[StateBlock]) -> Vec<(String, f64)> {
        self.contrast.report(state)
    }
}
