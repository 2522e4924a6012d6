//! The launches of a step after its gradient: sums and norms where limits need them, and the update. A step that looks for sharper places takes the
//! gradient twice; an optimiser whose steps depend on the norms of tensors updates in two launches.

mod by_tensor;
mod factored;
mod launch;
mod orthogonal;

use launch::{Aside, Gradients, Made, Update};

use super::setup::Setup;
use super::state::State;
use crate::device::{Buffer, Command, Label, Tag};
use crate::error::Result;
use crate::kernels::fold;
use crate::kernels::optimise::Sizes;
use crate::optim::Motion;

/// Records one step: `gradient` fills so many parts of the gradient at some weights, then the update, which ends every step.
pub(crate) fn record(
    setup: &Setup<'_>,
    state: &State,
    partials: &Buffer,
    parts: usize,
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
    let plain = || Gradients { words: partials.clone(), sizes };
    let gradients = if rule.bounds.needs_fold() { update.folded(partials) } else { plain() };
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
        Motion::ByTensor => by_tensor::record(&update, &made),
        Motion::Orthogonal => orthogonal::record(&update, &made),
        Motion::Factored => factored::record(&update, &made),
    };
    device.tagged(Tag::Optimizer, || device.labelled(Label::part("update"), moved))
}
