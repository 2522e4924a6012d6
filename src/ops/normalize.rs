//! Row-wise normalisations over the last axis: softmax, log softmax, log sum exp, layer norm.

use std::rc::Rc;

use super::{broadcast_to, exp, fused, mean, mul, sub, sum};
use crate::autograd::{Backward, Op, Var, apply};
use crate::error::Result;
use crate::kernels::{layer_norm as norm_kernel, softmax as kernel};
use crate::tensor::{DType, Shape, Tensor};

/// Rows and columns of a tensor seen as a matrix over its last axis.
#[track_caller]
fn matrix(name: &str, shape: &Shape) -> [u32; 2] {
    let columns = shape.sizes().last().copied().unwrap_or(0);
    assert!(columns > 0, "{name}: got {shape}, expected a last axis of at least 1");
    [(shape.len() / columns) as u32, columns as u32]
}

fn last(x: &Var) -> std::ops::Range<usize> {
    x.shape().rank() - 1..x.shape().rank()
}

struct Softmax(kernel::SoftmaxForm);

impl Op for Softmax {
    fn name(&self) -> &'static str {
        match self.0 {
            kernel::SoftmaxForm::Softmax => "softmax",
            kernel::SoftmaxForm::LogSoftmax => "log_softmax",
            kernel::SoftmaxForm::LogSumExp => "logsumexp",
        }
    }

    #[track_caller]
    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        let x = inputs[0];
        let sizes = matrix(self.name(), x.shape());
        let mut shape = x.shape().sizes().to_vec();
        if let (kernel::SoftmaxForm::LogSumExp, Some(columns)) = (self.0, shape.last_mut()) {
            *columns = 1;
        }
        let out = Tensor::empty(x.device(), shape, DType::F32);
        out.launch(kernel::dispatch(self.0, sizes, x.view().clone(), out.view().clone()));
        out
    }

    /// softmax: dx = y (dy - Σ y dy). log-softmax: dx = dy - e^y Σ dy. logsumexp: dx = e^(x - y) dy.
    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        let (x, y, dy) = (&step.inputs[0], step.output, step.gradient);
        let dx = match self.0 {
            kernel::SoftmaxForm::Softmax => mul(y, &sub(dy, &sum(&mul(y, dy), last(x)))),
            kernel::SoftmaxForm::LogSoftmax => sub(dy, &mul(&exp(y), &sum(dy, last(x)))),
            kernel::SoftmaxForm::LogSumExp => mul(&exp(&sub(x, y)), dy),
        };
        Ok(vec![Some(dx)])
    }
}

/// e^x / Σ e^x along the last axis.
#[track_caller]
pub fn softmax(x: &Var) -> Var {
    apply(Rc::new(Softmax(kernel::SoftmaxForm::Softmax)), &[x])
}

/// x - ln Σ e^x along the last axis.
#[track_caller]
pub fn log_softmax(x: &Var) -> Var {
    apply(Rc::new(Softmax(kernel::SoftmaxForm::LogSoftmax)), &[x])
}

/// ln Σ e^x along the last axis, which is kept with size 1.
#[track_caller]
pub fn logsumexp(x: &Var) -> Var {
    apply(Rc::new(Softmax(kernel::SoftmaxForm::LogSumExp)), &[x])
}

struct LayerNorm {
    epsilon: f32,
}

impl Op for LayerNorm {
    fn name(&self) -> &'static str {
        "layer_norm"
    }

    #[track_caller]
    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        let x = inputs[0];
        let sizes = matrix("layer_norm", x.shape());
        let out = Tensor::empty(x.device(), x.shape(), DType::F32);
        let scale = Tensor::empty(x.device(), [sizes[0] as usize], DType::F32);
        let views = [x, &out, &scale].map(|tensor| tensor.view().clone());
        let [a, y, r] = views;
        out.launch(norm_kernel::dispatch(sizes, self.epsilon, a, y, r));
        out
    }

    /// With r = 1/√(var + ε), computed from x so that it can be differentiated again: dx = r (dy - mean dy - y · mean(y dy)).
    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        let (x, y, dy) = (&step.inputs[0], step.output, step.gradient);
        let centred = sub(x, &mean(x, last(x)));
        let variance = mean(&mul(&centred, &centred), last(x));
        let (first, second) = (mean(dy, last(x)), mean(&mul(y, dy), last(x)));
        let wide = |v: &Var| broadcast_to(v, x.shape());
        let epsilon = self.epsilon;
        let dx = fused(&[&wide(&variance), dy, &wide(&first), y, &wide(&second)], |v| {
            crate::program::expr::rsqrt(v[0] + epsilon) * (v[1] - v[2] - v[3] * v[4])
        });
        Ok(vec![Some(dx)])
    }
}

/// (x - mean) / √(variance + `epsilon`) along the last axis; population variance.
#[track_caller]
pub fn layer_norm(x: &Var, epsilon: f32) -> Var {
    apply(Rc::new(LayerNorm { epsilon }), &[x])
}
