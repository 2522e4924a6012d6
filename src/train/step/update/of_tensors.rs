//! An update whose parameters move by what is made of whole tensors: a launch for the directions, one for what is kept, and one in which all parameters
//! move; between them the ops of the optimiser's motion.

use super::launch::{Aside, Made, Update};
use crate::autograd::Var;
use crate::device::{Command, View};
use crate::error::Result;
use crate::kernels::optimise::Rule;
use crate::nn::Parameter;
use crate::optim::{Moving, TensorMotion};
use crate::program::constants::Values;
use crate::tensor::Tensor;
use crate::train::step::moments::words;
use crate::train::step::state::copy;

pub(super) fn record(update: &Update<'_>, made: &Made<'_>, motion: &TensorMotion) -> Result<()> {
    let Update { setup, state, sizes } = update;
    let (device, layout) = (setup.device, setup.network.layout());
    let aside = Aside::with_memory(setup, state)?;
    let directions = device.buffer(sizes.total).view();
    let kept_words = setup.settings.kept_words(layout);
    let moments = state.moments.part(kept_words, state.moments.words - kept_words);
    let outputs = [directions.clone(), moments, aside.control.clone(), made.report.clone()];
    update.launch(made.rule, made.gradients, outputs);

    let parts = parts(update, &directions);
    let constants = setup.settings.optimizer.constants();
    if kept_words > 0 {
        let fresh = update.in_place(kept_words, made)?;
        for part in &parts {
            for (value, (offset, _)) in (motion.fresh)(&part.moving(constants)).iter().zip(&part.places) {
                copy(value, &fresh.words, *offset);
            }
        }
        let kept = state.moments.part(0, kept_words);
        let rule = made.rule.following(motion.mixed);
        let [memory, control, report] = [&aside.moments, &aside.control, &aside.report].map(View::clone);
        update.launch(&Rule { is_grouped: false, ..rule }, &fresh, [kept, memory, control, report]);
    }

    let moved = update.in_place(sizes.total, made)?;
    if motion.is_of_matrices {
        // The others move by their directions.
        let to = moved.words.part(0, moved.sizes.total);
        device.record(Command::Copy { from: directions.clone(), to });
    }
    for part in parts.iter().filter(|part| !motion.is_of_matrices || setup.groups.matrices[part.at]) {
        copy(&(motion.moved)(&part.moving(constants)), &moved.words, part.offset);
    }
    let outputs = [&state.parameters, &aside.moments, &state.control, &aside.report].map(View::clone);
    update.launch(&made.rule.following(motion.step), &moved, outputs);
    Ok(())
}

/// A parameter that learns.
struct Part {
    /// Its place among the parameters.
    at: usize,
    /// Its first word in them.
    offset: usize,
    direction: Var,
    value: Var,
    /// What is kept of it.
    kept: Vec<Var>,
    /// The first words and the shapes of that.
    places: Vec<(usize, Vec<usize>)>,
}

impl Part {
    fn moving<'m>(&'m self, constants: &'m Values) -> Moving<'m> {
        Moving { direction: &self.direction, value: &self.value, kept: &self.kept, constants }
    }
}

/// The parameters that learn.
fn parts(update: &Update<'_>, directions: &View) -> Vec<Part> {
    let Update { setup, state, .. } = update;
    let layout = setup.network.layout();
    let over = |all: &View, offset: usize, sizes: &[usize]| {
        let view = all.part(offset, sizes.iter().product());
        Var::constant(Tensor::over(setup.device, view, sizes.to_vec()))
    };
    let learning: Vec<usize> = setup.groups.learning(layout).map(|(at, _)| at).collect();
    let mut first = 0;
    let part = |(at, parameter): (usize, &Parameter)| {
        let place = |sizes: Vec<usize>| {
            let offset = first;
            first += words(&sizes);
            (offset, sizes)
        };
        let places: Vec<(usize, Vec<usize>)> = setup.settings.kept(parameter).into_iter().map(place).collect();
        let sizes = parameter.shape.sizes();
        let [direction, value] = [directions, &state.parameters].map(|all| over(all, parameter.offset, sizes));
        let kept = places.iter().map(|(offset, sizes)| over(&state.moments, *offset, sizes)).collect();
        Part { at, offset: parameter.offset, direction, value, kept, places }
    };
    let parts: Vec<Part> = layout.parameters.iter().enumerate().map(part).collect();
    parts.into_iter().filter(|part| learning.contains(&part.at)).collect()
}
