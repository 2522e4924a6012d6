//! The launches of a step after its gradient: sums and norms where limits need them, and the update. A step that looks for sharper places takes the
//! gradient twice; an optimiser whose steps depend on the norms of tensors updates in two launches.

mod by_tensor;
mod launch;
mod of_tensors;

use launch::{Aside, Gradients, Made, Update};

use super::Member;
use crate::device::{Command, Label, Passes, Plan, Tag, View};
use crate::error::{Error, Result};
use crate::kernels::fold;
use crate::kernels::optimise::{Rule, Sizes, TAIL};
use crate::optim::Motion;

/// What fills the parts of a step, and how many there are.
pub(crate) struct Filled<'f> {
    pub partials: &'f View,
    pub parts: usize,
    /// Fills them for the model of this number, at some weights.
    pub fill: &'f dyn Fn(usize, &View) -> Result<Content>,
}

/// What the parts of a step hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// Sums of gradients.
    Gradients,
    /// New values of the parameters, of weight 1.
    Parameters,
}

/// The plan of a step of each model, whose parts are filled by `filled`, and which does `then` at its end; with a hook, which sees one model, two plans.
pub(crate) fn plans(
    members: &[Member<'_>],
    passes: &Passes,
    filled: &Filled<'_>,
    then: &dyn Fn(usize),
) -> Result<(Plan, Option<Plan>)> {
    let Member { setup, state, .. } = &members[0];
    let device = setup.device;
    let Some(gathered) = &state.gathered else {
        let whole =
            || members.iter().enumerate().try_for_each(|(at, member)| record(member, at, filled).map(|()| then(at)));
        return Ok((device.capture_with(passes, whole)?.0, None));
    };
    if setup.settings.gradients.sharpness.is_some() {
        return Err(Error::usage("hook_with: got sharpness, which takes the gradients of a step twice, expected none"));
    }
    let total = setup.network.layout().total;
    let sums = device.tagged(Tag::Gradients, || device.upload(&vec![0; fold::words_of(total)]))?;
    let before = || {
        if (filled.fill)(0, &state.parameters)? == Content::Parameters {
            return Err(Error::usage("hook_with: got a source with its own update, which has no gradients"));
        }
        let views = [filled.partials.clone(), state.control.clone(), sums.view()];
        device.record(Command::Dispatch(fold::dispatch(total, filled.parts, 1, views)));
        let from = View { words: total + TAIL, ..sums.view() };
        device.record(Command::Copy { from, to: gathered.view() });
        then(0);
        Ok(())
    };
    let before = device.capture_with(passes, before)?.0;
    let gathered = gathered.view();
    let again = Filled { partials: &gathered, parts: 1, fill: &|_, _| Ok(Content::Gradients) };
    Ok((before, Some(device.capture(|| record(&members[0], 0, &again))?.0)))
}

/// Records one step of the model of this number: the parts of the gradient at some weights, then the update, which ends every step.
pub(crate) fn record(member: &Member<'_>, at: usize, filled: &Filled<'_>) -> Result<()> {
    let Filled { partials, parts, fill } = *filled;
    let Member { setup, state, .. } = member;
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
    let content = fill(at, &state.parameters)?;
    if content == Content::Parameters {
        return move_to(&update, &rule, partials);
    }
    let mut report = state.report.clone();
    if let Some(distance) = setup.settings.gradients.sharpness {
        let shifted = device.tagged(Tag::Parameters, || device.upload(&vec![0; total]))?;
        let aside = Aside::new(setup, state)?;
        device.record(Command::Copy { from: state.parameters.clone(), to: shifted.view() });
        let outputs = [shifted.view(), aside.moments, aside.control, report];
        update.launch(&rule.uphill(distance as f32), &update.folded(partials), outputs);
        fill(at, &shifted.view())?;
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
            let outputs = [&state.parameters, &state.moments, &state.control, &report].map(View::clone);
            update.launch(&rule, &gradients, outputs);
            Ok(())
        }
        Motion::ByTensor => by_tensor::record(&update, &made),
        Motion::OfTensors(motion) => of_tensors::record(&update, &made, motion),
    };
    device.tagged(Tag::Optimizer, || device.labelled(Label::part("update"), moved))
}

/// The update by new values of the parameters in place of gradients.
fn move_to(update: &Update<'_>, rule: &Rule, partials: &View) -> Result<()> {
    let Update { setup, state, sizes } = update;
    let settings = setup.settings;
    let used = [
        ("a limit of gradients, or one that watches or leaves out", rule.bounds.needs_fold()),
        ("accumulate", settings.accumulate > 1),
        ("mean_decay", settings.gradients.mean_decay.is_some()),
        ("an optimizer that keeps a mean of the weights", rule.has_mean()),
        ("sharpness", settings.gradients.sharpness.is_some()),
    ];
    if let Some((name, _)) = used.iter().find(|(_, is_used)| *is_used) {
        return Err(Error::usage(format!("train: got {name}, which a source with its own update has no use for")));
    }
    let moved = Gradients { words: partials.clone(), sizes: *sizes };
    let outputs = [&state.parameters, &state.moments, &state.control, &state.report].map(View::clone);
    update.launch(&rule.following(|_, moved, _| moved), &moved, outputs);
    Ok(())
}
