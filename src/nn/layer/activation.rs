//! Activations as layers.

use crate::autograd::Var;
use crate::error::Result;
use crate::nn::activation::Activation;
use crate::nn::kind::LayerKind;
use crate::nn::pass::Forward;
use crate::ops;
use crate::record;

/// A pointwise function.
#[derive(Clone, Debug, PartialEq)]
pub struct ActivationLayer {
    /// The function.
    pub function: Activation,
}

record! { ActivationLayer { function } }

impl LayerKind for ActivationLayer {
    fn kind(&self) -> &'static str {
        "activation"
    }

    fn text(&self) -> String {
        format!("{:?}", self.function).to_lowercase()
    }

    fn check(&self, _width: usize, _path: &str) -> Result<()> {
        Ok(())
    }

    fn forward(&self, _pass: &mut Forward<'_>, x: Var, _path: &str, _activation: Option<&Activation>) -> Var {
        ops::fused(&[&x], |v| self.function.curve().value.emit(v))
    }

    fn activation(&self) -> Option<&Activation> {
        Some(&self.function)
    }
}
