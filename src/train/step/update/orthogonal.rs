//! An update whose hidden matrices move along orthogonal directions: a launch for the directions, Newton–Schulz steps for those of matrices, and a
//! launch in which all parameters move.

use super::launch::{Aside, Made, Update};
use crate::autograd::Var;
use crate::device::{Buffer, Command, View};
use crate::error::Result;
use crate::ops;
use crate::optim::NewtonSchulz;
use crate::tensor::Tensor;
use crate::train::step::state::copy;

pub(super) fn record(update: &Update<'_>, made: &Made<'_>) -> Result<()> {
    let Update { setup, state, sizes } = update;
    let (device, layout) = (setup.device, setup.network.layout());
    let aside = Aside::with_memory(setup, state)?;
    let directions = device.buffer(sizes.total);
    let outputs = [&directions, &state.moments, &aside.control, made.report].map(Buffer::view);
    update.launch(made.rule, made.gradients, outputs);
    let moved = update.in_place(sizes.total, made)?;
    let to = View { buffer: moved.words.clone(), offset: 0, words: moved.sizes.total };
    device.record(Command::Copy { from: directions.view(), to });
    let newton_schulz = NewtonSchulz::of(&setup.settings.optimizer);
    for (at, parameter) in setup.groups.learning(layout) {
        if setup.groups.orthogonal[at] {
            let view = View { buffer: directions.clone(), offset: parameter.offset, words: parameter.shape.len() };
            let direction = Var::constant(Tensor::over(device, view, parameter.shape.clone()));
            copy(&orthogonal(&direction, &newton_schulz), &moved.words, parameter.offset);
        }
    }
    let outputs = [&state.parameters, &aside.moments, &state.control, &aside.report].map(Buffer::view);
    let rule = made.rule.following(|p, direction, [rate, _, _, decay]| p * decay - rate * direction);
    update.launch(&rule, &moved, outputs);
    Ok(())
}

/// The nearest orthogonal matrix to a direction, approximately, times its scale. Products are taken on the shorter side.
fn orthogonal(direction: &Var, newton_schulz: &NewtonSchulz) -> Var {
    let (rows, columns) = (direction.shape().sizes()[0], direction.shape().sizes()[1]);
    let is_tall = rows > columns;
    let squares = ops::sum(&ops::mul(direction, direction), 0..2);
    let mut x = ops::fused(&[direction, &squares], |v| newton_schulz.first(v[0], v[1]));
    for step in 1..=newton_schulz.steps() {
        let gram = ops::product(&x, &x, is_tall, !is_tall);
        let square = ops::matmul(&gram, &gram);
        let polynomial = ops::fused(&[&gram, &square], |v| NewtonSchulz::polynomial(v[0], v[1]));
        let product = if is_tall { ops::matmul(&x, &polynomial) } else { ops::matmul(&polynomial, &x) };
        let scale = if step == newton_schulz.steps() { newton_schulz.scale(rows, columns) } else { 1.0 };
        x = ops::fused(&[&x, &product], |v| scale * NewtonSchulz::next(v[0], v[1]));
    }
    x
}
