//! The recorded step: the model's own ops and their gradients, recorded once and replayed.

use std::cell::{Cell, RefCell};

use super::passes::passes;
use super::setup::{Setup, TAU_STREAM};
use super::sourced;
use super::state::{Rows, State, copy};
use super::update::{self, Content, Filled};
use super::{Halves, Member};
use crate::autograd::Var;
use crate::device::{Command, Label, Outline, Tag, View};
use crate::error::{Error, Result};
use crate::kernels::batch;
use crate::kernels::optimise::{SCALE_AT, TAIL};
use crate::loss::Loss;
use crate::model::Batch;
use crate::nn::{Pass, RunningStats};
use crate::ops;
use crate::tensor::{DType, Tensor};

/// The plans of a step, and the number of outputs of the model.
pub(crate) fn step(members: &[Member<'_>], rows: &Rows) -> Result<Halves> {
    let setup = &members[0].setup;
    let zeros = vec![0; setup.network.layout().total + TAIL];
    let partials = setup.device.tagged(Tag::Gradients, || setup.device.upload(&zeros))?.view();
    let recording = |member| Recording::new(member, rows, &partials);
    let recordings: Vec<Recording<'_>> = members.iter().map(recording).collect();
    let filled = Filled { partials: &partials, parts: 1, fill: &|at, weights| recordings[at].fill(weights) };
    let plans = || update::plans(members, &passes(setup)?, &filled, &|at| recordings[at].end());
    let (step, update) = setup.device.tagged(Tag::Activations, plans)?;
    Ok(Halves { step, update, outputs: recordings[0].outputs.get() })
}

/// What a recorded step would take, before it is planned.
pub(crate) fn outline(setup: &Setup<'_>, state: &State) -> Result<Outline> {
    let partials = setup.device.buffer(setup.network.layout().total + TAIL).view();
    let rows = Rows::upload(setup, &setup.data.train)?;
    let loss = setup.settings.curriculum.loss(&setup.settings.loss, 0, None);
    let member = Member { setup: setup.of_member(0), state, loss };
    let recording = Recording::new(&member, &rows, &partials);
    setup.device.outline(&passes(setup)?, || {
        let filled = Filled { partials: &partials, parts: 1, fill: &|_, weights| recording.fill(weights) };
        update::record(&member, 0, &filled)?;
        recording.end();
        Ok(())
    })
}

/// A step of the model's own ops, or of a source, while it is recorded.
struct Recording<'r> {
    setup: &'r Setup<'r>,
    state: &'r State,
    rows: &'r Rows,
    loss: &'r Loss,
    partials: &'r View,
    batch: RefCell<Option<(Batch, Pass)>>,
    /// The running statistics, of the first of several gradients.
    running: RefCell<Option<Vec<RunningStats>>>,
    /// The number of outputs of the model.
    outputs: Cell<usize>,
}

impl<'r> Recording<'r> {
    fn new(member: &'r Member<'r>, rows: &'r Rows, partials: &'r View) -> Self {
        Self {
            setup: &member.setup,
            state: member.state,
            rows,
            loss: &member.loss,
            partials,
            batch: RefCell::default(),
            running: RefCell::default(),
            outputs: Cell::new(1),
        }
    }

    /// The parameters at some weights; no gradient flows into frozen ones.
    fn leaves(&self, weights: &View) -> Vec<Var> {
        let leaves = self.setup.network.layout().leaves(self.setup.device, weights).into_iter();
        let leaves = leaves.zip(&self.setup.groups.frozen);
        leaves.map(|(leaf, is_frozen)| if *is_frozen { leaf.detach() } else { leaf }).collect()
    }

    /// Fills the parts at some weights.
    fn fill(&self, weights: &View) -> Result<Content> {
        let Self { setup, state, partials, .. } = self;
        let (layout, parameters) = (setup.network.layout(), self.leaves(weights));
        let (batch, pass) = self.rows_of_step(&parameters);
        if let Some(source) = setup.network.source() {
            return sourced::fill(setup, state, source, &batch, partials);
        }
        let (outputs, running) = setup.network.learn(&parameters, &batch.x, &pass)?;
        let (loss, weight) = setup.device.labelled(Label::part("loss"), || {
            setup.loss_sums(self.loss, &outputs, &batch, &|range| drawn(setup, &pass, range))
        })?;
        write_gradients(setup, &scaled(setup, &loss, state)?, &parameters, &running, partials)?;
        copy(&loss, partials, layout.total);
        copy(&weight, partials, layout.total + 1);
        self.outputs.set(outputs.len());
        self.running.borrow_mut().get_or_insert(running);
        Ok(Content::Gradients)
    }

    /// The rows of the step, gathered once, with the parameters of a gradient.
    fn rows_of_step(&self, parameters: &[Var]) -> (Batch, Pass) {
        let Self { setup, state, .. } = self;
        let mut known = self.batch.borrow_mut();
        let (batch, pass) = known.get_or_insert_with(|| {
            let batch = setup.device.labelled(Label::part("batch"), || next_batch(setup, state, self.rows, parameters));
            let pass = Pass::Train {
                seed: setup.seed,
                control: Tensor::over(setup.device, state.control.clone(), [4]),
                policies: setup.settings.policies.clone(),
                present: batch.weight.clone(),
            };
            (batch, pass)
        });
        (batch.at(setup.network.named(parameters, true)), pass.clone())
    }

    /// Keeps the running statistics: after the update, which would decay them like weights. Lets go of all values, so that their memory is free for others.
    fn end(&self) {
        let Self { setup, state, .. } = self;
        self.batch.take();
        let running = self.running.take().unwrap_or_default();
        for RunningStats { parameter, value } in running.iter().filter(|one| !setup.groups.frozen[one.parameter]) {
            copy(value, &state.parameters, setup.network.layout().parameters[*parameter].offset);
        }
    }
}

/// The loss times its scale, which the update divides by again.
fn scaled(setup: &Setup<'_>, loss: &Var, state: &State) -> Result<Var> {
    let Some(scale) = setup.settings.loss_scale() else { return Ok(loss.clone()) };
    let offset = setup.settings.update_state_at(setup.network.layout());
    let words = state.moments.part(offset, 2 * SCALE_AT);
    let words = Var::constant(Tensor::over(setup.device, words, [2 * SCALE_AT, 1]));
    let at = Tensor::from_u32(setup.device, [1], &[SCALE_AT as u32])?;
    let factor = ops::reshape(&ops::take_rows(&words, &at), [1]);
    Ok(ops::fused(&[loss, &factor], |v| v[0] * v[1] * scale.rows.recip()))
}

/// The rows of the next step, gathered in the epoch's order.
fn next_batch(setup: &Setup<'_>, state: &State, rows: &Rows, parameters: &[Var]) -> Batch {
    let (inputs, targets) = (setup.data.inputs, setup.data.targets);
    let batch = setup.settings.batch.min(rows.count);
    let [x, y, weight] = [inputs, targets, 1].map(|columns| Tensor::empty(setup.device, [batch, columns], DType::F32));
    let outputs = batch::Outputs {
        control: state.control.clone(),
        x: x.view().clone(),
        y: y.view().clone(),
        weight: weight.view().clone(),
    };
    let [rows_x, rows_y, order] = [rows.x.view(), rows.y.view(), state.order.clone()];
    let [rows, batch, steps, inputs, targets] =
        [rows.count, batch, setup.steps, inputs, targets].map(|size| size as u32);
    let sizes = batch::Params { rows, batch, steps, inputs, targets };
    setup.device.record(Command::Dispatch(batch::dispatch(sizes, rows_x, rows_y, order, outputs)));
    let parameters = setup.network.named(parameters, true);
    Batch {
        x: Var::leaf(x),
        y: Var::constant(y),
        weight: Var::constant(weight),
        parameters,
        inputs: setup.network.each_input().clone(),
    }
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
    partials: &View,
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
