//! Matrix products, rows by index and rounding to halves, for masked numbers. The value under ⊥ is 0, so values are computed by plain ops;
//! a result is ⊥ if the number of ⊥ among its operands is not 0, and a fault (if traced) if one of them is a fault.

use super::pointwise::overflow_where;
use super::{Marks, Masked, fused};
use crate::autograd::Var;
use crate::ops;
use crate::program::expr;
use crate::tensor::{DType, Tensor};

/// `value` where none of its operands was ⊥, else ⊥; ⊥ also where the value is not a float.
fn unless(value: &Var, marks: &Marks) -> Masked {
    marks.masked(&Masked::from(value), |bottoms| expr::eq(bottoms, 0.0))
}

/// a · b over the last two axes, batched as in `ops::matmul`. A result whose row of `a` or column of `b` holds a ⊥ is ⊥, even if the other factor is 0.
#[track_caller]
pub fn matmul(a: &Masked, b: &Masked) -> Masked {
    let (a, b) = (a.canonicalized_with(b), b.canonicalized_with(a));
    let product = ops::matmul(a.value(), b.value());
    let along = |x: &Masked, from_last: usize| {
        let axis = x.shape().rank() - from_last;
        x.marks().through(|marks| ops::sum(marks, axis..axis + 1))
    };
    unless(&product, &along(&a, 1).and(along(&b, 2)))
}

/// x · w + b: `x` [.., k], `w` [k, n], `b` [n].
#[track_caller]
pub fn linear(x: &Masked, w: &Masked, b: &Masked) -> Masked {
    super::add(&matmul(x, w), b)
}

/// Rows of `x` [rows, columns] by index; every index is below `rows`.
#[track_caller]
pub fn take_rows(x: &Masked, index: &Tensor) -> Masked {
    let x = x.canonicalized();
    unless(&ops::take_rows(x.value(), index), &x.marks().through(|marks| ops::take_rows(marks, index)))
}

/// Adds row i of `x` to row `index[i]` of zeros [rows, columns]; where a ⊥ is added the sum is ⊥.
#[track_caller]
pub fn add_rows(x: &Masked, index: &Tensor, rows: usize) -> Masked {
    let x = x.canonicalized();
    unless(&ops::add_rows(x.value(), index, rows), &x.marks().through(|marks| ops::add_rows(marks, index, rows)))
}

/// The numbers rounded to half floats, still in f32: ⊥ by a fault where the rounded value is beyond ±65,504.
#[track_caller]
pub fn round_to_half(x: &Masked) -> Masked {
    let fitting = fused(&[x], |v| v[0] + overflow_where(expr::ge(expr::abs(v[0]), 65_520.0)));
    let rounded = ops::cast(&ops::cast(fitting.value(), DType::F16), DType::F32);
    unless(&rounded, &fitting.marks())
}
