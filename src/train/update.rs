//! The launches of a step after its gradient: sums and norms where limits need them, and the update. A step that looks for sharper places takes the
//! gradient twice; an optimiser whose steps depend on the norms of tensors updates in two launches.

pub(crate) mod factored;
mod orthogonal;

use super::setup::Setup;
use super::step::State;
use crate::device::{Buffer, Command, Dispatch, Label, Tag, View};
use crate::error::Result;
use crate::kernels::optimise::{self, Rule, Sizes, TAIL, UPDATE_WORDS};
use crate::kernels::{fold, tensor_norms};
use crate::optim::Motion;

/// Records one step: `gradient` fills the parts of the gradient at some weights, then the update, which ends every step.
pub(crate) fn record(
    setup: &Setup<'_>,
    state: &State,
    (partials, parts): (&Buffer, usize),
    gradient: &dyn Fn(&Buffer) -> Result<()>,
) -> Result<()> {
    let (device, total) = (setup.device, setup.network.layout().total);
    let rule = setup.groups.rule(setup.settings);
    let sizes = Sizes {
        total,
        parts,
        steps: setup.steps,
        group: setup.settings.accumulate,
        rows: setup.data.train.rows(setup.data.targets),
        tables: setup.groups.tables.len(),
        folded: total,
        figures: fold::workgroups(total),
    };
    let update = Update { setup, state, sizes };
    gradient(&state.parameters)?;
    let mut report = state.report.clone();
    if let Some(distance) = setup.settings.gradients.sharpness {
        let shifted = device.tagged(Tag::Parameters, || device.upload(&vec![0; total]))?;
        let aside = Aside::new(setup, state)?;
        device.record(Command::Copy { from: state.parameters.view(), to: shifted.view() });
        let outputs = [&shifted, &aside.moments, &aside.control, &report].map(Buffer::view);
        update.launch(&rule.uphill(distance as f32), &update.folded(partials), outputs);
        gradient(&shifted)?;
        report = aside.report;
    }
    let gradients = if rule.bounds.needs_fold() { update.folded(partials) } else { (partials.clone(), sizes) };
    if rule.bounds.limit.is_by_tensor() {
        update.norms_of_tensors(&gradients);
    }
    let made = Made { rule: &rule, gradients: &gradients, report: &report };
    let moved = || match setup.settings.optimizer.motion() {
        Motion::ByValue => {
            let outputs = [&state.parameters, &state.moments, &state.control, &report].map(Buffer::view);
            update.launch(&rule, &gradients, outputs);
            Ok(())
        }
        Motion::ByTensor => by_tensor(&update, &made),
        Motion::Orthogonal => orthogonal::record(&update, &made),
        Motion::Factored => factored::record(&update, &made),
    };
    device.tagged(Tag::Optimizer, || device.labelled(Label::part("update"), moved))
}

/// What the launches of an update start from.
struct Made<'m> {
    rule: &'m Rule,
    /// The parts of the gradient, or its sums with their norms.
    gradients: &'m (Buffer, Sizes),
    report: &'m Buffer,
}

/// Directions first, then the weights move along them as far as the norms of both say.
fn by_tensor(update: &Update<'_>, made: &Made<'_>) -> Result<()> {
    let (Update { setup, state, sizes }, Made { rule, gradients, report }) = (update, made);
    let (device, total) = (setup.device, sizes.total);
    // The directions, the weights, and a tail that says they are of one row.
    let words: Vec<f32> = (0..2 * total + TAIL).map(|at| if at == 2 * total + 1 { 1.0 } else { 0.0 }).collect();
    let both = device.upload(bytemuck::cast_slice(&words))?;
    let part = |offset: usize| View { buffer: both.clone(), offset, words: total };
    for offset in [0, total] {
        device.record(Command::Copy { from: state.parameters.view(), to: part(offset) });
    }
    let aside = Aside::new(setup, state)?;
    let [moments, control, report] = [&state.moments, &aside.control, report].map(Buffer::view);
    update.launch(rule, gradients, [part(0), moments, control, report]);
    let sums = device.upload(&vec![0; fold::words_of(2 * total)])?;
    let views = [&both, &state.control, &sums].map(Buffer::view);
    update.record(fold::dispatch(2 * total, 1, 1, views));
    let sizes = Sizes { parts: 1, folded: 2 * total, figures: fold::workgroups(2 * total), ..*sizes };
    let both = (sums, sizes);
    update.norms_of_tensors(&both);
    let outputs = [&state.parameters, &aside.moments, &state.control, &aside.report].map(Buffer::view);
    update.launch(&rule.along_directions(), &both, outputs);
    Ok(())
}

struct Update<'u> {
    setup: &'u Setup<'u>,
    state: &'u State,
    sizes: Sizes,
}

impl Update<'_> {
    /// Records the sums and the norms of the gradients.
    fn folded(&self, partials: &Buffer) -> (Buffer, Sizes) {
        let Sizes { total, parts, group, .. } = self.sizes;
        let sums = self.state.sums.as_ref().expect("a step with norms has sums");
        let views = [partials, &self.state.control, sums].map(Buffer::view);
        self.record(fold::dispatch(total, parts, group, views));
        (sums.clone(), Sizes { parts: 1, ..self.sizes })
    }

    /// Room for so many words in place of gradients, for a launch that follows this rule: of weight 1, with the figures of the gradients, so that it is
    /// made if and only if the update is.
    fn in_place(&self, words: usize, made: &Made<'_>) -> Result<(Buffer, Sizes)> {
        let (device, total) = (self.setup.device, self.sizes.total);
        let figures = if made.rule.bounds.needs_fold() { 4 * fold::workgroups(total) } else { 0 };
        let end = words + TAIL + 4 * (words / fold::LINE);
        let mut content = vec![0.0_f32; end + figures];
        content[words + 1..words + 3].fill(1.0);
        let buffer = device.upload(bytemuck::cast_slice(&content))?;
        if figures > 0 {
            let offset = total + TAIL + 4 * (total / fold::LINE);
            let from = View { buffer: made.gradients.0.clone(), offset, words: figures };
            device.record(Command::Copy { from, to: View { buffer: buffer.clone(), offset: end, words: figures } });
        }
        Ok((buffer, Sizes { total: words, parts: 1, folded: words, figures: fold::workgroups(total), ..self.sizes }))
    }

    /// Records the norms of tensors, among the sums.
    fn norms_of_tensors(&self, (sums, sizes): &(Buffer, Sizes)) {
        self.record(tensor_norms::dispatch(sizes, self.state.order.view(), sums.view()));
    }

    fn launch(&self, rule: &Rule, (gradients, sizes): &(Buffer, Sizes), outputs: [View; 4]) {
        let inputs = [&self.state.order, gradients].map(Buffer::view);
        let dispatch = optimise::dispatch(self.setup.device.info(), rule, *sizes, inputs, outputs);
        self.record(dispatch);
    }

    fn record(&self, dispatch: Dispatch) {
        let device = self.setup.device;
        device.labelled(Label::part("update"), || device.record(Command::Dispatch(dispatch)));
    }
}

/// What a launch writes that is not the last of its step: its counters are a copy, and nobody reads the rest.
struct Aside {
    moments: Buffer,
    control: Buffer,
    report: Buffer,
}

impl Aside {
    fn new(setup: &Setup<'_>, state: &State) -> Result<Self> {
        let device = setup.device;
        let aside = Self {
            moments: device.upload(&[0; UPDATE_WORDS])?,
            control: device.upload(&[0; 4])?,
            report: device.upload(&vec![0; setup.steps])?,
        };
        device.record(Command::Copy { from: state.control.view(), to: aside.control.view() });
        Ok(aside)
    }

    /// With what updates remember as well, for a launch that is made if and only if the update is.
    fn with_memory(setup: &Setup<'_>, state: &State) -> Result<Self> {
        let aside = Self::new(setup, state)?;
        let offset = setup.settings.update_state_at(setup.network.layout());
        let from = View { buffer: state.moments.clone(), offset, words: UPDATE_WORDS };
        setup.device.record(Command::Copy { from, to: aside.moments.view() });
        Ok(aside)
    }
}
