//! The plan of one training step. The fused and the recorded step share the buffers and the update; only what fills the partial
//! gradients differs.

mod fused;
mod layers;
pub(crate) mod mean;
mod moments;
pub(crate) mod order;
mod passes;
pub(crate) mod recorded;
pub(crate) mod setup;
mod sourced;
pub(crate) mod state;
mod update;
pub(crate) mod validation;

use setup::Setup;
use state::{Rows, State};

use super::config::StepKind;
use crate::device::Plan;
use crate::error::Result;
use crate::loss::Loss;

/// The training step of a run, and how it was made.
pub(crate) struct Plans {
    pub kind: StepKind,
    /// The whole step, or what comes before a hook.
    pub step: Plan,
    /// What comes after a hook, if there is one.
    pub update: Option<Plan>,
    /// Words that the parts of a fused step pass to the update; 0 for a recorded step.
    pub gradient_words: usize,
    /// Number of outputs of the model.
    pub outputs: usize,
    /// The loss of each model that the step minimises, unless the network has its own.
    losses: Vec<Loss>,
    train: Rows,
}

/// What one of the models of a run is recorded from.
pub(crate) struct Member<'m> {
    pub setup: Setup<'m>,
    pub state: &'m State,
    pub loss: Loss,
}

impl Plans {
    /// The step of models with these states.
    pub(crate) fn new(setup: &Setup<'_>, states: &[&State]) -> Result<Self> {
        let settings = setup.settings;
        let mlp = fused::model(setup)?;
        let kind = match (settings.step, &mlp) {
            (Some(kind), _) => kind,
            (None, Some(mlp))
                if !settings.has_passes() && !fused::needs_own_norms(setup) && fused::fits(setup, mlp) =>
            {
                StepKind::Fused
            }
            (None, _) => StepKind::Recorded,
        };
        let train = Rows::upload(setup, &setup.data.train)?;
        let losses = vec![settings.curriculum.loss(&settings.loss, 0, None); states.len()];
        let Halves { step, update, outputs } = step(setup, states, kind, &train, &losses)?;
        let mlp = mlp.filter(|_| kind == StepKind::Fused);
        let gradient_words = mlp.map_or(0, |mlp| fused::gradient_words(setup, &mlp));
        Ok(Self { kind, step, update, gradient_words, outputs, losses, train })
    }

    /// Minimises other losses from here on.
    pub(crate) fn turn_to(&mut self, losses: Vec<Loss>, setup: &Setup<'_>, states: &[&State]) -> Result<()> {
        if losses != self.losses {
            let Halves { step, update, .. } = step(setup, states, self.kind, &self.train, &losses)?;
            (self.step, self.update, self.losses) = (step, update, losses);
        }
        Ok(())
    }
}

/// The plans of a step: whole, or before and after a hook; and the number of outputs of the model.
pub(crate) struct Halves {
    pub step: Plan,
    pub update: Option<Plan>,
    pub outputs: usize,
}

fn step(setup: &Setup<'_>, states: &[&State], kind: StepKind, rows: &Rows, losses: &[Loss]) -> Result<Halves> {
    let members = states.iter().zip(losses).enumerate();
    let members: Vec<Member<'_>> =
        members.map(|(at, (state, loss))| Member { setup: setup.of_member(at), state, loss: loss.clone() }).collect();
    match (fused::model(setup)?, kind) {
        (Some(mlp), StepKind::Fused) => fused::step(&members, &mlp, rows),
        _ => recorded::step(&members, rows),
    }
}
