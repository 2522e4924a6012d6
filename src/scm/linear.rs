//! Products of matrices, rows by index and storage as halves, of masked numbers. 0 stands under ⊥, so the values are those of plain ops;
//! how many ⊥ went into each result decides whether it is one. Causes are not traced.

use super::pointwise::only_where;
use super::{Masked, fused};
use crate::autograd::Var;
use crate::kernels::scalar::expr;
use crate::ops;
use crate::tensor::{DType, Tensor};

/// `value` where `count` is 0, else ⊥; ⊥ too where the value is no float.
fn unless(value: &Var, count: &Var) -> Masked {
    fused(&[&Masked::from(value), &Masked::from(count)], |v| only_where(v[0], expr::eq(v[1], 0.0)))
}

/// a · b over the last two axes, batched as in `ops::matmul`. A result whose row of `a` or column of `b` holds a ⊥ is ⊥, also where it meets a 0.
#[track_caller]
pub fn matmul(a: &Masked, b: &Masked) -> Masked {
    let (a, b) = (a.settled(), b.settled());
    let product = ops::matmul(a.value(), b.value());
    let along = |x: &Masked, from_last: usize| {
        let axis = x.shape().rank() - from_last;
        ops::sum(&x.bottoms(), axis..axis + 1)
    };
    unless(&product, &ops::add(&along(&a, 1), &along(&b, 2)))
}

/// x · w + b: `x` [.., k], `w` [k, n], `b` [n].
#[track_caller]
pub fn linear(x: &Masked, w: &Masked, b: &Masked) -> Masked {
    super::add(&matmul(x, w), b)
}

/// Rows of `x` [rows, columns] by number; every index is below `rows`.
#[track_caller]
pub fn take_rows(x: &Masked, index: &Tensor) -> Masked {
    let x = x.settled();
    unless(&ops::take_rows(x.value(), index), &ops::take_rows(&x.bottoms(), index))
}

/// Adds row i of `x` to row `index[i]` of zeros [rows, columns]; where a ⊥ is added the sum is ⊥.
#[track_caller]
pub fn add_rows(x: &Masked, index: &Tensor, rows: usize) -> Masked {
    let x = x.settled();
    unless(&ops::add_rows(x.value(), index, rows), &ops::add_rows(&x.bottoms(), index, rows))
}

/// The numbers as half floats hold them, still in f32: ⊥ where they are beyond ±65,504 when rounded.
#[track_caller]
pub fn round_to_half(x: &Masked) -> Masked {
    let fitting = fused(&[x], |v| only_where(v[0], expr::lt(expr::abs(v[0]), 65_520.0)));
    let rounded = ops::cast(&ops::cast(fitting.value(), DType::F16), DType::F32);
    unless(&rounded, &fitting.bottoms())
}
