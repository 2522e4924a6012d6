//! The phases of a window in ops: in every step costs, weights by softmax, the mix and the running sums, each with a form that costs more.

use meromorph::autograd::Var;
use meromorph::device::Device;
use meromorph::program::expr::{exp, sqrt};
use meromorph::tensor::Tensor;
use meromorph::{Result, ops};

use super::window::{COORDINATES, Window};

/// What a composed window does not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Saving {
    /// Rotate the keys in every step: once per window.
    RotatedKeys,
    /// Compute the quadratic form for the cost and again for the distance.
    SharedForm,
    /// Largest logit, exponentials, their sum and shares in four launches: the softmax is one.
    OneSoftmax,
    /// Write running sums to a new buffer and copy them back.
    SumsInPlace,
    /// Compute in every step what is constant in a window: costs, and the free phase.
    Constants,
}

pub(super) const ALL: &[Saving] =
    &[Saving::RotatedKeys, Saving::SharedForm, Saving::OneSoftmax, Saving::SumsInPlace, Saving::Constants];

/// A window's phases.
pub(super) struct Composed<'w> {
    pub window: &'w Window,
    pub savings: &'static [Saving],
    pub matrix: &'w Var,
    pub queries: &'w Var,
    pub mapped: &'w Var,
}

/// The costs of the keys for each query, and their distances, [rows, keys].
type Costs = [Var; 2];

impl Composed<'_> {
    fn has(&self, saving: Saving) -> bool {
        self.savings.contains(&saving)
    }

    fn device(&self) -> &Device {
        &self.window.device
    }

    /// The pulls [rows, keys].
    pub(super) fn pulls(&self) -> Result<Var> {
        let size = self.window.setting.size;
        let zeros = Tensor::constant(self.device(), [size.rows, size.width], &vec![0.0; size.rows * size.width]);
        let once = if self.has(Saving::Constants) { Some(self.costs()?) } else { None };
        let nudge = self.window.retrieval.nudge;
        let (_, free) = self.relaxed(once.as_ref(), 0.0, &Var::constant(zeros))?;
        let (up, _) = self.relaxed(once.as_ref(), nudge, &free)?;
        let (down, _) = self.relaxed(once.as_ref(), -nudge, &free)?;
        let [_, apart] = once.map_or_else(|| self.costs(), Ok)?;
        let scale = 0.5 / nudge;
        self.window.done(ops::fused(&[&up, &down, &apart], |v| scale * (v[0] - v[1]) / v[2]))
    }

    /// Weights and mix after the steps of a phase.
    fn relaxed(&self, once: Option<&Costs>, nudge: f32, start: &Var) -> Result<(Var, Var)> {
        let mut mix = start.clone();
        if nudge == 0.0 && self.has(Saving::Constants) {
            let costs = once.expect("costs that are computed once");
            let weights = self.weights(costs, 0.0, &mix)?;
            let mix = self.window.done(ops::matmul(&weights, &self.window.states[1]))?;
            return Ok((weights, mix));
        }
        let rate = self.window.retrieval.rate;
        for _ in 0..self.window.retrieval.steps {
            let costs = once.map_or_else(|| self.costs(), |costs| Ok(costs.clone()))?;
            let weights = self.weights(&costs, nudge, &mix)?;
            let next = self.window.done(ops::matmul(&weights, &self.window.states[1]))?;
            self.add_up(&weights, &costs)?;
            mix = self.window.done(ops::fused(&[&mix, &next], |v| v[0] + rate * (v[1] - v[0])))?;
        }
        let costs = once.map_or_else(|| self.costs(), |costs| Ok(costs.clone()))?;
        Ok((self.weights(&costs, nudge, &mix)?, mix))
    }

    fn costs(&self) -> Result<Costs> {
        let epsilon = self.window.retrieval.epsilon;
        let squares = self.squares()?;
        let cost = self.window.done(ops::fused(&[&squares], |v| sqrt(v[0] + epsilon)))?;
        let distance = if self.has(Saving::SharedForm) {
            cost.clone()
        } else {
            let squares = self.squares()?;
            self.window.done(ops::fused(&[&squares], |v| sqrt(v[0] + epsilon)))?
        };
        Ok([cost, distance])
    }

    /// Squared distances through all differences, [rows, keys, coordinates].
    fn squares(&self) -> Result<Var> {
        let size = self.window.setting.size;
        let mapped = if self.has(Saving::RotatedKeys) {
            self.mapped.clone()
        } else {
            self.window.done(self.window.mapped(self.matrix))?
        };
        let keys = ops::reshape(&ops::transpose(&mapped), [1, size.keys, COORDINATES]);
        let queries = ops::reshape(self.queries, [size.rows, 1, COORDINATES]);
        let apart = self.window.done(ops::sub(&keys, &queries))?;
        let squares = self.window.done(ops::sum(&ops::mul(&apart, &apart), 2..3))?;
        Ok(ops::reshape(&squares, [size.rows, size.keys]))
    }

    fn weights(&self, [cost, _]: &Costs, nudge: f32, mix: &Var) -> Result<Var> {
        let sharpness = self.window.retrieval.sharpness;
        let logits = if nudge == 0.0 {
            ops::fused(&[cost], |v| -sharpness * v[0])
        } else {
            let width = self.window.setting.size.width;
            let slope = self.window.done(ops::sub(mix, &ops::slice(&self.window.y, 1, 0..width)))?;
            let errors = self.window.done(ops::product(&slope, &self.window.states[1], false, true))?;
            ops::fused(&[cost, &errors], |v| -sharpness * (v[0] + nudge * v[1]))
        };
        let logits = self.window.done(logits)?;
        if self.has(Saving::OneSoftmax) {
            return self.window.done(ops::softmax(&logits));
        }
        let top = self.window.done(ops::max(&logits, 1..2))?;
        let each = self.window.done(ops::fused(&[&logits, &top], |v| exp(v[0] - v[1])))?;
        let total = self.window.done(ops::sum(&each, 1..2))?;
        self.window.done(ops::div(&each, &total))
    }

    /// Adds the mean cost and the mean distance of a step to the sums of the window.
    fn add_up(&self, weights: &Var, costs: &Costs) -> Result<()> {
        let share = 1.0 / self.window.setting.size.rows as f32;
        let means = costs.each_ref().map(|cost| ops::reshape(&ops::sum(&ops::mul(weights, cost), 0..2), [1]));
        let means = self.window.done(ops::concat(&[&means[0], &means[1]], 0))?;
        let sums = &self.window.sums;
        let before = if self.has(Saving::SumsInPlace) {
            Var::constant(sums.clone())
        } else {
            // A buffer of its own before and after.
            let copy = Tensor::empty(self.device(), [2], sums.dtype());
            sums.copy_into(copy.view());
            Var::constant(copy)
        };
        let after = self.window.done(ops::fused(&[&before, &means], |v| v[0] + share * v[1]))?;
        after.value().copy_into(sums.view());
        Ok(())
    }
}
