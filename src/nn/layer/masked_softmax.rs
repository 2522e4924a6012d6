//! Softmax of rows that may hold ⊥.

use crate::autograd::Var;
use crate::error::Result;
use crate::nn::activation::Activation;
use crate::nn::kind::LayerKind;
use crate::nn::pass::Forward;
use crate::record;
use crate::scm;
use crate::scm::policy::Policy;

/// e^x / Σ e^x of each row. A row with a ⊥ is 1 at the largest of its other values and 0 elsewhere, but its prediction is still ⊥.
#[derive(Clone, Debug, PartialEq)]
pub struct MaskedSoftmax {
    /// Gradient policy, as for a masked norm.
    pub policy: Option<Policy>,
}

record! { MaskedSoftmax { policy } }

impl LayerKind for MaskedSoftmax {
    fn kind(&self) -> &'static str {
        "masked_softmax"
    }

    fn text(&self) -> String {
        "masked softmax".into()
    }

    fn check(&self, _width: usize, _path: &str) -> Result<()> {
        Ok(())
    }

    fn forward(&self, pass: &mut Forward<'_>, x: Var, path: &str, _activation: Option<&Activation>) -> Var {
        let (y, rows) = scm::softmax(&pass.masked(&x), pass.policy(self, path));
        pass.mask = Some(rows);
        y
    }

    fn gradient_policy(&self) -> Option<(&'static str, Option<Policy>)> {
        Some(("scm_softmax", self.policy))
    }
}
