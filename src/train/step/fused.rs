//! The fused step: one launch fills the parts of the gradient, another updates. It takes perceptrons with or without a projective head.

use super::setup::{Setup, TAU_STREAM, class_weights};
use super::state::Rows;
use super::update::{self, Content, Filled};
use super::{Halves, Member};
use crate::device::{Command, Label, Passes, Tag, View};
use crate::error::{Error, Result};
use crate::kernels::mlp::{self, Fused, Mlp};
use crate::kernels::optimise::TAIL;
use crate::loss::Loss;
use crate::train::config::StepKind;
use crate::train::fits::check_outputs;

/// The model in the form of the fused step, if that takes model and loss. Errors if it does not but the configuration demands it.
pub(crate) fn model(setup: &Setup<'_>) -> Result<Option<Mlp>> {
    let settings = setup.settings;
    if settings.step == Some(StepKind::Fused) && needs_own_norms(setup) {
        return Err(Error::usage(
            "train: freeze: the fused step takes norms over frozen parameters as well: expected the recorded step",
        ));
    }
    let info = setup.device.info();
    let mlp = setup.network.fused(setup.device);
    let is_model_fine = mlp.is_some();
    let widest = settings.curriculum.widest(&settings.loss).objective();
    let is_taken = |mlp: &Mlp| widest.as_ref().is_some_and(|widest| mlp.takes(widest));
    let is_own = setup.network.has_own_loss() || setup.network.source().is_some();
    let taken = mlp.filter(|mlp| !is_own && is_taken(mlp));
    if let (Some(mlp), None) = (&taken, setup.network.spec()) {
        check_outputs(mlp.outputs(), settings, setup.data)?;
    }
    if settings.step != Some(StepKind::Fused) || taken.is_some() {
        return Ok(taken);
    }
    if widest.is_none() && !matches!(settings.loss, Loss::Pairs(_)) {
        let name = settings.loss.text();
        return Err(Error::usage(format!(
            "train: step: the fused step does not take loss \"{name}\": expected the recorded step"
        )));
    }
    Err(Error::new(if is_model_fine {
        "train: the fused step takes losses of pairs row by row; the terms bottom, finite and coverage are over groups of rows and need the recorded step".to_owned()
    } else {
        let widest = mlp::max_width(info);
        format!(
            "train: the fused step takes linear layers up to {widest} wide with one activation between them and maybe a projective head on top; this model needs the recorded step"
        )
    }))
}

/// Whether norms are taken of some of the gradients only: the fused step computes those of frozen parameters, too.
pub(crate) fn needs_own_norms(setup: &Setup<'_>) -> bool {
    let gradients = &setup.settings.gradients;
    let has_norms = gradients.bounds(1).needs_fold() || gradients.sharpness.is_some();
    has_norms && setup.groups.frozen.contains(&true)
}

/// Words of partial gradients for each row of a batch up to which the fused step is faster on the CPU than the recorded one, measured
/// for layers of 256, 512 and 1,024 units: the update reads all of them.
const GRADIENT_WORDS_PER_ROW: usize = 3000;

/// Whether the partial gradients of the fused step, one row per part, fit a binding of the device and its grid, and are worth reading.
pub(crate) fn fits(setup: &Setup<'_>, mlp: &Mlp) -> bool {
    let (shape, info) = (shape(setup, mlp), setup.device.info());
    let words = words_of(setup, &shape);
    let rows = setup.settings.batch.min(setup.data.train.rows(setup.data.targets));
    let is_fast = !info.runs_cpu_path() || mlp.is_narrow() || words <= GRADIENT_WORDS_PER_ROW * rows;
    4 * words as u64 <= info.max_binding_bytes && shape.parts() <= 65_535 && is_fast
}

/// Words that the parts of a step pass to the update.
pub(crate) fn gradient_words(setup: &Setup<'_>, mlp: &Mlp) -> usize {
    words_of(setup, &shape(setup, mlp))
}

fn shape(setup: &Setup<'_>, mlp: &Mlp) -> Fused {
    let rows = setup.data.train.rows(setup.data.targets);
    let (device, batch) = (setup.device, setup.settings.batch);
    let geometry = device.geometry(batch.min(rows));
    let shape = mlp.training(device.info(), geometry, [rows, batch], setup.steps, setup.data.targets);
    shape.drawing(setup.seed, TAU_STREAM)
}

/// Words of the partial gradients and sums.
fn words_of(setup: &Setup<'_>, shape: &Fused) -> usize {
    shape.parts() * (setup.network.layout().total + TAIL)
}

pub(crate) fn step(members: &[Member<'_>], mlp: &Mlp, rows: &Rows) -> Result<Halves> {
    let setup = &members[0].setup;
    let device = setup.device;
    let shapes: Vec<Fused> = members.iter().map(|member| shape(&member.setup, mlp)).collect();
    // The kernels do not write the padding between tensors, and the update must find zeros there.
    let zeros = vec![0; words_of(setup, &shapes[0])];
    let partials = device.tagged(Tag::Gradients, || device.upload(&zeros))?.view();
    let classes = device.upload(bytemuck::cast_slice(&class_weights(setup.settings, mlp.outputs())))?;
    let gradient = |at: usize, weights: &View| {
        let (member, shape) = (&members[at], &shapes[at]);
        let goal = member.loss.objective();
        let goal = goal.ok_or_else(|| Error::internal("train: the fused step does not take the loss"))?;
        let scratch = device.tagged(Tag::Activations, || device.buffer(shape.scratch_words(device.info())));
        let order = member.state.order.clone();
        let inputs = [rows.x.view(), rows.y.view(), order, weights.clone(), classes.view()];
        let outputs = [member.state.control.clone(), partials.clone(), scratch.view()];
        let step = mlp::step(shape, goal, inputs, outputs);
        device.labelled(Label::part("model"), || device.record(Command::Dispatch(step)));
        Ok(Content::Gradients)
    };
    let filled = Filled { partials: &partials, parts: shapes[0].parts(), fill: &gradient };
    let (step, update) = update::plans(members, &Passes::default(), &filled, &|_| ())?;
    Ok(Halves { step, update, outputs: 1 })
}
