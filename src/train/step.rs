//! The plan of one training step. The fused and the recorded step share the buffers and the update; only what fills the partial
//! gradients differs.

use super::batches::order_words;
use super::config::StepKind;
use super::data::Examples;
use super::setup::{Setup, class_weights};
use super::update;
use super::validation::{FIGURES, figure_offset};
use crate::model::Batch;
use std::cell::RefCell;

use crate::autograd::Var;
use crate::device::{Buffer, Command, Label, Outline, Plan, Tag, View};
use crate::error::{Error, Result};
use crate::kernels::mlp::{self, Fused, Mlp};
use crate::kernels::optimise::{SCALE_AT, STATE, TAIL, UpdateState};
use crate::kernels::{batch, fold};
use crate::loss::Loss;
use crate::nn::{Pass, RunningStats};
use crate::ops;
use crate::tensor::{DType, Tensor};

/// The random stream of the pair loss's thresholds, far from those of dropout layers.
const TAU_STREAM: u32 = 1 << 20;

/// A run's state on the device.
pub(crate) struct State {
    /// Flat parameters.
    pub parameters: Buffer,
    /// First and second moments, perhaps how far a mean of the weights is from them, and the state of limits, one after the other.
    pub moments: Buffer,
    /// The sums of gradients and their norms, if `fold` makes them.
    pub sums: Option<Buffer>,
    /// Step and cursor, twice: each launch reads one pair and writes the other.
    pub control: Buffer,
    /// The epoch's upload: the optimiser's table, then the order of the rows, then what groups of parameters need.
    pub order: Buffer,
    /// Batch losses, then (at the next multiple of 64) the figures of the validation rows.
    pub report: Buffer,
    /// The best parameters so far.
    pub best: Buffer,
}

/// The training step of a run, and how it was made.
pub(crate) struct Plans {
    pub kind: StepKind,
    pub step: Plan,
    /// Words that the parts of a fused step pass to the update; 0 for a recorded step.
    pub gradient_words: usize,
    /// Number of outputs of the model.
    pub outputs: usize,
    /// The loss that the step minimises, unless the network has its own.
    loss: Loss,
    train: Rows,
}

impl State {
    pub(crate) fn new(setup: &Setup<'_>, parameters: &[f32]) -> Result<Self> {
        let device = setup.device;
        let total = setup.network.layout().total;
        if parameters.len() != total {
            let got = parameters.len();
            return Err(Error::new(format!("train: wrong number of flat parameters: got {got}, expected {total}")));
        }
        let rows = setup.data.train.rows(setup.data.targets);
        let words = order_words(setup.groups, setup.steps, rows);
        let order = device.tagged(Tag::Data, || device.buffer(words));
        let words: &[u32] = bytemuck::cast_slice(parameters);
        let bounds = setup.settings.bounds();
        // Every step of SAM needs norms.
        let layout = setup.network.layout();
        let mut moments = vec![0.0_f32; setup.settings.moment_words(layout)];
        let remembered = &mut moments[setup.settings.update_state_at(layout)..];
        let memory = UpdateState::initial(bounds.scale);
        for copy in [0, STATE] {
            memory.write(&mut remembered[copy..]);
        }
        remembered[SCALE_AT] = memory.scale;
        let is_folded = bounds.needs_fold() || setup.settings.gradients.sharpness.is_some();
        let zeros = || device.tagged(Tag::Gradients, || device.upload(&vec![0; fold::words_of(total)]));
        let sums = is_folded.then(zeros).transpose()?;
        let upload = |tag: Tag, words: &[u32]| device.tagged(tag, || device.upload(words));
        Ok(Self {
            parameters: upload(Tag::Parameters, words)?,
            moments: upload(Tag::Optimizer, bytemuck::cast_slice(&moments))?,
            sums,
            control: device.upload(&[0; 4])?,
            order,
            report: device.upload(&vec![0; figure_offset(setup.steps, FIGURES)])?,
            best: upload(Tag::Parameters, words)?,
        })
    }
}

impl Plans {
    pub(crate) fn new(setup: &Setup<'_>, state: &State) -> Result<Self> {
        let settings = setup.settings;
        let fused = setup.fused()?;
        let kind = match (settings.step, &fused) {
            (Some(kind), _) => kind,
            (None, Some(mlp)) if !settings.has_passes() && !setup.needs_own_norms() && fits(setup, mlp) => {
                StepKind::Fused
            }
            (None, _) => StepKind::Recorded,
        };
        let train = Rows::upload(setup, &setup.data.train)?;
        let loss = settings.curriculum.loss(&settings.loss, 0, None);
        let (step, outputs) = step(setup, state, kind, &train, &loss)?;
        let mlp = fused.filter(|_| kind == StepKind::Fused);
        let gradient_words = mlp.map_or(0, |mlp| gradient_words(setup, &fused_shape(setup, &mlp)));
        Ok(Self { kind, step, gradient_words, outputs, loss, train })
    }

    /// Minimises another loss from here on.
    pub(crate) fn turn_to(&mut self, loss: Loss, setup: &Setup<'_>, state: &State) -> Result<()> {
        if loss != self.loss {
            (self.step, _) = step(setup, state, self.kind, &self.train, &loss)?;
            self.loss = loss;
        }
        Ok(())
    }
}

/// The plan of a step, and the number of outputs of the model.
fn step(setup: &Setup<'_>, state: &State, kind: StepKind, rows: &Rows, loss: &Loss) -> Result<(Plan, usize)> {
    match (setup.fused()?, kind) {
        (Some(mlp), StepKind::Fused) => Ok((fused_step(setup, state, &mlp, rows, loss)?, 1)),
        _ => recorded_step(setup, state, rows, loss),
    }
}

/// Words of partial gradients for each row of a batch up to which the fused step is faster on the CPU than the recorded one, measured
/// for layers of 256, 512 and 1,024 units: the update reads all of them.
const GRADIENT_WORDS_PER_ROW: usize = 3000;

/// Whether the partial gradients of the fused step, one row per part, fit a binding of the device and its grid, and are worth reading.
fn fits(setup: &Setup<'_>, mlp: &Mlp) -> bool {
    let (shape, info) = (fused_shape(setup, mlp), setup.device.info());
    let words = gradient_words(setup, &shape);
    let rows = setup.settings.batch.min(setup.data.train.rows(setup.data.targets));
    let is_fast = !info.runs_cpu_path() || mlp.is_narrow() || words <= GRADIENT_WORDS_PER_ROW * rows;
    4 * words as u64 <= info.max_binding_bytes && shape.parts() <= 65_535 && is_fast
}

fn fused_shape(setup: &Setup<'_>, mlp: &Mlp) -> Fused {
    let rows = setup.data.train.rows(setup.data.targets);
    let (device, batch) = (setup.device, setup.settings.batch);
    let geometry = device.geometry(batch.min(rows));
    let shape = mlp.training(device.info(), geometry, [rows, batch], setup.steps, setup.data.targets);
    shape.drawing(setup.settings.seed, TAU_STREAM)
}

/// Words of the partial gradients and sums.
fn gradient_words(setup: &Setup<'_>, shape: &Fused) -> usize {
    shape.parts() * (setup.network.layout().total + TAIL)
}

/// Rows on the device.
pub(crate) struct Rows {
    pub x: Buffer,
    pub y: Buffer,
    pub count: usize,
}

impl Rows {
    pub(crate) fn upload(setup: &Setup<'_>, examples: &Examples) -> Result<Self> {
        let upload = |values| setup.device.tagged(Tag::Data, || setup.device.upload(bytemuck::cast_slice(values)));
        Ok(Self { x: upload(&examples.x)?, y: upload(&examples.y)?, count: examples.rows(setup.data.targets) })
    }
}

fn fused_step(setup: &Setup<'_>, state: &State, mlp: &Mlp, rows: &Rows, loss: &Loss) -> Result<Plan> {
    let device = setup.device;
    let shape = fused_shape(setup, mlp);
    // The kernels do not write the padding between tensors, and the update must find zeros there.
    let zeros = vec![0; gradient_words(setup, &shape)];
    let partials = device.tagged(Tag::Gradients, || device.upload(&zeros))?;
    let objective = loss.objective().ok_or_else(|| Error::internal("train: the fused step does not take the loss"))?;
    let outputs = setup.network.required_spec("train")?.outputs()?;
    let classes = device.upload(bytemuck::cast_slice(&class_weights(setup.settings, outputs)))?;
    let gradient = |weights: &Buffer| {
        let scratch = device.tagged(Tag::Activations, || device.buffer(shape.scratch_words(device.info())));
        let inputs = [&rows.x, &rows.y, &state.order, weights, &classes].map(Buffer::view);
        let outputs = [&state.control, &partials, &scratch].map(Buffer::view);
        let step = mlp::step(&shape, objective.clone(), inputs, outputs);
        device.labelled(Label::part("model"), || device.record(Command::Dispatch(step)));
        Ok(())
    };
    Ok(device.capture(|| update::record(setup, state, (&partials, shape.parts()), &gradient))?.0)
}

fn recorded_step(setup: &Setup<'_>, state: &State, rows: &Rows, loss: &Loss) -> Result<(Plan, usize)> {
    let zeros = vec![0; setup.network.layout().total + TAIL];
    let partials = setup.device.tagged(Tag::Gradients, || setup.device.upload(&zeros))?;
    let passes = setup.passes()?;
    let record = || record_step(setup, state, rows, loss, &partials);
    setup.device.tagged(Tag::Activations, || setup.device.capture_with(&passes, record))
}

/// What a recorded step would take, before it is planned.
pub(crate) fn outline(setup: &Setup<'_>, state: &State) -> Result<Outline> {
    let partials = setup.device.buffer(setup.network.layout().total + TAIL);
    let rows = Rows::upload(setup, &setup.data.train)?;
    let loss = setup.settings.curriculum.loss(&setup.settings.loss, 0, None);
    setup.device.outline(&setup.passes()?, || record_step(setup, state, &rows, &loss, &partials))
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
        write_gradients(setup, &setup.scaled(&loss, state)?, &parameters, &running, partials)?;
        copy(&loss, partials, layout.total);
        copy(&weight, partials, layout.total + 1);
        first.borrow_mut().get_or_insert((running, outputs.len()));
        Ok(())
    };
    update::record(setup, state, (partials, 1), &gradient)?;
    let (running, outputs) = first.into_inner().unwrap_or_default();
    // After the update, which would decay them like weights.
    for RunningStats { parameter, value } in running.iter().filter(|one| !setup.groups.frozen[one.parameter]) {
        copy(value, &state.parameters, layout.parameters[*parameter].offset);
    }
    Ok(outputs)
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
    let [x, y, weight] = [x, y, weight].map(Var::constant);
    Batch { x, y, weight }
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

/// Writes a tensor into a buffer from `offset`.
pub(crate) fn copy(from: &Var, to: &Buffer, offset: usize) {
    let target = View { buffer: to.clone(), offset, words: from.value().view().words };
    from.value().copy_into(&target);
}
