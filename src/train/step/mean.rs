//! The mean of the weights over steps, which is evaluated and kept instead of the weights.

use super::setup::Setup;
use super::state::{State, copy};
use crate::autograd::Var;
use crate::device::{Plan, View};
use crate::error::Result;
use crate::ops;
use crate::tensor::Tensor;

/// Where the mean is, and the plan that computes it.
pub(crate) struct Mean {
    pub parameters: View,
    plan: Plan,
}

impl Mean {
    /// The update keeps how far the mean is from the weights, behind the moments.
    pub(crate) fn new(setup: &Setup<'_>, state: &State) -> Result<Self> {
        let (device, total) = (setup.device, setup.network.layout().total);
        let parameters = device.upload(&vec![0; total])?.view();
        let record = || {
            let apart = state.moments.part(2 * total, total);
            let views =
                [state.parameters.clone(), apart].map(|view| Var::constant(Tensor::over(device, view, [total])));
            copy(&ops::add(&views[0], &views[1]), &parameters, 0);
            Ok(())
        };
        Ok(Self { plan: device.capture(record)?.0, parameters })
    }

    /// Computes it from the weights as they are.
    pub(crate) fn compute(&self) -> Result<()> {
        self.plan.run(1)
    }
}
