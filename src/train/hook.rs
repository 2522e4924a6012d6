//! A hook between the gradients of a step and its update: what comes after it (limits, accumulation, the optimiser) sees what it leaves. Several machines
//! that train one model add their gradients in it.

use std::future::Future;
use std::pin::Pin;

use super::step::Plans;
use super::trainer::Trainer;
use crate::error::{Error, Result};
use crate::kernels::optimise::TAIL;
use crate::nn::Layout;

/// What a hook returns.
pub type Hooked<'h> = Pin<Box<dyn Future<Output = Result<()>> + 'h>>;

/// A function of the gradients of each step, on the host.
pub trait GradientHook {
    /// Called after the gradients of a step and before its update.
    fn between<'h>(&'h mut self, gradients: &'h mut StepGradients<'_>) -> Hooked<'h>;
}

/// The gradients of a step, as sums over its rows.
pub struct StepGradients<'g> {
    layout: &'g Layout,
    words: Vec<f32>,
}

impl<'g> StepGradients<'g> {
    pub(super) fn new(layout: &'g Layout, words: Vec<f32>) -> Self {
        Self { layout, words }
    }

    pub(super) fn into_words(self) -> Vec<f32> {
        self.words
    }

    /// The names of the parameters.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.layout.parameters.iter().map(|parameter| parameter.name.as_str())
    }

    /// The weighted sum over the rows of the gradient by a parameter; of a frozen one its contents are ignored.
    pub fn of(&mut self, name: &str) -> Result<&mut [f32]> {
        let Some(parameter) = self.layout.parameters.iter().find(|parameter| parameter.name == name) else {
            let names = self.names().collect::<Vec<_>>().join(", ");
            return Err(Error::new(format!("hook: unknown parameter: got \"{name}\", expected one of {names}")));
        };
        Ok(&mut self.words[parameter.offset..][..parameter.shape.len()])
    }

    /// All sums in one piece: the gradients in the order of the parameters' layout with its padding, then the weighted sum of the rows' losses and the sum of
    /// their weights. Those of machines with different rows are added.
    pub fn sums(&mut self) -> &mut [f32] {
        &mut self.words[..self.layout.total + 2]
    }
}

impl Trainer {
    /// Calls a hook between the gradients of each step and its update, from here on. The device is read and written once per step.
    ///
    /// Errors for a step that takes its gradients twice (`sharpness`), scaled (`precision`) or not at all (a source with its own update).
    pub fn hook_with(&mut self, hook: impl GradientHook + 'static) -> Result<()> {
        if self.settings.precision.is_some() {
            return Err(Error::usage("hook_with: got precision, whose gradients are scaled: expected none"));
        }
        if self.learners.len() > 1 {
            let got = self.learners.len();
            return Err(Error::usage(format!("hook_with: got members {got}, expected 1, whose gradients a hook sees")));
        }
        let words = self.network.layout().total + TAIL;
        self.learners[0].state.gathered = Some(self.device.upload(&vec![0; words])?);
        self.plans = Plans::new(&self.setup(), &self.states())?;
        self.hook = Some(Box::new(hook));
        // In the middle of an epoch its loss may not be that of the first.
        if self.progress.cursor > 0 { self.begin_epoch() } else { Ok(()) }
    }

    /// Runs so many steps of the plan, with the hook if there is one.
    pub(super) async fn run_steps(&mut self, count: usize) -> Result<()> {
        let (Some(hook), Some(gathered)) = (&mut self.hook, &self.learners[0].state.gathered) else {
            return self.plans.step.run(count);
        };
        let update = self.plans.update.as_ref().ok_or_else(|| Error::internal("a hook without an update"))?;
        for _ in 0..count {
            self.plans.step.run(1)?;
            let words = bytemuck::cast_vec(self.device.read(&gathered.view()).await?);
            let mut gradients = StepGradients::new(self.network.layout(), words);
            hook.between(&mut gradients).await?;
            self.device.write(gathered, 0, bytemuck::cast_slice(&gradients.into_words()))?;
            update.run(1)?;
        }
        Ok(())
    }
}
