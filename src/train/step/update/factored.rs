//! An update by Adafactor: a launch for the gradient as far as limits admit it, one for the squares that are kept, and one in which all parameters move;
//! between them each parameter's mean squares and its update.

use super::launch::{Aside, Made, Update};
use crate::autograd::Var;
use crate::device::{Buffer, View};
use crate::error::Result;
use crate::kernels::optimise::{Rule, UPDATE_WORDS};
use crate::ops;
use crate::optim::Adafactor;
use crate::tensor::Tensor;
use crate::train::step::moments::words_of_squares;
use crate::train::step::state::copy;

pub(super) fn record(update: &Update<'_>, made: &Made<'_>) -> Result<()> {
    let Update { setup, state, sizes } = update;
    let (device, layout) = (setup.device, setup.network.layout());
    let aside = Aside::with_memory(setup, state)?;
    let gradient = device.buffer(sizes.total);
    let kept_words = setup.settings.update_state_at(layout);
    let memory = View { buffer: state.moments.clone(), offset: kept_words, words: UPDATE_WORDS };
    update.launch(made.rule, made.gradients, [gradient.view(), memory, aside.control.view(), made.report.view()]);

    let squares = update.in_place(kept_words, made)?;
    let parts = parts(update, &gradient);
    for part in &parts {
        let square = ops::mul(&part.gradient, &part.gradient);
        if part.is_matrix {
            copy(&ops::mean(&square, 2..3), &squares.words, part.kept[0]);
            copy(&ops::mean(&square, 1..2), &squares.words, part.kept[1]);
        } else {
            copy(&square, &squares.words, part.kept[0]);
        }
    }
    let kept = View { buffer: state.moments.clone(), offset: 0, words: kept_words };
    let rule = made.rule.following(|kept, square, [_, weight, _, _]| kept + weight * (square - kept));
    let outputs = [&aside.moments, &aside.control, &aside.report].map(Buffer::view);
    let [memory, control, report] = outputs.clone();
    update.launch(&Rule { is_grouped: false, ..rule }, &squares, [kept, memory, control, report]);

    let moved = update.in_place(sizes.total, made)?;
    let adafactor = Adafactor::of(&setup.settings.optimizer);
    for part in &parts {
        copy(&part.update(&adafactor, &state.moments), &moved.words, part.offset);
    }
    let rule = made.rule.following(|p, update, [_, _, rate, decay]| p * decay - rate * update);
    let [memory, _, report] = outputs;
    update.launch(&rule, &moved, [state.parameters.view(), memory, state.control.view(), report]);
    Ok(())
}

/// A parameter that learns.
struct Part {
    /// Both [batch, rows, columns], or [1, 1, count] for a vector.
    gradient: Var,
    values: Var,
    is_matrix: bool,
    /// Its first word in the parameters.
    offset: usize,
    /// The first words of its squares: those of rows and of columns, or of all values.
    kept: [usize; 2],
}

/// The parameters that learn.
fn parts(update: &Update<'_>, gradient: &Buffer) -> Vec<Part> {
    let Update { setup, state, .. } = update;
    let layout = setup.network.layout();
    let learning: Vec<usize> = setup.groups.learning(layout).map(|(at, _)| at).collect();
    let (mut parts, mut first) = (Vec::new(), 0);
    for (at, parameter) in layout.parameters.iter().enumerate() {
        let sizes = parameter.shape.sizes();
        let kept = [first, first + Adafactor::words(sizes)[0]];
        first += words_of_squares(parameter);
        if !learning.contains(&at) {
            continue;
        }
        let shape = match *sizes {
            [ref batch @ .., rows, columns] => [batch.iter().product(), rows, columns],
            _ => [1, 1, parameter.shape.len()],
        };
        let over = |buffer: &Buffer| {
            let view = View { buffer: buffer.clone(), offset: parameter.offset, words: parameter.shape.len() };
            Var::constant(Tensor::over(setup.device, view, shape))
        };
        let [gradient, values] = [gradient, &state.parameters].map(over);
        parts.push(Part { gradient, values, is_matrix: sizes.len() > 1, offset: parameter.offset, kept });
    }
    parts
}

impl Part {
    /// The update before the rate, by the squares that are kept.
    fn update(&self, adafactor: &Adafactor, kept: &Buffer) -> Var {
        let over = |offset: usize, shape: [usize; 3]| {
            let view = View { buffer: kept.clone(), offset, words: shape.iter().product() };
            Var::constant(Tensor::over(self.gradient.value().device(), view, shape))
        };
        let sizes = self.gradient.shape().sizes();
        let [batch, rows, columns] = [sizes[0], sizes[1], sizes[2]];
        let update = if self.is_matrix {
            let of_rows = over(self.kept[0], [batch, rows, 1]);
            let of_columns = over(self.kept[1], [batch, 1, columns]);
            let mean = ops::mean(&of_rows, 1..2);
            let inputs = [&self.gradient, &of_rows, &of_columns, &mean];
            ops::fused(&inputs, |v| adafactor.of_matrix(v[0], v[1], v[2], v[3]))
        } else {
            let squares = over(self.kept[0], [1, 1, columns]);
            ops::fused(&[&self.gradient, &squares], |v| adafactor.of_vector(v[0], v[1]))
        };
        let [of_values, of_update] = [&self.values, &update].map(|x| ops::mean(&ops::mul(x, x), 0..3));
        ops::fused(&[&update, &of_values, &of_update], |v| v[0] * adafactor.factor(v[1], v[2]))
    }
}
