//! The recorded step: the model's own ops and their gradients, recorded once and replayed.

use std::cell::RefCell;

use super::passes::passes;
use super::setup::{Setup, TAU_STREAM};
use super::state::{Rows, State, copy};
use super::update;
use crate::autograd::Var;
use crate::device::{Buffer, Command, Label, Outline, Plan, Tag, View};
use crate::error::{Error, Result};
use crate::kernels::batch;
use crate::kernels::optimise::{SCALE_AT, TAIL};
use crate::loss::Loss;
use crate::model::Batch;
use crate::nn::{Pass, RunningStats};
use crate::ops;
use crate::tensor::{DType, Tensor};

/// The plan of a step, and the number of outputs of the model.
pub(crate) fn step(setup: &Setup<'_>, state: &State, rows: &Rows, loss: &Loss) -> Result<(Plan, usize)> {
    let zeros = vec![0; setup.network.layout().total + TAIL];
    let partials = setup.device.tagged(Tag::Gradients, || setup.device.upload(&zeros))?;
    let passes = passes(setup)?;
    let record = || record_step(setup, state, rows, loss, &partials);
    setup.device.tagged(Tag::Activations, || setup.device.capture_with(&passes, record))
}

/// What a recorded step would take, before it is planned.
pub(crate) fn outline(setup: &Setup<'_>, state: &State) -> Result<Outline> {
    let partials = setup.device.buffer(setup.network.layout().total + TAIL);
    let rows = Rows::upload(setup, &setup.data.train)?;
    let loss = setup.settings.curriculum.loss(&setup.settings.loss, 0, None);
    setup.device.outline(&passes(setup)?, || record_step(setup, state, &rows, &loss, &partials))
}

/// Records a step of the model's own ops; returns the number of outputs.
fn record_step(setup: &Setup<'_>, state: &State, rows: &Rows, loss: &Loss, partials: &Buffer) -> Result<usize> {
    let layout = setup.network.layout();
    let batch = setup.device.labelled(Label::part("batch"), || next_batch(setup, state, rows));
    let pass = Pass::Train {
        seed: setup.settings.seed,
        control: Tensor::over(setup.device, state.control.view(), [4]),
        policies: setup.settings.policies.clone(),
        present: batch.weight.clone(),
    };
    let first: RefCell<Option<(Vec<RunningStats>, usize)>> = RefCell::new(None);
    let gradient = |weights: &Buffer| {
        let mut parameters = layout.leaves(setup.device, weights);
        for (parameter, is_frozen) in parameters.iter_mut().zip(&setup.groups.frozen) {
            if *is_frozen {
                *parameter = parameter.detach();
            }
        }
        let (outputs, running) = setup.network.learn(&parameters, &batch.x, &pass)?;
        let (loss, weight) = setup.device.labelled(Label::part("loss"), || {
            setup.loss_sums(loss, &outputs, &batch, &|range| drawn(setup, &pass, range))
        })?;
        write_gradients(setup, &scaled(setup, &loss, state)?, &parameters, &running, partials)?;
        copy(&loss, partials, layout.total);
        copy(&weight, partials, layout.total + 1);
        first.borrow_mut().get_or_insert((running, outputs.len()));
        Ok(())
    };
    update::record(setup, state, partials, 1, &gradient)?;
    let (running, outputs) = first.into_inner().unwrap_or_default();
    // After the update, which would decay them like weights.
    for RunningStats { parameter, value } in running.iter().filter(|one| !setup.groups.frozen[one.parameter]) {
        copy(value, &state.parameters, layout.parameters[*parameter].offset);
    }
    Ok(outputs)
}

/// The loss times its scale, which the update divides by again.
fn scaled(setup: &Setup<'_>, loss: &Var, state: &State) -> Result<Var> {
    let Some(scale) = setup.settings.loss_scale() else { return Ok(loss.clone()) };
    let offset = setup.settings.update_state_at(setup.network.layout());
    let words = View { buffer: state.moments.clone(), offset, words: 2 * SCALE_AT };
    let words = Var::constant(Tensor::over(setup.device, words, [2 * SCALE_AT, 1]));
    let at = Tensor::from_u32(setup.device, [1], &[SCALE_AT as u32])?;
    let factor = ops::reshape(&ops::take_rows(&words, &at), [1]);
    Ok(ops::fused(&[loss, &factor], |v| v[0] * v[1] * scale.rows.recip()))
}

/// The rows of the next step, gathered in the epoch's order.
fn next_batch(setup: &Setup<'_>, state: &State, rows: &Rows) -> Batch {
    let (inputs, targets) = (setup.data.inputs, setup.data.targets);
    let batch = setup.settings.batch.min(rows.count);
    let [x, y, weight] = [inputs, targets, 1].map(|columns| Tensor::empty(setup.device, [batch, columns], DType::F32));
    let outputs = batch::Outputs {
        control: state.control.view(),
        x: x.view().clone(),
        y: y.view().clone(),
        weight: weight.view().clone(),
    };
    let [rows_x, rows_y, order] = [&rows.x, &rows.y, &state.order].map(Buffer::view);
    let [rows, batch, steps, inputs, targets] =
        [rows.count, batch, setup.steps, inputs, targets].map(|size| size as u32);
    let sizes = batch::Params { rows, batch, steps, inputs, targets };
    setup.device.record(Command::Dispatch(batch::dispatch(sizes, rows_x, rows_y, order, outputs)));
    Batch { x: Var::leaf(x), y: Var::constant(y), weight: Var::constant(weight) }
}

/// A threshold of this step, uniform in a range.
fn drawn(setup: &Setup<'_>, pass: &Pass, [low, high]: [f32; 2]) -> Var {
    match pass {
        Pass::Train { seed, control, .. } if low < high => {
            let share = ops::uniform_each_step([1], *seed, TAU_STREAM, control);
            ops::fused(&[&share], |v| v[0] * (high - low) + low)
        }
        _ => Var::constant(Tensor::scalar(setup.device, low)),
    }
}

/// Writes the gradient of each parameter that has no running statistics to its place in the partial gradients.
fn write_gradients(
    setup: &Setup<'_>,
    loss: &Var,
    parameters: &[Var],
    running: &[RunningStats],
    partials: &Buffer,
) -> Result<()> {
    let parameters_of: Vec<&Var> = parameters.iter().collect();
    let gradients = setup.device.tagged(Tag::Gradients, || ops::grad(loss, &parameters_of))?;
    for (at, (parameter, gradient)) in setup.network.layout().parameters.iter().zip(gradients).enumerate() {
        if setup.groups.frozen[at] || running.iter().any(|running| running.parameter == at) {
            continue;
        }
        let gradient =
            gradient.ok_or_else(|| Error::new(format!("train: the loss does not depend on {}", parameter.name)))?;
        copy(&gradient, partials, parameter.offset);
    }
    Ok(())
}
