//! A step whose gradients, or whose update, come from a source of the program's own.

use super::setup::Setup;
use super::state::{State, copy};
use super::update::Content;
use crate::autograd::Var;
use crate::device::{Label, View};
use crate::error::{Error, Result};
use crate::model::{Batch, Direction, GradientSource, SourceStep, Sourced};
use crate::ops;
use crate::program::expr::select;
use crate::tensor::Tensor;

/// Fills the parts of a step.
pub(super) fn fill(
    setup: &Setup<'_>,
    state: &State,
    source: &dyn GradientSource,
    batch: &Batch,
    partials: &View,
) -> Result<Content> {
    let device = setup.device;
    let settings = setup.settings;
    let blocks: Vec<Var> = state
        .source
        .iter()
        .map(|(_, block)| Var::constant(Tensor::over(device, block.clone(), [block.words])))
        .collect();
    if settings.precision.is_some() {
        return Err(wrong(source, "got precision, which is for the model's own gradients"));
    }
    if setup.network.layout().parameters.iter().any(|parameter| parameter.is_statistic) {
        return Err(wrong(source, "got a model with running statistics, which only its own ops keep"));
    }
    if settings.gradients.sharpness.is_some() && !blocks.is_empty() {
        return Err(wrong(source, "got sharpness, which records a step twice: expected a source without state"));
    }
    let step = SourceStep { parameters: &batch.parameters, batch, state: &blocks, network: setup.network };
    let sourced = device.labelled(Label::part("source"), || source.step(&step))?;
    check(setup, source, &blocks, &sourced)?;
    let total = setup.network.layout().total;
    let content = match &sourced.direction {
        Direction::Gradients(gradients) => {
            for (at, parameter) in setup.groups.learning(setup.network.layout()) {
                copy(&gradients[at], partials, parameter.offset);
            }
            copy(&sourced.loss, partials, total);
            copy(&sourced.weight, partials, total + 1);
            Content::Gradients
        }
        Direction::Parameters { values, is_accepted } => {
            for (at, parameter) in setup.network.layout().parameters.iter().enumerate() {
                let old = &batch.parameters.values()[at];
                let new = match is_accepted {
                    _ if setup.groups.frozen[at] => old.clone(),
                    Some(flag) => ops::fused(&[flag, &values[at], old], |v| select(v[0], v[1], v[2])),
                    None => values[at].clone(),
                };
                copy(&new, partials, parameter.offset);
            }
            copy(&ops::div(&sourced.loss, &sourced.weight), partials, total);
            copy(&Var::constant(Tensor::constant(device, [1], &[1.0])), partials, total + 1);
            Content::Parameters
        }
    };
    // A block that the source returns as it is needs no copy, and a GPU refuses one onto itself.
    for (value, (_, block)) in sourced.state.iter().zip(&state.source) {
        if !value.value().view().buffer.is(&block.buffer) {
            copy(value, block, 0);
        }
    }
    Ok(content)
}

/// Errors if what a source returns has other shapes than it should.
fn check(setup: &Setup<'_>, source: &dyn GradientSource, blocks: &[Var], sourced: &Sourced) -> Result<()> {
    let (what, values) = match &sourced.direction {
        Direction::Gradients(gradients) => ("gradient", gradients),
        Direction::Parameters { values, .. } => ("new value", values),
    };
    let parameters = &setup.network.layout().parameters;
    if values.len() != parameters.len() {
        let (got, expected) = (values.len(), parameters.len());
        return Err(wrong(source, &format!("got {got} {what}s, expected {expected}, one for each parameter")));
    }
    for (parameter, value) in parameters.iter().zip(values) {
        if *value.shape() != parameter.shape {
            let (name, got, expected) = (&parameter.name, value.shape(), &parameter.shape);
            return Err(wrong(source, &format!("the {what} of \"{name}\": got {got}, expected {expected}")));
        }
    }
    let accepted =
        if let Direction::Parameters { is_accepted, .. } = &sourced.direction { is_accepted.as_ref() } else { None };
    let ones = [("loss", Some(&sourced.loss)), ("weight", Some(&sourced.weight)), ("is_accepted", accepted)];
    for (name, value) in ones {
        if let Some(value) = value.filter(|value| value.shape().sizes() != [1]) {
            return Err(wrong(source, &format!("its {name}: got {}, expected [1]", value.shape())));
        }
    }
    if !sourced.state.iter().map(Var::shape).eq(blocks.iter().map(Var::shape)) {
        let shapes = |vars: &[Var]| vars.iter().map(|var| var.shape().to_string()).collect::<Vec<_>>().join(", ");
        let (got, expected) = (shapes(&sourced.state), shapes(blocks));
        return Err(wrong(source, &format!("its state: got blocks {got}, expected {expected}")));
    }
    Ok(())
}

fn wrong(source: &dyn GradientSource, what: &str) -> Error {
    Error::new(format!("train: source \"{}\": {what}", source.name()))
}
