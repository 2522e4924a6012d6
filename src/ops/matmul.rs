//! Matrix products, batched over leading axes; either operand may be transposed without a copy.

use std::rc::Rc;

use super::record::{OpRecord, attribute};
use super::{reshape, sum_to};
use crate::autograd::{Backward, Op, Var, apply};
use crate::error::{Error, Result};
use crate::json::{Json, Record};
use crate::kernels::matmul::{Operand, dispatch};
use crate::program::onnx::Setting;
use crate::tensor::{DType, Form, Shape, Tensor};

/// op(a) · op(b), where op optionally transposes the last two axes.
struct Product {
    a_transposed: bool,
    b_transposed: bool,
}

pub(super) static MATMUL: OpRecord = OpRecord {
    name: "matmul",
    inputs: (2, 2),
    read: |attributes, _| {
        let [a_transposed, b_transposed] = attribute(attributes, "transposed")?;
        Ok(Rc::new(Product { a_transposed, b_transposed }))
    },
    onnx: |attributes, graph, inputs, forms| {
        let mut operands = inputs.to_vec();
        let transposed: [bool; 2] = attribute(attributes, "transposed")?;
        for ((operand, form), _) in operands.iter_mut().zip(forms).zip(transposed).filter(|(_, is)| *is) {
            let rank = form.shape.rank();
            let mut order: Vec<i64> = (0..rank as i64).collect();
            order.swap(rank - 2, rank - 1);
            *operand = graph.node("Transpose", &[operand], &[Setting::Ints("perm", &order)]);
        }
        Ok(graph.op("MatMul", &[&operands[0], &operands[1]]))
    },
    text: None,
};

impl Product {
    /// Batch, m, k, n of a product, and the batch's sizes.
    fn sizes(&self, a: &Shape, b: &Shape) -> Result<([u32; 4], Vec<usize>)> {
        let wrong = |what: String| Err(Error::new(what));
        if a.rank() < 2 || b.rank() < 2 {
            return wrong(format!("matmul: {a} x {b}: expected at least two axes each"));
        }
        let last = |s: &Shape, is_transposed: bool| {
            let sizes = &s.sizes()[s.rank() - 2..];
            if is_transposed { (sizes[1], sizes[0]) } else { (sizes[0], sizes[1]) }
        };
        let ((m, k), (inner, n)) = (last(a, self.a_transposed), last(b, self.b_transposed));
        if k != inner {
            return wrong(format!("matmul: inner sizes differ: {a} x {b} ({k} != {inner})"));
        }
        let (a_batch, b_batch) = (&a.sizes()[..a.rank() - 2], &b.sizes()[..b.rank() - 2]);
        if a_batch != b_batch && !a_batch.is_empty() && !b_batch.is_empty() {
            return wrong(format!("matmul: batches differ: {a} x {b} ({a_batch:?} != {b_batch:?})"));
        }
        let batch = if a_batch.is_empty() { b_batch } else { a_batch };
        Ok(([batch.iter().product::<usize>() as u32, m as u32, k as u32, n as u32], batch.to_vec()))
    }
}

impl Op for Product {
    fn name(&self) -> &'static str {
        "matmul"
    }

    #[track_caller]
    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        let [a, b] = [inputs[0], inputs[1]];
        let (sizes, mut shape) = self.sizes(a.shape(), b.shape()).unwrap_or_else(|error| panic!("{error}"));
        shape.extend([sizes[1] as usize, sizes[3] as usize]);
        let out = Tensor::empty(a.device(), shape, DType::F32);
        let operand = |t: &Tensor, is_transposed| Operand {
            view: t.view().clone(),
            is_transposed,
            is_batched: t.shape().rank() > 2,
        };
        let (a, b) = (operand(a, self.a_transposed), operand(b, self.b_transposed));
        out.launch(dispatch(out.device().info(), sizes, a, b, out.view().clone()));
        out
    }

    fn form(&self, inputs: &[Form]) -> Result<Form> {
        inputs.iter().try_for_each(|input| input.require(None))?;
        let (sizes, mut shape) = self.sizes(&inputs[0].shape, &inputs[1].shape)?;
        shape.extend([sizes[1] as usize, sizes[3] as usize]);
        Form::checked(&shape)
    }

    fn attributes(&self) -> Result<Json> {
        Ok(Json::fields([("transposed", [self.a_transposed, self.b_transposed].to_json())]))
    }

    /// With A = op(a), B = op(b): dA = dY · Bᵀ, dB = Aᵀ · dY, each computed directly in the operand's layout.
    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        let (a, b, dy) = (&step.inputs[0], &step.inputs[1], step.gradient);
        let (ta, tb) = (self.a_transposed, self.b_transposed);
        let da = || if ta { product(b, dy, tb, true) } else { product(dy, b, false, !tb) };
        let db = || if tb { product(dy, a, true, ta) } else { product(a, dy, !ta, false) };
        let unbatched = |gradient: Var, input: &Var| reshape(&sum_to(&gradient, input.shape()), input.shape());
        Ok(vec![step.wants(0).then(|| unbatched(da(), a)), step.wants(1).then(|| unbatched(db(), b))])
    }
}

/// a · b over the last two axes; leading axes are a batch, equal or missing on one side.
#[track_caller]
pub fn matmul(a: &Var, b: &Var) -> Var {
    product(a, b, false, false)
}

/// a · b with either operand transposed in its last two axes.
#[track_caller]
pub fn product(a: &Var, b: &Var, a_transposed: bool, b_transposed: bool) -> Var {
    let is_shared = b.shape().rank() == 2 && a.shape().rank() > 2 && !a_transposed;
    if !is_shared {
        return apply(Rc::new(Product { a_transposed, b_transposed }), &[a, b]);
    }
    // One b for the whole batch: all rows of the batch form one product.
    let sizes = a.shape().sizes();
    let (lead, k) = (&sizes[..sizes.len() - 1], sizes[sizes.len() - 1]);
    let flat = reshape(a, [lead.iter().product(), k]);
    let out = product(&flat, b, false, b_transposed);
    let shape: Vec<usize> = lead.iter().copied().chain([out.shape().sizes()[1]]).collect();
    reshape(&out, shape)
}
