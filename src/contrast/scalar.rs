//! The rule of Trainer2, the contrastive trainer of the Liorhybrid project: two windows, one with nudged queries, and one number from them, dL, the difference of their mean
//! cost. With v the mean velocity of the free window and u = Q v: g += rate dL u² / (|u|² + 1e-8), and for the plane (a, b) of each angle
//! θ -= 0.01 rate dL atan2(v_b, v_a) hypot(v_a, v_b). It is there to compare with: dL says whether a nudge helped but not which coordinate did, so that
//! costs fall while classes are lost (the control task of the tests).

use super::curvature::Curvature;
use super::diagnostics::{ENERGIES, Trace, mean};
use super::map::{Form, Map, Metric, stepped};
use super::rotors::Rotors;
use super::spsa::Windowed;
use crate::autograd::Var;
use crate::error::{Error, Result};
use crate::model::{Direction, GradientSource, Network, SourceStep, Sourced, StateBlock};
use crate::ops;
use crate::program::expr::{abs, atan2, exp, le, lt, select, sqrt};
use crate::record;
use crate::tensor::Tensor;

/// What a window calls the velocity of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Velocity {
    /// The query, which the nudge does not move: dL is 0.
    Position,
    /// The nudged query.
    NudgedPosition,
    /// From the nudged query to the mean of the keys under its weights.
    Displacement,
}

record! { enum Velocity { Position, NudgedPosition, Displacement } }

/// The rule, for a metric with a weight per coordinate after rotations. Rows have targets in the same coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalarRule {
    /// The rotations before the metric.
    pub rotors: Rotors,
    /// What is called velocity.
    pub velocity: Velocity,
    /// Learning rate over the nudge, η / b.
    pub rate: f32,
    /// Share of the way from a query to its target that the nudge goes.
    pub nudge: f32,
    /// β.
    pub sharpness: f32,
    /// ε under each root.
    pub epsilon: f32,
    /// Steps of a window.
    pub steps: usize,
    /// R before each step of a window.
    pub curvature: Curvature,
    /// The keys, [rows, coordinates]: of a displacement.
    pub keys: Vec<f32>,
}

/// Names of the figures of a window, before those of [`ENERGIES`]: the mean costs of both phases and their difference, and of the free phase the means
/// of R and of the speed.
const FIGURES: [&str; 5] = ["free", "nudged", "difference", "curvature", "speed"];

impl ScalarRule {
    /// The rule with the constants of its source.
    pub fn new(rotors: Rotors) -> Self {
        Self {
            rotors,
            velocity: Velocity::NudgedPosition,
            rate: 10.0,
            nudge: 0.1,
            sharpness: 5.0,
            epsilon: 1e-8,
            steps: 64,
            curvature: Curvature::Constant(1.0),
            keys: Vec::new(),
        }
    }

    fn map(&self) -> Map {
        Map { inputs: self.rotors.coordinates, form: Form::Metric(Metric::Diagonal, Some(self.rotors)) }
    }

    /// The model whose outputs are the mapped coordinates, trained by this rule.
    ///
    /// Errors if a window has no step, R does not fit, or a displacement has no keys.
    pub fn network(self) -> Result<Network> {
        let n = self.rotors.coordinates;
        if self.steps == 0 {
            return Err(Error::usage("contrast: the scalar rule: got a window of 0 steps, expected at least 1"));
        }
        self.curvature.check(self.steps, n)?;
        let has_keys = !self.keys.is_empty() && self.keys.len().is_multiple_of(n);
        if self.velocity == Velocity::Displacement && !has_keys {
            let got = self.keys.len();
            return Err(Error::usage(format!(
                "contrast: the scalar rule: got {got} numbers of keys, expected rows of {n}"
            )));
        }
        Ok(self.map().network(None).with_source(self))
    }

    /// A phase in which R is `curvature` before each step, [1, 1] each.
    fn window(&self, frame: &Frame<'_>, queries: &Var, moved: &Var, curvature: &[Var]) -> Phase {
        // Only a displacement depends on R.
        let of_each = if self.velocity == Velocity::Displacement { curvature } else { &curvature[..1] };
        let (mut speeds, mut trace) = (Vec::new(), Trace::default());
        for r in of_each {
            let velocity = match self.velocity {
                Velocity::Position => queries.clone(),
                Velocity::NudgedPosition => moved.clone(),
                Velocity::Displacement => ops::sub(&self.retrieved(frame, moved, r), moved),
            };
            let turned = ops::product(&velocity, &frame.matrix, false, true);
            speeds.push(frame.mean(&length(&turned, self.epsilon)));
            trace.length.push(frame.mean(&length(&velocity, 0.0)));
            trace.velocity.push(frame.mean(&velocity));
        }
        let speed = mean(&speeds);
        let cost = if speeds.len() == curvature.len() {
            let costs: Vec<Var> = speeds.iter().zip(curvature).map(|(speed, r)| ops::mul(speed, r)).collect();
            mean(&costs)
        } else {
            ops::mul(&speed, &mean(curvature))
        };
        Phase { cost, speed, velocity: mean(&trace.velocity), trace }
    }

    /// Σ w c under the weights of a query.
    fn retrieved(&self, frame: &Frame<'_>, moved: &Var, curvature: &Var) -> Var {
        let (n, rows) = (self.rotors.coordinates, moved.shape().sizes()[0]);
        let count = self.keys.len() / n;
        let keys = Var::constant(Tensor::constant(moved.value().device(), [count, n], &self.keys));
        let [queries, mapped] = [moved, &keys].map(|x| ops::product(x, &frame.matrix, false, true));
        let (queries, mapped) = (ops::reshape(&queries, [rows, 1, n]), ops::reshape(&mapped, [1, count, n]));
        let squares = ops::fused(&[&queries, &mapped], |v| (v[1] - v[0]) * (v[1] - v[0]));
        let squares = ops::reshape(&ops::sum(&squares, 2..3), [rows, count]);
        let logits = ops::fused(&[&squares, curvature], |v| -self.sharpness * v[1] * sqrt(v[0] + self.epsilon));
        ops::matmul(&ops::softmax(&logits), &keys)
    }
}

/// Means over the rows and steps of a phase.
struct Phase {
    /// R √(vᵀ G v + ε), [1, 1].
    cost: Var,
    /// √(vᵀ G v + ε), [1, 1].
    speed: Var,
    /// v, [1, coordinates].
    velocity: Var,
    trace: Trace,
}

/// √(|x|² + ε) of each row, [rows, 1].
fn length(x: &Var, epsilon: f32) -> Var {
    ops::fused(&[&ops::sum(&ops::mul(x, x), 1..2)], |v| sqrt(v[0] + epsilon))
}

/// The map of a step, and the weights of its rows.
struct Frame<'f> {
    /// A [coordinates, coordinates].
    matrix: Var,
    weight: &'f Var,
    total: Var,
}

impl Frame<'_> {
    /// The weighted mean over the rows, [1, columns].
    fn mean(&self, x: &Var) -> Var {
        let sum = ops::sum(&ops::mul(x, self.weight), 0..1);
        ops::fused(&[&sum, &self.total], |v| v[0] / v[1])
    }
}

impl GradientSource for ScalarRule {
    fn name(&self) -> &'static str {
        "scalar rule"
    }

    fn state(&self) -> Vec<StateBlock> {
        let figures = vec![0.0; FIGURES.len() + ENERGIES.len()];
        [StateBlock { name: "figures".into(), values: figures }].into_iter().chain(self.curvature.state()).collect()
    }

    fn step(&self, step: &SourceStep<'_>) -> Result<Sourced> {
        let values: Vec<Var> = step.parameters.values().iter().map(Var::detach).collect();
        let (x, y, weight) = (&step.batch.x, &step.batch.y, &step.batch.weight);
        let frame = Frame { matrix: self.map().matrix(&values), weight, total: ops::sum(weight, 0..2) };
        let curved = self.curvature.of_window(&step.state[1..], self.steps, x, || self.map().inverse_metric(&values));
        let moved = ops::fused(&[x, y], |v| v[0] + self.nudge * (v[1] - v[0]));
        let free = self.window(&frame, x, x, &curved.each);
        let nudged = self.window(&frame, x, &moved, &curved.each);
        let difference = ops::reshape(&ops::sub(&nudged.cost, &free.cost), [1]);
        let metric = self.metric_step(&values, &free.velocity, &difference);
        let angles = self.angle_step(&free.velocity, &difference);
        let new = [("log_metric", &metric), ("angles", &angles)].into_iter().zip(&values);
        let new = new.map(|((name, gradient), value)| stepped(name, value, gradient, 1.0)).collect();
        let is_accepted = ops::fused(&[&difference], |v| select(le(abs(v[0]), f32::MAX), 1.0, 0.0));
        let energies = free.trace.energies(&curved.each);
        let figures: Vec<Var> = [free.cost, nudged.cost, difference, mean(&curved.each), free.speed]
            .into_iter()
            .chain(energies)
            .map(|figure| ops::reshape(&figure, [1]))
            .collect();
        let weight = ops::reshape(&frame.total, [1]);
        let all = ops::concat(&figures.iter().collect::<Vec<_>>(), 0);
        Ok(Sourced {
            direction: Direction::Parameters { values: new, is_accepted: Some(is_accepted) },
            loss: ops::mul(&figures[0], &weight),
            weight,
            state: [all].into_iter().chain(curved.blocks).collect(),
        })
    }

    fn reported(&self) -> &'static [&'static str] {
        &["figures"]
    }

    fn report(&self, state: &[StateBlock]) -> Vec<(String, f64)> {
        let figures = state.iter().flat_map(|block| &block.values);
        FIGURES
            .iter()
            .chain(&ENERGIES)
            .zip(figures)
            .map(|(name, &figure)| ((*name).to_owned(), f64::from(figure)))
            .collect()
    }
}

impl ScalarRule {
    /// What a step of descent takes from the logarithm of the metric, so that g moves by rate dL u² / (|u|² + 1e-8).
    fn metric_step(&self, values: &[Var], velocity: &Var, difference: &Var) -> Var {
        let n = self.rotors.coordinates;
        let identity: Vec<f32> = (0..n * n).map(|at| f32::from(u8::from(at / n == at % n))).collect();
        let identity = Var::constant(Tensor::constant(velocity.value().device(), [n, n], &identity));
        let turned = ops::reshape(&ops::product(velocity, &self.rotors.apply(&values[1], &identity), false, true), [n]);
        let square = ops::sum(&ops::mul(&turned, &turned), 0..1);
        let rate = self.rate;
        // `stepped` divides by the weight, as for a gradient by its logarithm.
        ops::fused(&[&turned, &square, difference, &values[0]], |v| {
            -rate * v[2] * (v[0] * v[0] / (v[1] + 1e-8)) * exp(v[3])
        })
    }

    /// What a step of descent takes from each angle.
    fn angle_step(&self, velocity: &Var, difference: &Var) -> Var {
        let (n, count) = (self.rotors.coordinates, self.rotors.angles);
        let device = velocity.value().device();
        let column = ops::reshape(velocity, [n, 1]);
        let planes: Vec<(usize, usize)> = (0..count).map(|angle| self.rotors.plane(angle)).collect();
        let side = |of: fn(&(usize, usize)) -> usize| {
            let places: Vec<u32> = planes.iter().map(|plane| of(plane) as u32).collect();
            ops::reshape(&ops::take_rows(&column, &Tensor::indices(device, [count], &places)), [count])
        };
        let (a, b) = (side(|plane| plane.0), side(|plane| plane.1));
        let rate = 0.01 * self.rate;
        ops::fused(&[&a, &b, difference], |v| {
            let length = sqrt(v[0] * v[0] + v[1] * v[1]);
            // Too short to have a direction.
            select(lt(length, 1e-6), 0.0, rate * v[2] * atan2(v[1], v[0]) * length)
        })
    }
}

impl Windowed for ScalarRule {
    fn map(&self) -> Map {
        self.map()
    }

    /// The mean cost of a free window, under R as it is before the first step.
    fn loss_at(&self, step: &SourceStep<'_>, parameters: &[Var]) -> Result<Var> {
        let (x, weight) = (&step.batch.x, &step.batch.weight);
        let frame = Frame { matrix: self.map().matrix(parameters), weight, total: ops::sum(weight, 0..2) };
        let r = self.curvature.first(&step.state[1..], x, || self.map().inverse_metric(parameters));
        Ok(ops::reshape(&self.window(&frame, x, x, &[r]).cost, [1]))
    }
}
