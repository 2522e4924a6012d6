//! The plans of a run: one training step (fused or recorded) and the validation loss.
//! Both steps share the buffers and the update; only what fills the partial gradients differs.

use super::config::{StepKind, TrainerConfig};
use super::data::{Data, Examples};
use super::predictor::{decoded, predict};
use crate::autograd::Var;
use crate::device::{Buffer, Command, Device, Plan, View};
use crate::error::{Error, Result};
use crate::kernels::batch;
use crate::kernels::cast::{self, Conversion};
use crate::kernels::mlp::{self, Fused, Mlp, Precision};
use crate::kernels::optimise::{self, TAIL};
use crate::kernels::strict;
use crate::loss::{self, Loss};
use crate::nn::{Head, Layout, Pass, RunningStats, Spec, learn};
use crate::ops;
use crate::tensor::{DType, Tensor};

/// The stream that thresholds are drawn from, far from those of dropout layers.
const TAU_STREAM: u32 = 1 << 20;
/// Figures of the validation rows in the report, each at a multiple of `TAIL`: loss and weight sums; of pairs also the pairs decoded and
/// the least and the mean size of a denominator.
const FIGURES: usize = 5;

/// A run's state on the device.
pub(super) struct State {
    /// Flat parameters.
    pub parameters: Buffer,
    /// First and second moments, one after the other, and what groups of steps keep.
    pub moments: Buffer,
    /// Step and cursor, twice: each launch reads one pair and writes the other.
    pub control: Buffer,
    /// The epoch's upload.
    pub order: Buffer,
    /// Batch losses, then (at the next multiple of 64) validation loss and weight sums.
    pub report: Buffer,
    /// The best parameters so far.
    pub best: Buffer,
}

/// What a run replays.
pub(super) struct Plans {
    pub kind: StepKind,
    pub step: Plan,
    pub validate: Plan,
    /// Words of what its parts give to the update, where it is the fused one.
    pub gradient_words: usize,
    /// What the step minimises.
    loss: Loss,
    train: Rows,
}

/// Everything the plans are made from.
pub(super) struct Setup<'a> {
    pub device: &'a Device,
    pub spec: &'a Spec,
    pub layout: &'a Layout,
    pub settings: &'a TrainerConfig,
    pub data: &'a Data,
    pub steps: usize,
}

impl State {
    pub(super) fn new(setup: &Setup<'_>, parameters: &[f32]) -> Result<Self> {
        let device = setup.device;
        let total = setup.layout.total;
        let rows = setup.data.train.rows(setup.data.targets);
        let order = device.buffer(super::batches::ROW_WORDS * setup.steps + rows);
        let words: &[u32] = bytemuck::cast_slice(parameters);
        Ok(Self {
            parameters: device.upload(words)?,
            moments: device.upload(&vec![0; optimise::moment_words(total, setup.settings.accumulate)])?,
            control: device.upload(&[0; 4])?,
            order,
            report: device.upload(&vec![0; validation_place(setup.steps, FIGURES)])?,
            best: device.upload(words)?,
        })
    }
}

/// Where a figure of the validation rows lies in the report.
pub(super) fn validation_place(steps: usize, figure: usize) -> usize {
    steps.next_multiple_of(TAIL) + figure * TAIL
}

impl Plans {
    pub(super) fn new(setup: &Setup<'_>, state: &State) -> Result<Self> {
        let fused = Mlp::of(setup.spec, setup.layout);
        let settings = setup.settings;
        let taken = fused.as_ref().filter(|mlp| mlp.takes(&settings.curriculum.widest(&settings.loss).objective()));
        let kind = match (setup.settings.step, taken) {
            (Some(StepKind::Fused), None) => return Err(refusal(fused.is_some())),
            (Some(kind), _) => kind,
            (None, Some(mlp)) if fits(setup, mlp) => StepKind::Fused,
            (None, _) => StepKind::Recorded,
        };
        let train = Rows::upload(setup, &setup.data.train)?;
        let loss = settings.curriculum.loss(&settings.loss, 0, None);
        let step = step(setup, state, kind, &train, &loss)?;
        let validate = validation(setup, state, fused.as_ref())?;
        let mlp = fused.filter(|_| kind == StepKind::Fused);
        let gradient_words = mlp.map_or(0, |mlp| gradient_words(setup, &fused_shape(setup, &mlp)));
        Ok(Self { kind, step, validate, gradient_words, loss, train })
    }

    /// Minimises another loss from here on.
    pub(super) fn turn_to(&mut self, loss: Loss, setup: &Setup<'_>, state: &State) -> Result<()> {
        if loss != self.loss {
            self.step = step(setup, state, self.kind, &self.train, &loss)?;
            self.loss = loss;
        }
        Ok(())
    }
}

fn step(setup: &Setup<'_>, state: &State, kind: StepKind, rows: &Rows, loss: &Loss) -> Result<Plan> {
    match (Mlp::of(setup.spec, setup.layout), kind) {
        (Some(mlp), StepKind::Fused) => fused_step(setup, state, &mlp, rows, loss),
        _ => recorded_step(setup, state, rows, loss),
    }
}

/// Why the fused step was refused: for the loss, where the model fits.
fn refusal(is_model_fine: bool) -> Error {
    Error::new(if is_model_fine {
        "train: the fused step takes losses of pairs row by row; the terms bottom, finite and coverage are over groups of rows and need the recorded step"
    } else {
        "train: the fused step takes linear layers up to 128 wide with one activation between them and maybe a projective head on top; this model needs the recorded step"
    })
}

/// Whether the partial gradients of the fused step, one row per part, fit a binding of the device and its grid.
fn fits(setup: &Setup<'_>, mlp: &Mlp) -> bool {
    let shape = fused_shape(setup, mlp);
    let bytes = 4 * gradient_words(setup, &shape) as u64;
    bytes <= setup.device.info().max_binding_bytes && shape.parts() <= 65_535
}

fn fused_shape(setup: &Setup<'_>, mlp: &Mlp) -> Fused {
    let rows = setup.data.train.rows(setup.data.targets);
    let shape = mlp.training(setup.device.info(), rows, setup.settings.batch, setup.steps, setup.data.targets);
    shape.drawing(setup.settings.seed, TAU_STREAM)
}

/// The partial gradients and sums.
fn gradient_words(setup: &Setup<'_>, shape: &Fused) -> usize {
    shape.parts() * (setup.layout.total + TAIL)
}

/// Rows on the device.
struct Rows {
    x: Buffer,
    y: Buffer,
    classes: Buffer,
    count: usize,
}

impl Rows {
    fn upload(setup: &Setup<'_>, examples: &Examples) -> Result<Self> {
        let (device, settings) = (setup.device, setup.settings);
        let outputs = setup.spec.outputs()?;
        let classes =
            if settings.class_weights.is_empty() { vec![1.0_f32; outputs] } else { settings.class_weights.clone() };
        Ok(Self {
            x: device.upload(bytemuck::cast_slice(&examples.x))?,
            y: device.upload(bytemuck::cast_slice(&examples.y))?,
            classes: device.upload(bytemuck::cast_slice(&classes))?,
            count: examples.rows(setup.data.targets),
        })
    }
}

fn fused_step(setup: &Setup<'_>, state: &State, mlp: &Mlp, rows: &Rows, loss: &Loss) -> Result<Plan> {
    let device = setup.device;
    let shape = fused_shape(setup, mlp);
    // The kernels leave the padding between tensors alone, and the update must find zeros there.
    let partials = device.upload(&vec![0; gradient_words(setup, &shape)])?;
    let record = || {
        let scratch = device.buffer(shape.scratch_words(device.info()));
        let inputs = [&rows.x, &rows.y, &state.order, &state.parameters, &rows.classes].map(Buffer::view);
        let outputs = [&state.control, &partials, &scratch].map(Buffer::view);
        device.record(Command::Dispatch(mlp::step(&shape, loss.objective(), inputs, outputs)));
        update(setup, state, &partials, shape.parts());
        Ok(())
    };
    Ok(device.capture(record)?.0)
}

/// The update, which ends every step.
fn update(setup: &Setup<'_>, state: &State, partials: &Buffer, parts: usize) {
    let inputs = [state.order.view(), partials.view()];
    let outputs = [&state.parameters, &state.moments, &state.control, &state.report].map(Buffer::view);
    let group = setup.settings.accumulate;
    let sizes = optimise::Sizes { total: setup.layout.total, parts, steps: setup.steps, group };
    setup.device.record(Command::Dispatch(optimise::dispatch(
        setup.device.info(),
        &setup.settings.optimizer.rule(),
        sizes,
        inputs,
        outputs,
    )));
}

fn recorded_step(setup: &Setup<'_>, state: &State, rows: &Rows, loss: &Loss) -> Result<Plan> {
    let device = setup.device;
    let (batch, total) = (setup.settings.batch.min(rows.count), setup.layout.total);
    let (inputs, targets) = (setup.data.inputs, setup.data.targets);
    let partials = device.upload(&vec![0; total + TAIL])?;
    let class_weights = &rows.classes;
    let record = || {
        let floats = |columns| Tensor::empty(device, [batch, columns], DType::F32);
        let (x, y, weights) = (floats(inputs), floats(targets), floats(1));
        let sources = [&rows.x, &rows.y, &state.order].map(Buffer::view);
        let results = batch::Outputs {
            control: state.control.view(),
            x: x.view().clone(),
            y: y.view().clone(),
            weight: weights.view().clone(),
        };
        let [rows_x, rows_y, order] = sources;
        let sizes = [rows.count, batch, setup.steps, inputs, targets].map(|size| size as u32);
        let [rows, batch, steps, inputs, targets] = sizes;
        let sizes = batch::Params { rows, batch, steps, inputs, targets };
        device.record(Command::Dispatch(batch::dispatch(sizes, rows_x, rows_y, order, results)));
        let parameters = setup.layout.leaves(device, &state.parameters);
        let control = Tensor::over(device, state.control.view(), [4]);
        let (y, weights) = (Var::constant(y), Var::constant(weights));
        let (settings, present) = (setup.settings, weights.clone());
        let mode = Pass::Train { seed: settings.seed, control, policies: settings.policies.clone(), present };
        let (z, seen) = learn(setup.spec, &parameters, &Var::constant(x), &mode);
        let classes = Var::constant(Tensor::over(device, class_weights.view(), [1, class_weights.words()]));
        let drawn = |[low, high]: [f32; 2]| match &mode {
            Pass::Train { seed, control, .. } if low < high => {
                let share = ops::uniform_each_step([1], *seed, TAU_STREAM, control);
                ops::fused(&[&share], |v| v[0] * (high - low) + low)
            }
            _ => Var::constant(Tensor::scalar(device, low)),
        };
        let (loss, weight) = loss::sums(loss, &z, &y, &weights, &classes, &drawn);
        let gradients = ops::grad(&loss, &parameters.iter().collect::<Vec<_>>())?;
        for (at, (parameter, gradient)) in setup.layout.parameters.iter().zip(gradients).enumerate() {
            if seen.iter().any(|seen| seen.parameter == at) {
                continue;
            }
            let gradient =
                gradient.ok_or_else(|| Error::new(format!("train: the loss does not depend on {}", parameter.name)))?;
            copy(&gradient, &partials, parameter.offset);
        }
        copy(&loss, &partials, total);
        copy(&weight, &partials, total + 1);
        update(setup, state, &partials, 1);
        // After the update, which decays what it takes for weights.
        for RunningStats { parameter, value } in &seen {
            copy(value, &state.parameters, setup.layout.parameters[*parameter].offset);
        }
        Ok(())
    };
    Ok(device.capture(record)?.0)
}

/// Writes a tensor into a buffer from `offset`.
fn copy(from: &Var, to: &Buffer, offset: usize) {
    let target = View { buffer: to.clone(), offset, words: from.value().view().words };
    from.value().copy_into(&target);
}

/// The validation loss and weight sums, written behind the batch losses of the report.
fn validation(setup: &Setup<'_>, state: &State, fused: Option<&Mlp>) -> Result<Plan> {
    let device = setup.device;
    // Without rows held back the loss after the epoch's updates is watched on the training rows themselves: what an epoch
    // reports as its training loss is from before each update, and says nothing of the weights it leaves.
    let data = setup.data;
    let watched = if data.validation.y.is_empty() { &data.train } else { &data.validation };
    let rows = Rows::upload(setup, watched)?;
    let record = || {
        let fused = fused.map(|mlp| (mlp, Precision::F32));
        let z = predict(setup.spec, setup.layout, fused, device, &state.parameters, &rows.x, rows.count)?;
        let tensor = |buffer: &Buffer, columns| {
            Var::constant(Tensor::over(device, buffer.view(), [buffer.words() / columns, columns]))
        };
        let ones = ops::broadcast_to(&Var::constant(Tensor::scalar(device, 1.0)), &[rows.count, 1].into());
        let classes = tensor(&rows.classes, rows.classes.words());
        let y = tensor(&rows.y, setup.data.targets);
        let middle = |[low, high]: [f32; 2]| Var::constant(Tensor::scalar(device, f32::midpoint(low, high)));
        let z = Var::constant(z);
        let (loss, weight) = loss::sums(&setup.settings.loss, &z, &y, &ones, &classes, &middle);
        let mut figures = vec![loss, weight];
        if let Some(head) = setup.spec.head() {
            figures.extend(watched_pairs(device, head, &z)?);
        }
        for (at, figure) in figures.iter().enumerate() {
            copy(figure, &state.report, validation_place(setup.steps, at));
        }
        Ok(())
    };
    Ok(device.capture(record)?.0)
}

/// The share of pairs that are decoded, and the least and the mean size of a denominator.
fn watched_pairs(device: &Device, head: &Head, z: &Var) -> Result<[Var; 3]> {
    let (_, q) = loss::pairs::halves(z);
    // By the launch that predictions are decoded with: what is counted here is what will be given there.
    let planes = decoded(device, head, z.value(), (&[], &[]))?.planes;
    let bottoms = Tensor::empty(device, q.shape().clone(), DType::F32);
    let count = bottoms.len();
    let plane = View { words: strict::plane_words(count), ..planes };
    bottoms.launch(cast::dispatch(Conversion::BitToFloat, count as u32, plane, bottoms.view().clone()));
    let is_given = ops::fused(&[&Var::constant(bottoms)], |v| 1.0 - v[0]);
    let size = ops::abs(&q);
    let least = ops::neg(&ops::max(&ops::neg(&size), 0..2));
    Ok([ops::mean(&is_given, 0..2), least, ops::mean(&size, 0..2)])
}
