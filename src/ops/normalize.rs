//! Row-wise normalisations over the last axis: softmax, log softmax, log sum exp, layer norm.

use std::cell::OnceCell;
use std::rc::Rc;

use super::record::{OpRecord, attribute, finite};
use super::{broadcast_to, exp, fused, grad_with_seed, mean, mul, sub, sum};
use crate::autograd::{Backward, Op, Var, apply, is_tracing};
use crate::error::{Error, Result};
use crate::json::Json;
use crate::kernels::{layer_norm as norm_kernel, layer_norm_gradient as gradient_kernel, softmax as kernel};
use crate::program::onnx::Setting;
use crate::tensor::{DType, Form, Shape, Tensor};

/// Rows and columns of a tensor seen as a matrix over its last axis.
#[track_caller]
fn matrix(name: &str, shape: &Shape) -> [u32; 2] {
    let columns = shape.sizes().last().copied().unwrap_or(0);
    assert!(columns > 0, "{name}: got {shape}, expected a last axis of at least 1");
    [(shape.len() / columns) as u32, columns as u32]
}

/// The sizes of a value with a last axis of at least 1.
fn with_columns(x: &Form) -> Result<Vec<usize>> {
    x.require(None)?;
    match x.sizes().last() {
        Some(1..) => Ok(x.sizes().to_vec()),
        _ => Err(Error::new(format!("got {}, expected a last axis of at least 1", x.shape))),
    }
}

fn last(x: &Var) -> std::ops::Range<usize> {
    x.shape().rank() - 1..x.shape().rank()
}

struct Softmax(kernel::SoftmaxForm);

pub(super) static SOFTMAX: OpRecord = OpRecord {
    name: "softmax",
    inputs: (1, 1),
    read: |_, _| Ok(Rc::new(Softmax(kernel::SoftmaxForm::Softmax))),
    onnx: |_, graph, inputs, _| Ok(graph.node("Softmax", &[&inputs[0]], &[Setting::Int("axis", -1)])),
    text: None,
};

pub(super) static LOG_SOFTMAX: OpRecord = OpRecord {
    name: "log_softmax",
    inputs: (1, 1),
    read: |_, _| Ok(Rc::new(Softmax(kernel::SoftmaxForm::LogSoftmax))),
    onnx: |_, graph, inputs, _| Ok(graph.node("LogSoftmax", &[&inputs[0]], &[Setting::Int("axis", -1)])),
    text: None,
};

pub(super) static LOGSUMEXP: OpRecord = OpRecord {
    name: "logsumexp",
    inputs: (1, 1),
    read: |_, _| Ok(Rc::new(Softmax(kernel::SoftmaxForm::LogSumExp))),
    onnx: |_, graph, inputs, _| {
        let last = graph.list(&[-1]);
        Ok(graph.node("ReduceLogSumExp", &[&inputs[0], &last], &[Setting::Int("keepdims", 1)]))
    },
    text: None,
};

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

    fn form(&self, inputs: &[Form]) -> Result<Form> {
        let mut sizes = with_columns(&inputs[0])?;
        if let (kernel::SoftmaxForm::LogSumExp, Some(columns)) = (self.0, sizes.last_mut()) {
            *columns = 1;
        }
        Ok(Form::floats(sizes))
    }

    fn attributes(&self) -> Result<Json> {
        Ok(Json::fields([]))
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
    /// 1/√(variance + ε) of each row.
    scale: OnceCell<Tensor>,
}

pub(super) static LAYER_NORM: OpRecord = OpRecord {
    name: "layer_norm",
    inputs: (1, 1),
    read: |attributes, _| Ok(Rc::new(LayerNorm { epsilon: attribute(attributes, "epsilon")?, scale: OnceCell::new() })),
    onnx: |attributes, graph, inputs, forms| {
        let columns = forms[0].sizes().last().copied().unwrap_or_default();
        let (scale, epsilon) = (graph.floats(&[columns], &vec![1.0; columns]), attribute(attributes, "epsilon")?);
        let settings = [Setting::Int("axis", -1), Setting::Float("epsilon", epsilon)];
        Ok(graph.node("LayerNormalization", &[&inputs[0], &scale], &settings))
    },
    text: None,
};

impl Op for LayerNorm {
    fn name(&self) -> &'static str {
        "layer_norm"
    }

    #[track_caller]
    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        let x = inputs[0];
        let sizes = matrix("layer_norm", x.shape());
        let out = Tensor::empty(x.device(), x.shape(), DType::F32);
        let scale = self.scale.get_or_init(|| Tensor::empty(x.device(), [sizes[0] as usize], DType::F32));
        let [a, y, r] = [x, &out, scale].map(|tensor| tensor.view().clone());
        out.launch(norm_kernel::dispatch(sizes, self.epsilon, a, y, r));
        out
    }

    fn form(&self, inputs: &[Form]) -> Result<Form> {
        Ok(Form::floats(with_columns(&inputs[0])?))
    }

    fn attributes(&self) -> Result<Json> {
        Ok(Json::fields([("epsilon", finite("layer_norm", self.epsilon)?)]))
    }

    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        if is_tracing() {
            // A list of ops holds plain ones.
            return Ok(vec![Some(norm_gradient(&step.inputs[0], step.gradient, self.epsilon))]);
        }
        let scale = self.scale.get().expect("the value was computed").clone();
        let gradient = LayerNormGradient { epsilon: self.epsilon, scale, y: step.output.value().clone() };
        Ok(vec![Some(apply(Rc::new(gradient), &[&step.inputs[0], step.gradient]))])
    }
}

/// The gradient of a layer norm from x and dy, by the norm's results, which depend on x.
struct LayerNormGradient {
    epsilon: f32,
    scale: Tensor,
    y: Tensor,
}

impl Op for LayerNormGradient {
    fn name(&self) -> &'static str {
        "gradient of layer_norm"
    }

    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        let [x, dy] = [inputs[0], inputs[1]];
        let out = Tensor::empty(x.device(), x.shape(), DType::F32);
        let views = [&self.y, &self.scale, dy].map(|tensor| tensor.view().clone());
        out.launch(gradient_kernel::dispatch(matrix("layer_norm", x.shape()), views, out.view().clone()));
        out
    }

    /// Composes the gradient of ops that can be differentiated again.
    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        // As values of their own: dy usually depends on x, and that path belongs to the caller.
        let own = |value: &Var| fused(&[value], |v| v[0] * 1.0);
        let [x, dy] = [&step.inputs[0], &step.inputs[1]].map(own);
        grad_with_seed(&norm_gradient(&x, &dy, self.epsilon), step.gradient, &[&x, &dy])
    }
}

/// The gradient of a layer norm from x and dy, by ops.
fn norm_gradient(x: &Var, dy: &Var, epsilon: f32) -> Var {
    let centred = sub(x, &mean(x, last(x)));
    let variance = mean(&mul(&centred, &centred), last(x));
    let wide = |v: &Var| broadcast_to(v, x.shape());
    let scale = fused(&[&wide(&variance)], |v| crate::program::expr::rsqrt(v[0] + epsilon));
    let y = mul(&centred, &scale);
    let (first, second) = (mean(dy, last(x)), mean(&mul(&y, dy), last(x)));
    fused(&[&scale, dy, &wide(&first), &y, &wide(&second)], |v| v[0] * (v[1] - v[2] - v[3] * v[4]))
}

/// (x - mean) / √(variance + `epsilon`) along the last axis; population variance.
#[track_caller]
pub fn layer_norm(x: &Var, epsilon: f32) -> Var {
    apply(Rc::new(LayerNorm { epsilon, scale: OnceCell::new() }), &[x])
}
