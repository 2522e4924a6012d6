//! Dropout (Srivastava et al. 2014).

use crate::autograd::Var;
use crate::error::Result;
use crate::host::number;
use crate::nn::activation::Activation;
use crate::nn::kind::{LayerKind, wrong};
use crate::nn::pass::{Forward, Pass};
use crate::ops;
use crate::record;

/// In training, sets a random share of the values to zero and scales the rest by 1 / (1 - rate).
#[derive(Clone, Debug, PartialEq)]
pub struct Dropout {
    /// The share, in [0, 1).
    pub rate: f32,
}

record! { Dropout { rate } }

impl LayerKind for Dropout {
    fn kind(&self) -> &'static str {
        "dropout"
    }

    fn text(&self) -> String {
        format!("dropout {}", self.rate)
    }

    fn check(&self, _width: usize, path: &str) -> Result<()> {
        if (0.0..1.0).contains(&self.rate) {
            return Ok(());
        }
        let got = number(self.rate);
        Err(wrong(path, &format!("dropout rate: got {got}, expected at least 0 and less than 1")))
    }

    fn forward(&self, pass: &mut Forward<'_>, x: Var, _path: &str, _activation: Option<&Activation>) -> Var {
        pass.dropouts += 1;
        match pass.mode {
            Pass::Predict => x,
            Pass::Train { seed, control, .. } => {
                ops::mul(&x, &ops::dropout_mask(x.shape(), self.rate, *seed, pass.dropouts, control))
            }
        }
    }
}
