//! Rational functions with learnt coefficients, element by element: values and ⊥ bits.

use std::rc::Rc;

use super::{reshape, sum};
use crate::autograd::{Backward, Op, Var, apply};
use crate::error::Result;
use crate::kernels::rational::{self as kernel, Rational};
use crate::kernels::rational_gradient;
use crate::tensor::{DType, Shape, Tensor};

/// Computes y and, in a separate tensor, the bits of ⊥.
struct Apply {
    form: Rational,
    channels: usize,
    bottom: Tensor,
}

/// Views of tensors, for a launch.
fn views<const N: usize>(tensors: [&Tensor; N]) -> [crate::device::View; N] {
    tensors.map(|tensor| tensor.view().clone())
}

impl Op for Apply {
    fn name(&self) -> &'static str {
        "rational"
    }

    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        let y = Tensor::empty(inputs[0].device(), inputs[0].shape(), DType::F32);
        let launch =
            kernel::dispatch(&self.form, self.channels, views([inputs[0], inputs[1]]), views([&y, &self.bottom]));
        y.launch(launch);
        y
    }

    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        let (x, w) = (&step.inputs[0], &step.inputs[1]);
        let shape = rational_gradient::partial_shape(&self.form, x.shape().len(), self.channels);
        let partials = Tensor::empty(x.value().device(), shape, DType::F32);
        let slope =
            Slope { form: self.form, channels: self.channels, bottom: self.bottom.clone(), partials: partials.clone() };
        let dx = apply(Rc::new(slope), &[x, w, step.gradient]);
        let sums = sum(&Var::constant(partials), 0..1);
        let dw = if self.channels == 1 { sum(&sums, 2..3) } else { sums };
        Ok(vec![Some(dx), Some(reshape(&dw, w.shape()))])
    }
}

/// Computes dx and, in a separate tensor, the partial sums of dw. It has no gradient itself.
struct Slope {
    form: Rational,
    channels: usize,
    bottom: Tensor,
    partials: Tensor,
}

impl Op for Slope {
    fn name(&self) -> &'static str {
        "rational_gradient"
    }

    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        let dx = Tensor::empty(inputs[0].device(), inputs[0].shape(), DType::F32);
        let inputs = views([inputs[0], inputs[1], &self.bottom, inputs[2]]);
        dx.launch(rational_gradient::dispatch(&self.form, self.channels, inputs, views([&dx, &self.partials])));
        dx
    }
}

/// P(x) / Q(x) for each element of x with coefficients w: [numerator + denominator + 2, channels] (p_0, …, q_0, …), channels being 1 or
/// the size of x's last axis; 0 under ⊥. Also returns the bits of ⊥, one per element: u32[ceil(elements / 32)].
#[track_caller]
pub fn rational(x: &Var, w: &Var, form: &Rational) -> (Var, Tensor) {
    let channels = w.shape().len() / form.coefficients();
    let last = x.shape().sizes().last().copied().unwrap_or(1);
    assert!(
        w.shape().len() == form.coefficients() * channels && (channels == 1 || channels == last),
        "rational: number of coefficients: got shape {} with degrees {} and {} for {}",
        w.shape(),
        form.numerator,
        form.denominator,
        x.shape()
    );
    let words = Shape::from([x.shape().len().div_ceil(32)]);
    let bottom = Tensor::empty(x.value().device(), words, DType::U32);
    let y = apply(Rc::new(Apply { form: *form, channels, bottom: bottom.clone() }), &[x, w]);
    (y, bottom)
}
