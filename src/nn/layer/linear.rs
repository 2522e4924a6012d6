//! Linear layers: y = W x + b.

use crate::autograd::Var;
use crate::error::Result;
use crate::graph::Init;
use crate::nn::activation::Activation;
use crate::nn::kind::{LayerKind, NewParameter, wrong};
use crate::nn::pass::Forward;
use crate::ops;
use crate::record;

/// y = W x + b.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// Output values per row.
    pub outputs: usize,
    /// Whether it has a bias b.
    pub bias: bool,
    /// Initialisation of W and b.
    pub init: Init,
}

record! { Linear { outputs, bias, init } }

/// Maximal number of values of one weight, well below the limit of 32-bit sizes in words.
const MAX_WORDS: usize = 1 << 30;

impl Linear {
    /// A layer with a bias and the usual initialisation.
    pub fn new(outputs: usize) -> Self {
        Self { outputs, bias: true, init: Init::Linear }
    }
}

impl LayerKind for Linear {
    fn kind(&self) -> &'static str {
        "linear"
    }

    fn text(&self) -> String {
        format!("linear {}", self.outputs)
    }

    fn check(&self, width: usize, path: &str) -> Result<()> {
        let outputs = self.outputs;
        if outputs == 0 {
            return Err(wrong(path, "a linear layer's outputs: got 0, expected at least 1"));
        }
        if width.checked_mul(outputs).is_none_or(|words| words > MAX_WORDS) {
            let what = format!("a weight of {outputs} x {width} is too large: expected at most {MAX_WORDS} values");
            return Err(wrong(path, &what));
        }
        Ok(())
    }

    fn width(&self, _width: usize) -> usize {
        self.outputs
    }

    fn parameters(&self, width: usize) -> Vec<NewParameter> {
        let fan = (width, self.outputs);
        let weight = NewParameter::new("weight", [self.outputs, width], self.init, fan);
        let bias = self.bias.then(|| NewParameter::new("bias", [self.outputs], self.init.of_bias(), fan));
        [weight].into_iter().chain(bias).collect()
    }

    fn forward(&self, pass: &mut Forward<'_>, x: Var, _path: &str, activation: Option<&Activation>) -> Var {
        pass.mask = pass.rows();
        let weight = pass.next();
        let bias = self.bias.then(|| pass.next());
        ops::layer(&x, &weight, bias.as_ref(), activation.map(Activation::curve))
    }

    fn takes_activation(&self) -> bool {
        true
    }
}
