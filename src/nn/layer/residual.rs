//! Residual blocks (He et al. 2016).

use super::{Layer, kinds};
use crate::autograd::Var;
use crate::error::Result;
use crate::nn::activation::Activation;
use crate::nn::kind::{LayerKind, NewParameter, parameters_of, width_after, wrong};
use crate::nn::pass::Forward;
use crate::ops;
use crate::record;

/// x + layers(x).
#[derive(Clone, Debug, PartialEq)]
pub struct Residual {
    /// The inner layers; their output width must equal their input width.
    pub layers: Vec<Layer>,
}

record! { Residual { layers } }

impl LayerKind for Residual {
    fn kind(&self) -> &'static str {
        "residual"
    }

    fn text(&self) -> String {
        "residual".into()
    }

    fn check(&self, width: usize, path: &str) -> Result<()> {
        let inner = width_after(&self.inner(), width, &format!("{path}.layers"))?;
        if inner == width {
            return Ok(());
        }
        Err(wrong(path, &format!("a residual block must keep the width: got {inner} outputs, expected {width}")))
    }

    fn parameters(&self, width: usize) -> Vec<NewParameter> {
        parameters_of(&self.inner(), width, "layers")
    }

    fn forward(&self, pass: &mut Forward<'_>, x: Var, path: &str, _activation: Option<&Activation>) -> Var {
        let inner = pass.layers(&self.inner(), x.clone(), &format!("{path}.layers"));
        ops::add(&x, &inner)
    }

    fn inner(&self) -> Vec<&dyn LayerKind> {
        kinds(&self.layers)
    }
}
