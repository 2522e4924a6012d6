//! Simultaneous perturbation (Spall 1992): the gradient of a loss L from its values alone, ĝ = mean over directions of (L(θ + sδ) - L(θ - sδ)) / 2s · δ with
//! random signs δ. Here it replaces a step that its rule rejects; a step that is accepted stays as it is. A recording has no branches, so that the losses
//! are computed in every step: two windows for each direction.

use super::map::{Map, stepped};
use crate::autograd::Var;
use crate::error::{Error, Result};
use crate::model::{Direction, GradientSource, SourceStep, Sourced, StateBlock};
use crate::ops;
use crate::program::expr::{abs, le, lt, max, select};
use crate::tensor::{DType, Tensor};

/// A rule whose loss can be had at any parameters.
pub trait Windowed: GradientSource {
    /// The map that it learns, whose parameters are the first ones.
    fn map(&self) -> Map;

    /// The mean loss of a free window at these values of the parameters, [1].
    fn loss_at(&self, step: &SourceStep<'_>, parameters: &[Var]) -> Result<Var>;
}

impl<T: Windowed + ?Sized> Windowed for Box<T> {
    fn map(&self) -> Map {
        (**self).map()
    }

    fn loss_at(&self, step: &SourceStep<'_>, parameters: &[Var]) -> Result<Var> {
        (**self).loss_at(step, parameters)
    }
}

/// A rule with a fallback.
pub struct Spsa<S> {
    /// The rule.
    pub rule: S,
    /// Directions that are averaged.
    pub directions: usize,
    /// s.
    pub sigma: f32,
    /// The learning rate of the fallback.
    pub rate: f32,
    /// Seed of the signs, which are drawn anew in every step.
    pub seed: u64,
}

/// A stream of draws that nothing else uses.
const STREAM: u32 = 0x5b5a;

impl<S: Windowed> Spsa<S> {
    /// Errors if a constant is not above 0.
    pub fn check(&self) -> Result<()> {
        let is_fine = |value: f32| value > 0.0 && value.is_finite();
        if self.directions == 0 || !is_fine(self.sigma) || !is_fine(self.rate) {
            let Self { directions, sigma, rate, .. } = self;
            return Err(Error::usage(format!(
                "spsa: got {directions} directions, sigma {sigma} and rate {rate}, expected all above 0"
            )));
        }
        Ok(())
    }

    /// The signs of this step, [directions, parameters].
    fn signs(&self, draws: &Var, count: usize) -> Var {
        let zeros = Var::constant(Tensor::constant(draws.value().device(), [1], &[0.0]));
        let counters = ops::cast(&ops::concat(&[&zeros, &zeros, draws, &zeros], 0), DType::U32);
        let drawn = ops::uniform_each_step([self.directions, count], self.seed, STREAM, counters.value());
        ops::fused(&[&drawn], |v| select(lt(v[0], 0.5), -1.0, 1.0))
    }

    /// The mean of ĝ over the directions, for each parameter in its shape.
    fn gradients(&self, step: &SourceStep<'_>, values: &[Var], draws: &Var) -> Result<Vec<Var>> {
        let count = values.iter().map(|value| value.shape().len()).sum();
        let signs = self.signs(draws, count);
        let scale = 0.5 / self.sigma / self.directions as f32;
        let mut sum: Option<Var> = None;
        for direction in 0..self.directions {
            let signs = ops::reshape(&ops::slice(&signs, 0, direction..direction + 1), [count]);
            let loss = |side: f32| {
                let moved: Vec<Var> = split(&signs, values)
                    .iter()
                    .zip(values)
                    .map(|(sign, value)| ops::fused(&[value, sign], |v| v[0] + side * v[1]))
                    .collect();
                self.rule.loss_at(step, &moved)
            };
            let (up, down) = (loss(self.sigma)?, loss(-self.sigma)?);
            let own = ops::fused(&[&signs, &up, &down], |v| scale * (v[1] - v[2]) * v[0]);
            sum = Some(sum.map_or_else(|| own.clone(), |sum| ops::add(&sum, &own)));
        }
        Ok(split(&sum.expect("at least one direction"), values))
    }
}

/// The parts of a flat value in the shapes of others.
fn split(flat: &Var, like: &[Var]) -> Vec<Var> {
    let mut at = 0;
    let part = |value: &Var| {
        let count = value.shape().len();
        at += count;
        ops::reshape(&ops::slice(flat, 0, at - count..at), value.shape())
    };
    like.iter().map(part).collect()
}

impl<S: Windowed> GradientSource for Spsa<S> {
    fn name(&self) -> &str {
        self.rule.name()
    }

    fn state(&self) -> Vec<StateBlock> {
        // First, so that the blocks of the rule are in their places after it.
        let draws = StateBlock { name: "draws".into(), values: vec![0.0] };
        [draws].into_iter().chain(self.rule.state()).collect()
    }

    fn step(&self, step: &SourceStep<'_>) -> Result<Sourced> {
        self.check()?;
        let (draws, own) = step.state.split_first().expect("the blocks of `state`");
        let step = &SourceStep { state: own, ..*step };
        let mut sourced = self.rule.step(step)?;
        let Direction::Parameters { values, is_accepted: Some(is_accepted) } = sourced.direction else {
            return Err(Error::usage("spsa: got a rule that never rejects a step, expected plain steps"));
        };
        let old: Vec<Var> = step.parameters.values().iter().map(Var::detach).collect();
        let gradients = self.gradients(step, &old, draws)?;
        let sums = gradients.iter().map(|one| ops::reshape(&ops::sum(&ops::abs(one), 0..one.shape().rank()), [1]));
        let size = sums.reduce(|a, b| ops::add(&a, &b)).expect("a map has parameters");
        let is_either = ops::fused(&[&is_accepted, &size], |v| max(v[0], select(le(abs(v[1]), f32::MAX), 1.0, 0.0)));
        let names = &step.network.layout().parameters;
        let values = names.iter().zip(&old).zip(&gradients).zip(&values).map(|(((parameter, old), gradient), own)| {
            let fallback = stepped(&parameter.name, old, gradient, self.rate);
            ops::fused(&[&is_accepted, own, &fallback], |v| select(v[0], v[1], v[2]))
        });
        let values = values.collect();
        sourced.direction = Direction::Parameters { values, is_accepted: Some(is_either) };
        // Counters of draws repeat long before a float stops counting.
        let next = ops::fused(&[draws], |v| select(lt(v[0], 8_000_000.0), v[0] + 1.0, 0.0));
        sourced.state.insert(0, next);
        Ok(sourced)
    }

    fn reported(&self) -> &'static [&'static str] {
        self.rule.reported()
    }

    fn report(&self, state: &[StateBlock]) -> Vec<(String, f64)> {
        self.rule.report(state)
    }
}

impl<S: Windowed> Windowed for Spsa<S> {
    fn map(&self) -> Map {
        self.rule.map()
    }

    fn loss_at(&self, step: &SourceStep<'_>, parameters: &[Var]) -> Result<Var> {
        self.rule.loss_at(&SourceStep { state: &step.state[1..], ..*step }, parameters)
    }
}
