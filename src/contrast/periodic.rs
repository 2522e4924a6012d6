//! A rule that learns in every so many windows only: in the others memory and field go on, and the parameters stay.

use crate::error::{Error, Result};
use crate::model::{Direction, GradientSource, SourceStep, Sourced, StateBlock};
use crate::ops;
use crate::program::expr::{floor, lt, select};

/// A rule with a period.
pub(super) struct Periodic<S> {
    pub rule: S,
    /// It learns in windows 0, period, 2 period, …
    pub period: usize,
}

impl<S: GradientSource> GradientSource for Periodic<S> {
    fn name(&self) -> &str {
        self.rule.name()
    }

    fn state(&self) -> Vec<StateBlock> {
        let windows = StateBlock { name: "windows".into(), values: vec![0.0] };
        [windows].into_iter().chain(self.rule.state()).collect()
    }

    fn step(&self, step: &SourceStep<'_>) -> Result<Sourced> {
        let (windows, own) = step.state.split_first().expect("the blocks of `state`");
        let mut sourced = self.rule.step(&SourceStep { state: own, ..*step })?;
        let Direction::Parameters { values, is_accepted: Some(is_accepted) } = sourced.direction else {
            return Err(Error::usage("contrast: a period: got a rule that never rejects a step, expected plain steps"));
        };
        // The counter stays below the period, so that it is exact.
        let period = self.period as f32;
        let is_accepted = ops::fused(&[&is_accepted, windows], |v| select(lt(v[1], 0.5), v[0], 0.0));
        let next = ops::fused(&[windows], |v| v[0] + 1.0 - period * floor((v[0] + 1.5) * (1.0 / period)));
        sourced.direction = Direction::Parameters { values, is_accepted: Some(is_accepted) };
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
