//! Rational functions with learnt coefficients, element by element: values and ⊥ bits.

use std::cell::OnceCell;
use std::rc::Rc;

use super::record::{OpRecord, attribute, no_bottom};
use super::{abs, add, broadcast_to, constant, div, grad_with_seed, gt, le, mul, product, reshape, select, sub, sum};
use crate::autograd::{Backward, Op, Var, apply};
use crate::error::{Error, Result};
use crate::json::{Json, Record};
use crate::kernels::rational::{self as kernel, Basis, MAX_DEGREE, Rational};
use crate::kernels::rational_gradient;
use crate::tensor::{DType, Form, Shape, Tensor};

/// Computes y and, in a separate tensor, the bits of ⊥.
struct Apply {
    form: Rational,
    bottom: OnceCell<Tensor>,
}

pub(crate) static RATIONAL: OpRecord = OpRecord {
    name: "rational",
    inputs: (2, 2),
    read: |attributes, _| {
        let form: Rational = attribute(attributes, "form")?;
        let most = form.numerator.max(form.denominator);
        if most > MAX_DEGREE || !(form.epsilon.is_finite() && form.epsilon >= 0.0) {
            return Err(Error::new(format!(
                "got degree {most}, epsilon {}: expected at most {MAX_DEGREE} and at least 0",
                form.epsilon
            )));
        }
        Ok(Rc::new(Apply { form, bottom: OnceCell::new() }))
    },
    onnx: no_bottom,
    text: None,
};

impl Apply {
    /// The bits of ⊥ for so many elements.
    fn words(elements: usize) -> usize {
        elements.div_ceil(32)
    }

    /// Channels of coefficients of a shape. Errors if it does not fit x.
    fn channels(&self, x: &Shape, w: &Shape) -> Result<usize> {
        let channels = w.len() / self.form.coefficients();
        let last = x.sizes().last().copied().unwrap_or(1);
        if w.len() == self.form.coefficients() * channels && channels > 0 && (channels == 1 || channels == last) {
            return Ok(channels);
        }
        let Rational { numerator, denominator, .. } = self.form;
        Err(Error::new(format!(
            "number of coefficients: got shape {w} with degrees {numerator} and {denominator} for {x}"
        )))
    }
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
        let [x, w] = [inputs[0], inputs[1]];
        let y = Tensor::empty(x.device(), x.shape(), DType::F32);
        let words = Shape::from([Self::words(x.len())]);
        let bottom = self.bottom.get_or_init(|| Tensor::empty(x.device(), words, DType::U32));
        let channels = w.len() / self.form.coefficients();
        y.launch(kernel::dispatch(&self.form, channels, views([x, w]), views([&y, bottom])));
        y
    }

    fn form(&self, inputs: &[Form]) -> Result<Form> {
        inputs.iter().try_for_each(|input| input.require(None))?;
        self.channels(&inputs[0].shape, &inputs[1].shape)?;
        Ok(inputs[0].clone())
    }

    fn second(&self) -> Option<Tensor> {
        self.bottom.get().cloned()
    }

    fn second_form(&self, inputs: &[Form]) -> Result<Form> {
        Ok(Form { shape: [Self::words(inputs[0].shape.len())].into(), dtype: DType::U32 })
    }

    fn attributes(&self) -> Result<Json> {
        Ok(Json::fields([("form", self.form.to_json())]))
    }

    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        let (x, w) = (&step.inputs[0], &step.inputs[1]);
        let (form, channels) = (self.form, w.shape().len() / self.form.coefficients());
        let shape = rational_gradient::partial_shape(&form, x.shape().len(), channels);
        let partials = Tensor::empty(x.value().device(), shape, DType::F32);
        let bottom = self.second().ok_or_else(|| Error::internal("a rational function has no bits of ⊥"))?;
        let slope = Slope { form, channels, bottom, partials: partials.clone() };
        let dx = apply(Rc::new(slope), &[x, w, step.gradient]);
        let sums = sum(&Var::constant(partials), 0..1);
        let dw = if channels == 1 { sum(&sums, 2..3) } else { sums };
        let made = reshape(&dw, w.shape()).value().clone();
        let dw = apply(Rc::new(Coefficients { form, channels, made }), &[x, w, step.gradient]);
        Ok(vec![Some(dx), Some(dw)])
    }
}

/// Computes dx and, in a separate tensor, the partial sums of dw.
struct Slope {
    form: Rational,
    channels: usize,
    bottom: Tensor,
    partials: Tensor,
}

impl Op for Slope {
    fn name(&self) -> &'static str {
        "gradient of a rational function"
    }

    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        let dx = Tensor::empty(inputs[0].device(), inputs[0].shape(), DType::F32);
        let inputs = views([inputs[0], inputs[1], &self.bottom, inputs[2]]);
        dx.launch(rational_gradient::dispatch(&self.form, self.channels, inputs, views([&dx, &self.partials])));
        dx
    }

    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        second(&self.form, self.channels, step, 0)
    }
}

/// dw, which the slope's launch has made, as an op, so that it has a gradient.
struct Coefficients {
    form: Rational,
    channels: usize,
    made: Tensor,
}

impl Op for Coefficients {
    fn name(&self) -> &'static str {
        "gradient of a rational function's coefficients"
    }

    fn forward(&self, _inputs: &[&Tensor]) -> Tensor {
        self.made.clone()
    }

    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        second(&self.form, self.channels, step, 1)
    }
}

/// The gradients by x, w and g of a first gradient, by x (`place` 0) or by w (1), with g the gradient of the function's value. They come from the
/// function as a composition of ops; a third gradient is an error.
fn second(form: &Rational, channels: usize, step: &Backward<'_>, place: usize) -> Result<Vec<Option<Var>>> {
    let leaves: Vec<Var> = step.inputs.iter().map(|input| Var::leaf(input.value().clone())).collect();
    let [x, w, g] = [&leaves[0], &leaves[1], &leaves[2]];
    let y = composed(form, channels, x, w);
    let first = grad_with_seed(&y, g, &[[x, w][place]])?.swap_remove(0);
    let Some(first) = first else { return Ok(vec![None; 3]) };
    let found = grad_with_seed(&first, &step.gradient.detach(), &[x, w, g])?;
    let all: Vec<&Var> = step.inputs.iter().chain([step.gradient]).collect();
    let sealed = |found: Var| apply(Rc::new(Second { made: found.value().clone() }), &all);
    Ok((0..3).zip(found).map(|(at, found)| found.filter(|_| step.wants(at)).map(sealed)).collect())
}

/// A second gradient.
struct Second {
    made: Tensor,
}

impl Op for Second {
    fn name(&self) -> &'static str {
        "second gradient of a rational function"
    }

    fn forward(&self, _inputs: &[&Tensor]) -> Tensor {
        self.made.clone()
    }
}

/// P(x) / Q(x) from ops that have all gradients; 0, with gradients 0, under ⊥. Only ops that other code uses too: browsers download each.
fn composed(form: &Rational, channels: usize, x: &Var, w: &Var) -> Var {
    let (count, table) = (form.coefficients(), Shape::from([x.shape().len() / channels, channels]));
    let (x_table, w) = (reshape(x, table.clone()), reshape(w, [count, channels]));
    let row = |at: usize| {
        let only: Vec<f32> = (0..count).map(|other| f32::from(u8::from(other == at))).collect();
        product(&Var::constant(Tensor::constant(w.value().device(), [1, count], &only)), &w, false, false)
    };
    let rows: Vec<Var> = (0..count).map(row).collect();
    let (p, q) = rows.split_at(form.numerator + 1);
    let number = |value: f32| constant(x, value);
    let parts = |x: &Var| {
        let first = if form.is_safe { number(0.0) } else { q[0].clone() };
        let (numerator, sum) = (polynomial(form.basis, x, &p[0], &p[1..]), polynomial(form.basis, x, &first, &q[1..]));
        (numerator, if form.is_safe { add(&abs(&sum), &number(1.0)) } else { sum })
    };
    let (numerator, denominator) = parts(&x_table.detach());
    let value = div(&numerator, &denominator);
    let fits = |value: &Var| le(&abs(value), &number(f32::MAX));
    let is_far = gt(&abs(&denominator), &number(form.epsilon));
    let is_sound = mul(&is_far, &mul(&fits(&value), &fits(&div(&value, &denominator))));
    let is_sound = broadcast_to(&is_sound.detach(), &table);
    // Powers of what is left out may be infinite, and 0 times them is NaN.
    let (numerator, denominator) = parts(&select(&is_sound, &x_table, &number(0.0)));
    let y = div(&select(&is_sound, &numerator, &number(0.0)), &select(&is_sound, &denominator, &number(1.0)));
    reshape(&y, x.shape())
}

/// A first coefficient, and Σ c_k φ_k(x) over k from 1 on. Coefficients are [1, channels].
fn polynomial(basis: Basis, x: &Var, first: &Var, coefficients: &[Var]) -> Var {
    let (mut total, mut before, mut term) = (first.clone(), constant(x, 1.0), x.clone());
    for coefficient in coefficients {
        total = add(&total, &mul(coefficient, &term));
        let next = match basis {
            Basis::Monomial => mul(&term, x),
            Basis::Chebyshev => sub(&mul(&add(x, x), &term), &before),
        };
        before = std::mem::replace(&mut term, next);
    }
    total
}

/// P(x) / Q(x) for each element of x with coefficients w: [numerator + denominator + 2, channels] (p_0, …, q_0, …), channels being 1 or
/// the size of x's last axis; 0 under ⊥. Also returns the bits of ⊥, one per element: u32[ceil(elements / 32)].
/// A third gradient is an error.
#[track_caller]
pub fn rational(x: &Var, w: &Var, form: &Rational) -> (Var, Tensor) {
    let op = Rc::new(Apply { form: *form, bottom: OnceCell::new() });
    op.channels(x.shape(), w.shape()).unwrap_or_else(|error| panic!("rational: {error}"));
    let y = apply(op.clone(), &[x, w]);
    (y, op.second().expect("the launch makes it"))
}
