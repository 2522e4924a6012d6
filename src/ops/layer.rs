//! A linear layer with its activation: f(x Wᵀ + b), one launch for the values and the slopes that the gradient needs.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use super::pointwise::run;
use super::record::{OpRecord, attribute};
use super::{add, broadcast_to, mul, product, reshape, sum_to};
use crate::autograd::{Backward, Op, Var, apply, is_tracing};
use crate::error::{Error, Result};
use crate::json::{Json, Record};
use crate::kernels::matmul;
use crate::program::curve::ByHand;
use crate::program::onnx::Setting;
use crate::program::{Curve, Program};
use crate::tensor::{DType, Form, Tensor};

/// f(x Wᵀ + b): inputs x [rows, k], W [n, k] and perhaps b [n].
struct Layer {
    curve: Option<Arc<Curve>>,
    is_tracked: bool,
    /// f'(x Wᵀ + b), if the layer is tracked and has a curve.
    slopes: OnceCell<Tensor>,
}

pub(super) static LAYER: OpRecord = OpRecord {
    name: "layer",
    inputs: (2, 3),
    read: |attributes, reading| {
        let text: Option<String> = attribute(attributes, "function")?;
        let program: Option<Program> = attribute(attributes, "program")?;
        let curve = match (text, program) {
            (Some(text), Some(program)) if program.inputs == 1 && program.results.len() == 1 => {
                // The function of that name, with what is written by hand for it; or one of the author's own.
                let named = (reading.curve)(&text).ok().filter(|curve| curve.value == program);
                Some(named.unwrap_or_else(|| Arc::new(Curve::new(text, program, ByHand::NONE))))
            }
            (None, None) => None,
            _ => return Err(Error::new("got a function without its program of one input, expected both or none")),
        };
        Ok(Rc::new(Layer { curve, is_tracked: reading.is_tracked, slopes: OnceCell::new() }))
    },
    onnx: |attributes, graph, inputs, _| {
        let program: Option<Program> = attribute(attributes, "program")?;
        let z = graph.node("Gemm", &inputs.iter().collect::<Vec<_>>(), &[Setting::Int("transB", 1)]);
        program.map_or(Ok(z.clone()), |program| Ok(program.onnx(graph, &[z])?.remove(0)))
    },
    text: None,
};

impl Op for Layer {
    fn name(&self) -> &'static str {
        "layer"
    }

    #[track_caller]
    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        let [x, weight] = [inputs[0], inputs[1]];
        let (x_sizes, w_sizes) = (x.shape().sizes(), weight.shape().sizes());
        let ([rows, k], [n, inner]) = (x_sizes, w_sizes) else {
            panic!("layer: got shapes {} and {}, expected two axes each", x.shape(), weight.shape())
        };
        assert!(k == inner, "layer: inner sizes differ: {} x {}ᵀ ({k} != {inner})", x.shape(), weight.shape());
        let bias = inputs.get(2).map(|bias| bias.view().clone());
        assert!(
            bias.as_ref().is_none_or(|bias| bias.words == *n),
            "layer: got another number of biases than {n} outputs"
        );
        let device = x.device();
        let out = Tensor::empty(device, [*rows, *n], DType::F32);
        let mut outputs = vec![out.view().clone()];
        if self.is_tracked && self.curve.is_some() {
            let slopes = self.slopes.get_or_init(|| Tensor::empty(device, [*rows, *n], DType::F32));
            outputs.push(slopes.view().clone());
        }
        let operand =
            |t: &Tensor, is_transposed| matmul::Operand { view: t.view().clone(), is_transposed, is_batched: false };
        let operands = [operand(x, false), operand(weight, true)];
        let sizes = [*rows, *k, *n].map(|size| size as u32);
        out.launch(matmul::layer(device.info(), sizes, operands, bias, self.curve.as_ref(), outputs));
        out
    }

    fn form(&self, inputs: &[Form]) -> Result<Form> {
        let [x, weight] = [&inputs[0], &inputs[1]];
        [x, weight].iter().try_for_each(|input| input.require(Some(2)))?;
        let ([rows, k], [n, inner]) = ([x.sizes()[0], x.sizes()[1]], [weight.sizes()[0], weight.sizes()[1]]);
        if k != inner {
            return Err(Error::new(format!("inner sizes differ: {} x {}ᵀ ({k} != {inner})", x.shape, weight.shape)));
        }
        if let Some(bias) = inputs.get(2) {
            bias.require(None)?;
            if bias.sizes() != [n] {
                return Err(Error::new(format!("got a bias of shape {}, expected [{n}]", bias.shape)));
            }
        }
        Form::checked(&[rows, n])
    }

    fn attributes(&self) -> Result<Json> {
        let curve = self.curve.as_ref();
        Ok(Json::fields([
            ("function", curve.map(|curve| curve.text.clone()).to_json()),
            ("program", curve.map(|curve| curve.value.clone()).to_json()),
        ]))
    }

    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        let Some((curve, slopes)) = self.curve.as_ref().zip(self.slopes.get()) else {
            return Ok(gradients(step, step.gradient));
        };
        if is_tracing() {
            // A list of ops holds the slopes as ops of their own.
            let slope = run(curve.sloped.only(1), &[&sums(step)]);
            return Ok(gradients(step, &mul(step.gradient, &slope)));
        }
        let slope = Slope { curve: curve.clone(), made: slopes.clone() };
        let slope = apply(Rc::new(slope), &step.inputs.iter().collect::<Vec<_>>());
        Ok(gradients(step, &mul(step.gradient, &slope)))
    }
}

/// f'(x Wᵀ + b), which the layer has already computed, as an op, so that it has a gradient.
struct Slope {
    curve: Arc<Curve>,
    made: Tensor,
}

impl Op for Slope {
    fn name(&self) -> &'static str {
        "slope of a layer"
    }

    fn forward(&self, _inputs: &[&Tensor]) -> Tensor {
        self.made.clone()
    }

    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        let Some(second) = self.curve.sloped.only(1).vjp(0) else {
            return Ok(vec![None; step.inputs.len()]);
        };
        let z = sums(step);
        let (program, used) = second.compacted();
        let all = [&z, step.gradient];
        let inputs: Vec<&Var> = used.iter().map(|&at| all[at]).collect();
        Ok(gradients(step, &run(program, &inputs)))
    }
}

/// x Wᵀ + b of a layer.
fn sums(step: &Backward<'_>) -> Var {
    let z = product(&step.inputs[0], &step.inputs[1], false, true);
    step.inputs.get(2).map_or(z.clone(), |bias| add(&z, bias))
}

/// The gradients of a layer's inputs from that of z = x Wᵀ + b: dx = dz W, dW = dzᵀ x, db = Σ dz.
fn gradients(step: &Backward<'_>, dz: &Var) -> Vec<Option<Var>> {
    let (x, weight) = (&step.inputs[0], &step.inputs[1]);
    let dx = step.wants(0).then(|| product(dz, weight, false, false));
    let has_bias = step.inputs.len() > 2;
    let [dw, db] = match (step.wants(1), has_bias && step.wants(2)) {
        (true, true) if !is_tracing() => weight_and_bias(dz, x).map(Some),
        (wants_weight, wants_bias) => [
            wants_weight.then(|| product(dz, x, true, false)),
            wants_bias.then(|| reshape(&sum_to(dz, &[weight.shape().sizes()[0]].into()), [weight.shape().sizes()[0]])),
        ],
    };
    [dx, dw].into_iter().chain(has_bias.then_some(db)).collect()
}

/// dW = dzᵀ x and db = Σ dz, from one launch.
fn weight_and_bias(dz: &Var, x: &Var) -> [Var; 2] {
    let op = Rc::new(WeightGradient::default());
    let weight = apply(op.clone(), &[dz, x]);
    let sums = op.sums.get().expect("the launch has made the sums").clone();
    [weight, apply(Rc::new(BiasGradient { sums }), &[dz])]
}

/// dzᵀ x of dz [rows, n] and x [rows, k]; also makes the sums of dz's columns.
#[derive(Default)]
struct WeightGradient {
    sums: OnceCell<Tensor>,
}

impl Op for WeightGradient {
    fn name(&self) -> &'static str {
        "gradient of a layer's weight"
    }

    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        let [dz, x] = [inputs[0], inputs[1]];
        let ([rows, n], [_, k]) = (dz.shape().sizes(), x.shape().sizes()) else { unreachable!("two axes each") };
        let out = Tensor::empty(dz.device(), [*n, *k], DType::F32);
        let sums = self.sums.get_or_init(|| Tensor::empty(dz.device(), [*n], DType::F32));
        let sizes = [*n, *rows, *k].map(|size| size as u32);
        let operands = [dz, x].map(|operand| operand.view().clone());
        let outputs = [&out, sums].map(|output| output.view().clone());
        out.launch(matmul::with_sums(dz.device().info(), sizes, operands, outputs));
        out
    }

    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        let (dz, x, dy) = (&step.inputs[0], &step.inputs[1], step.gradient);
        Ok(vec![
            step.wants(0).then(|| product(x, dy, false, true)),
            step.wants(1).then(|| product(dz, dy, false, false)),
        ])
    }
}

/// The sums of dz's columns, which the launch of [`WeightGradient`] has already made, as an op, so that they have a gradient.
struct BiasGradient {
    sums: Tensor,
}

impl Op for BiasGradient {
    fn name(&self) -> &'static str {
        "gradient of a layer's bias"
    }

    fn forward(&self, _inputs: &[&Tensor]) -> Tensor {
        self.sums.clone()
    }

    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        Ok(vec![Some(broadcast_to(step.gradient, step.inputs[0].shape()))])
    }
}

/// f(x Wᵀ + b) over x [rows, k], W [n, k], b [n]: a linear layer with its activation, the identity if there is no curve. One launch, which
/// also keeps the slopes if a gradient can be asked for.
#[track_caller]
pub fn layer(x: &Var, weight: &Var, bias: Option<&Var>, curve: Option<&Arc<Curve>>) -> Var {
    let inputs: Vec<&Var> = [x, weight].into_iter().chain(bias).collect();
    let is_tracked = inputs.iter().any(|input| input.is_tracked());
    apply(Rc::new(Layer { curve: curve.cloned(), is_tracked, slopes: OnceCell::new() }), &inputs)
}
