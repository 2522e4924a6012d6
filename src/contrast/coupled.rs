//! The contrastive rule under an R that moves: R is fixed in a window, and is what its source gives before the first step. A field moves by the steps of
//! the window once its phases have ended.

use super::curvature::Curvature;
use super::source::Contrast;
use super::spsa::Windowed;
use crate::autograd::Var;
use crate::error::{Error, Result};
use crate::model::{GradientSource, SourceStep, Sourced, StateBlock};
use crate::ops;

/// A contrastive rule whose R comes from elsewhere.
pub struct Coupled<S> {
    rule: S,
    curvature: Curvature,
    steps: usize,
    /// Where the rule keeps its blocks: how many there are, and which one holds R.
    blocks: usize,
    control: usize,
}

impl<S: Windowed> Coupled<S> {
    /// The rule with R from there, which is followed for so many steps a window.
    ///
    /// Errors if it has no R of its own to replace, or the curvature does not fit.
    pub fn new(rule: S, curvature: Curvature, steps: usize) -> Result<Self> {
        let map = rule.map();
        let wrong = |what: &str| Err(Error::usage(format!("contrast: curvature: {what}")));
        curvature.check(steps, map.inputs)?;
        if matches!(curvature, Curvature::Each(_)) {
            return wrong("got one for each step, expected one that is fixed in a window");
        }
        if matches!(curvature, Curvature::Collapse(_)) && !map.has_diagonal() {
            return wrong("got a tensor, expected a metric with a weight per coordinate");
        }
        let blocks = rule.state();
        let Some(control) = blocks.iter().position(|block| block.name == "control") else {
            return wrong("got a rule that has R per step, expected the contrastive rule");
        };
        Ok(Self { rule, curvature, steps, blocks: blocks.len(), control })
    }

    fn with_r<T>(
        &self,
        step: &SourceStep<'_>,
        parameters: &[Var],
        then: impl FnOnce(&SourceStep<'_>) -> Result<T>,
    ) -> Result<T> {
        let (own, blocks) = step.state.split_at(self.blocks);
        // A rule may have parameters behind those of its map.
        let map = self.rule.map();
        let inverse = || map.inverse_metric(&parameters[..map.parameters(None).len()]);
        let r = self.curvature.first(blocks, &step.batch.x, inverse);
        let mut own = own.to_vec();
        own[self.control] = ops::concat(&[&ops::slice(&own[self.control], 0, 0..1), &ops::reshape(&r, [1])], 0);
        then(&SourceStep { state: &own, ..*step })
    }
}

impl<S: Windowed> GradientSource for Coupled<S> {
    fn name(&self) -> &str {
        self.rule.name()
    }

    fn state(&self) -> Vec<StateBlock> {
        self.rule.state().into_iter().chain(self.curvature.state()).collect()
    }

    fn step(&self, step: &SourceStep<'_>) -> Result<Sourced> {
        let values: Vec<Var> = step.parameters.values().iter().map(Var::detach).collect();
        let mut sourced = self.with_r(step, &values, |step| self.rule.step(step))?;
        if let Curvature::Field(field) = &self.curvature {
            sourced.state.extend(field.advanced(&step.state[self.blocks..], self.steps, &mut |_| {}));
        }
        Ok(sourced)
    }

    fn reported(&self) -> &'static [&'static str] {
        &["control", "figures"]
    }

    fn report(&self, state: &[StateBlock]) -> Vec<(String, f64)> {
        let r = state.iter().find(|block| block.name == "control").map_or(f64::NAN, |block| f64::from(block.values[1]));
        let mut all = self.rule.report(state);
        all.push(("curvature".to_owned(), r));
        all
    }
}

impl<S: Windowed> Windowed for Coupled<S> {
    fn map(&self) -> super::map::Map {
        self.rule.map()
    }

    fn loss_at(&self, step: &SourceStep<'_>, parameters: &[Var]) -> Result<Var> {
        self.with_r(step, parameters, |step| self.rule.loss_at(step, parameters))
    }
}

impl Windowed for Contrast {
    fn map(&self) -> super::map::Map {
        self.map
    }

    fn loss_at(&self, step: &SourceStep<'_>, parameters: &[Var]) -> Result<Var> {
        self.loss_of(&step.batch.x, step, &self.map.matrix(parameters))
    }
}
