//! An update whose steps depend on the norms of tensors: directions first, then the weights move along them as far as the norms of both say.

use super::launch::{Aside, Gradients, Made, Update};
use crate::device::{Command, View};
use crate::error::Result;
use crate::kernels::fold;
use crate::kernels::optimise::{Sizes, TAIL};

pub(super) fn record(update: &Update<'_>, made: &Made<'_>) -> Result<()> {
    let (Update { setup, state, sizes }, Made { rule, gradients, report }) = (update, made);
    let (device, total) = (setup.device, sizes.total);
    // The directions, the weights, and a tail that says they are of one row.
    let words: Vec<f32> = (0..2 * total + TAIL).map(|at| if at == 2 * total + 1 { 1.0 } else { 0.0 }).collect();
    let both = device.upload(bytemuck::cast_slice(&words))?.view();
    let part = |offset: usize| both.part(offset, total);
    for offset in [0, total] {
        device.record(Command::Copy { from: state.parameters.clone(), to: part(offset) });
    }
    let aside = Aside::new(setup, state)?;
    let [moments, control, report] = [&state.moments, &aside.control, report].map(View::clone);
    update.launch(rule, gradients, [part(0), moments, control, report]);
    let sums = device.upload(&vec![0; fold::words_of(2 * total)])?.view();
    let views = [&both, &state.control, &sums].map(View::clone);
    update.record(fold::dispatch(2 * total, 1, 1, views));
    let sizes = Sizes { parts: 1, folded: 2 * total, figures: fold::workgroups(2 * total), ..*sizes };
    let both = Gradients { words: sums, sizes };
    update.norms_of_tensors(&both);
    let outputs = [&state.parameters, &aside.moments, &state.control, &aside.report].map(View::clone);
    update.launch(&rule.along_directions(), &both, outputs);
    Ok(())
}
