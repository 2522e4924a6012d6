//! Layer norm (Ba, Kiros and Hinton 2016).

use crate::autograd::Var;
use crate::error::Result;
use crate::host::number;
use crate::nn::activation::Activation;
use crate::nn::kind::{LayerKind, NamedNorm, NewParameter, gain_and_bias, wrong};
use crate::nn::pass::Forward;
use crate::ops;
use crate::record;

/// (x - mean) / √(variance + epsilon) per row, times gain, plus bias.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerNorm {
    /// Added to the variance.
    pub epsilon: f32,
}

record! { LayerNorm { epsilon } }

impl NamedNorm for LayerNorm {
    const NAME: &str = "layer";
    const DOC: &str = "Each row";

    fn standard() -> Self {
        Self { epsilon: 1e-5 }
    }
}

impl LayerKind for LayerNorm {
    fn kind(&self) -> &'static str {
        "layer_norm"
    }

    fn text(&self) -> String {
        "layer norm".into()
    }

    fn check(&self, _width: usize, path: &str) -> Result<()> {
        if self.epsilon > 0.0 {
            return Ok(());
        }
        let got = number(self.epsilon);
        Err(wrong(path, &format!("layer norm's epsilon: got {got}, expected a number above 0")))
    }

    fn parameters(&self, width: usize) -> Vec<NewParameter> {
        gain_and_bias(width)
    }

    fn forward(&self, pass: &mut Forward<'_>, x: Var, _path: &str, _activation: Option<&Activation>) -> Var {
        pass.mask = pass.rows();
        let normal = ops::layer_norm(&x, self.epsilon);
        ops::fused(&[&normal, &pass.next(), &pass.next()], |v| v[0] * v[1] + v[2])
    }
}
