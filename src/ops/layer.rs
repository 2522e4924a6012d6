//! A linear layer with its activation: f(x Wᵀ + b), one launch for the values and the slopes that the gradient needs.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use super::pointwise::run;
use super::{add, mul, product, reshape, sum_to};
use crate::autograd::{Backward, Op, Var, apply};
use crate::error::Result;
use crate::kernels::matmul;
use crate::program::Curve;
use crate::tensor::{DType, Tensor};

/// f(x Wᵀ + b): inputs x [rows, k], W [n, k] and perhaps b [n].
struct Layer {
    curve: Option<Arc<Curve>>,
    is_tracked: bool,
    /// f'(x Wᵀ + b), if the layer is tracked and has a curve.
    slopes: OnceCell<Tensor>,
}

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

    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        let Some((curve, slopes)) = self.curve.as_ref().zip(self.slopes.get()) else {
            return Ok(gradients(step, step.gradient));
        };
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
        let (x, weight) = (&step.inputs[0], &step.inputs[1]);
        let z = product(x, weight, false, true);
        let z = step.inputs.get(2).map_or(z.clone(), |bias| add(&z, bias));
        let (program, used) = second.compacted();
        let all = [&z, step.gradient];
        let inputs: Vec<&Var> = used.iter().map(|&at| all[at]).collect();
        Ok(gradients(step, &run(program, &inputs)))
    }
}

/// The gradients of a layer's inputs from that of z = x Wᵀ + b: dx = dz W, dW = dzᵀ x, db = Σ dz.
fn gradients(step: &Backward<'_>, dz: &Var) -> Vec<Option<Var>> {
    let (x, weight) = (&step.inputs[0], &step.inputs[1]);
    let mut all = vec![
        step.wants(0).then(|| product(dz, weight, false, false)),
        step.wants(1).then(|| product(dz, x, true, false)),
    ];
    all.extend(
        step.inputs
            .get(2)
            .map(|bias| step.wants(2).then(|| reshape(&sum_to(dz, &[bias.shape().len()].into()), bias.shape()))),
    );
    all
}

/// f(x Wᵀ + b) over x [rows, k], W [n, k], b [n]: a linear layer with its activation, the identity if there is no curve. One launch, which
/// also keeps the slopes if a gradient can be asked for.
#[track_caller]
pub fn layer(x: &Var, weight: &Var, bias: Option<&Var>, curve: Option<&Arc<Curve>>) -> Var {
    let inputs: Vec<&Var> = [x, weight].into_iter().chain(bias).collect();
    let is_tracked = inputs.iter().any(|input| input.is_tracked());
    apply(Rc::new(Layer { curve: curve.cloned(), is_tracked, slopes: OnceCell::new() }), &inputs)
}
