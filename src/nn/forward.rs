//! The forward pass in ops: what the recorded step and recorded prediction run.

use super::spec::{Activation, Layer, Spec};
use crate::autograd::Var;
use crate::ops;
use crate::tensor::Tensor;

/// Whether the pass trains (dropout draws) or predicts.
#[derive(Clone)]
pub enum Mode {
    /// Dropout is the identity.
    Predict,
    /// Dropout draws from the generator keyed by `seed`, at the step found on the device.
    Train {
        /// Key of the generator.
        seed: u64,
        /// The step's control words, where the step counter lives.
        control: Tensor,
    },
}

/// The model's outputs [rows, outputs] for `x` [rows, inputs], with parameters in the layout's order.
pub fn forward(spec: &Spec, parameters: &[Var], x: &Var, mode: &Mode) -> Var {
    let mut pass = Pass { parameters: parameters.iter(), mode, dropouts: 0 };
    pass.layers(&spec.layers, x.clone())
}

struct Pass<'a> {
    parameters: std::slice::Iter<'a, Var>,
    mode: &'a Mode,
    /// Dropout layers met so far: each draws from a stream of its own.
    dropouts: u32,
}

impl Pass<'_> {
    fn layers(&mut self, layers: &[Layer], x: Var) -> Var {
        layers.iter().fold(x, |x, layer| self.layer(layer, x))
    }

    fn next(&mut self) -> Var {
        self.parameters.next().expect("the layout has a parameter for every layer that takes one").clone()
    }

    fn layer(&mut self, layer: &Layer, x: Var) -> Var {
        match layer {
            Layer::Linear { bias, .. } => {
                let product = ops::product(&x, &self.next(), false, true);
                if *bias { ops::add(&product, &self.next()) } else { product }
            }
            Layer::Activation { function } => activate(*function, &x),
            Layer::LayerNorm { epsilon } => {
                let normal = ops::layer_norm(&x, *epsilon);
                ops::fused(&[&normal, &self.next(), &self.next()], |v| v[0] * v[1] + v[2])
            }
            Layer::Dropout { rate } => {
                self.dropouts += 1;
                match self.mode {
                    Mode::Predict => x,
                    Mode::Train { seed, control } => {
                        ops::mul(&x, &ops::dropout_mask(x.shape(), *rate, *seed, self.dropouts, control))
                    }
                }
            }
            Layer::Residual { layers } => {
                let inner = self.layers(layers, x.clone());
                ops::add(&x, &inner)
            }
        }
    }
}

fn activate(function: Activation, x: &Var) -> Var {
    match function {
        Activation::Identity => x.clone(),
        Activation::Relu => ops::relu(x),
        Activation::LeakyRelu => ops::leaky_relu(x),
        Activation::Elu => ops::elu(x),
        Activation::Gelu => ops::gelu(x),
        Activation::Sigmoid => ops::sigmoid(x),
        Activation::Silu => ops::silu(x),
        Activation::Softplus => ops::softplus(x),
        Activation::Tanh => ops::tanh(x),
    }
}
