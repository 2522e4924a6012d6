//! The launches that updates are made of: what they start from, sums and norms of gradients, and the update itself.

use crate::device::{Command, Dispatch, Label, View};
use crate::error::Result;
use crate::kernels::optimise::{self, Rule, Sizes, TAIL, UPDATE_WORDS};
use crate::kernels::{fold, tensor_norms};
use crate::train::step::setup::Setup;
use crate::train::step::state::State;

/// What an update reads in place of gradients, and its sizes.
pub(super) struct Gradients {
    /// The parts of the gradient, its sums with their norms, or what moves instead.
    pub words: View,
    pub sizes: Sizes,
}

/// What the launches of an update start from.
pub(super) struct Made<'m> {
    pub rule: &'m Rule,
    pub gradients: &'m Gradients,
    pub report: &'m View,
}

/// Where updates are recorded.
pub(super) struct Update<'u> {
    pub setup: &'u Setup<'u>,
    pub state: &'u State,
    pub sizes: Sizes,
}

impl Update<'_> {
    /// Records the sums and the norms of the gradients.
    pub(super) fn folded(&self, partials: &View) -> Gradients {
        let Sizes { total, parts, group, .. } = self.sizes;
        let sums = self.state.sums.as_ref().expect("a step with norms has sums");
        let views = [partials, &self.state.control, sums].map(View::clone);
        self.record(fold::dispatch(total, parts, group, views));
        Gradients { words: sums.clone(), sizes: Sizes { parts: 1, ..self.sizes } }
    }

    /// Room for so many words in place of gradients, for a launch that follows this rule: of weight 1, with the figures of the gradients, so that it is
    /// made if and only if the update is.
    pub(super) fn in_place(&self, words: usize, made: &Made<'_>) -> Result<Gradients> {
        let (device, total) = (self.setup.device, self.sizes.total);
        let figures = if made.rule.bounds.needs_fold() { 4 * fold::workgroups(total) } else { 0 };
        let end = words + TAIL + 4 * (words / fold::LINE);
        let mut content = vec![0.0_f32; end + figures];
        content[words + 1..words + 3].fill(1.0);
        let buffer = device.upload(bytemuck::cast_slice(&content))?.view();
        if figures > 0 {
            let offset = total + TAIL + 4 * (total / fold::LINE);
            let from = made.gradients.words.part(offset, figures);
            device.record(Command::Copy { from, to: buffer.part(end, figures) });
        }
        let sizes = Sizes { total: words, parts: 1, folded: words, figures: fold::workgroups(total), ..self.sizes };
        Ok(Gradients { words: buffer, sizes })
    }

    /// Records the norms of tensors, among the sums.
    pub(super) fn norms_of_tensors(&self, sums: &Gradients) {
        self.record(tensor_norms::dispatch(&sums.sizes, self.state.order.clone(), sums.words.clone()));
    }

    /// Records an update by a rule.
    pub(super) fn launch(&self, rule: &Rule, gradients: &Gradients, outputs: [View; 4]) {
        let inputs = [&self.state.order, &gradients.words].map(View::clone);
        let dispatch = optimise::dispatch(self.setup.device.info(), rule, gradients.sizes, inputs, outputs);
        self.record(dispatch);
    }

    pub(super) fn record(&self, dispatch: Dispatch) {
        let device = self.setup.device;
        device.labelled(Label::part("update"), || device.record(Command::Dispatch(dispatch)));
    }
}

/// What a launch writes that is not the last of its step: its counters are a copy, and nobody reads the rest.
pub(super) struct Aside {
    pub moments: View,
    pub control: View,
    pub report: View,
}

impl Aside {
    pub(super) fn new(setup: &Setup<'_>, state: &State) -> Result<Self> {
        let device = setup.device;
        let aside = Self {
            moments: device.upload(&[0; UPDATE_WORDS])?.view(),
            control: device.upload(&[0; 4])?.view(),
            report: device.upload(&vec![0; setup.steps])?.view(),
        };
        device.record(Command::Copy { from: state.control.clone(), to: aside.control.clone() });
        Ok(aside)
    }

    /// With what updates remember as well, for a launch that is made if and only if the update is.
    pub(super) fn with_memory(setup: &Setup<'_>, state: &State) -> Result<Self> {
        let aside = Self::new(setup, state)?;
        let offset = setup.settings.update_state_at(setup.network.layout());
        let from = state.moments.part(offset, UPDATE_WORDS);
        setup.device.record(Command::Copy { from, to: aside.moments.clone() });
        Ok(aside)
    }
}
