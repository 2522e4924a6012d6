//! Sums, means and products of masked numbers along axes. Their causes are not traced: a result is ⊥ or it is not.

use std::ops::Range;

use super::pointwise::only_where;
use super::{Masked, fused, take_rows};
use crate::autograd::Var;
use crate::error::{Error, Result};
use crate::kernels::scalar::expr;
use crate::ops;
use crate::tensor::Tensor;

/// What a ⊥ among the numbers does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It makes the result ⊥.
    Strict,
    /// It is left out; a result of nothing is ⊥.
    Drop,
}

/// The sum along a run of neighbouring axes, which stay with size 1. ⊥ as well where the sum is no float.
#[track_caller]
pub fn sum(x: &Masked, axes: Range<usize>, mode: Mode) -> Masked {
    let x = x.settled();
    judged(&Masked::from(&ops::sum(x.value(), axes.clone())), &x, axes, mode)
}

/// The mean along a run of neighbouring axes, which stay with size 1.
#[track_caller]
pub fn mean(x: &Masked, axes: Range<usize>, mode: Mode) -> Masked {
    let (sum, count) = (sum(x, axes.clone(), mode), extent(x, &axes));
    match mode {
        Mode::Strict => fused(&[&sum], |v| v[0] / count),
        Mode::Drop => fused(&[&sum, &bottoms_along(x, axes)], |v| v[0] / (count - v[1])),
    }
}

/// The product along a run of neighbouring axes, which stay with size 1: a tree of products of halves.
pub fn prod(x: &Masked, axes: Range<usize>, mode: Mode) -> Result<Masked> {
    let x = x.settled();
    let sizes = x.shape().sizes();
    let rank = sizes.len();
    let others = (0..axes.start).chain(axes.end..rank);
    let order: Vec<usize> = axes.clone().chain(others).collect();
    let rows: usize = sizes[axes.clone()].iter().product();
    if rows == 0 {
        return Err(Error::new(format!("prod: {} has nothing to multiply along axes {axes:?}", x.shape())));
    }
    let kept: Vec<usize> = (0..rank).map(|axis| if axes.contains(&axis) { 1 } else { sizes[axis] }).collect();
    // ⊥ counts as 1 here; the mode judges it below.
    let filled = ops::add(x.value(), &x.bottoms());
    let columns = x.shape().len() / rows;
    let mut tree = Masked::from(&ops::reshape(&ops::permute(&filled, &order), [rows, columns])).settled();
    while tree.shape().sizes()[0] > 1 {
        tree = halved(&tree)?;
    }
    Ok(judged(&tree.reshaped(kept), &x, axes, mode))
}

/// Rows of the first half times those of the second; a middle row without partner stays as it is.
fn halved(x: &Masked) -> Result<Masked> {
    let rows = x.shape().sizes()[0];
    let half = rows.div_ceil(2);
    let device = x.value().value().device();
    let index = |at: &dyn Fn(usize) -> usize| {
        let rows: Vec<u32> = (0..half).map(|row| at(row) as u32).collect();
        Tensor::from_u32(device, [half], &rows)
    };
    let has_partner: Vec<f32> = (0..half).map(|row| f32::from(u8::from(half + row < rows))).collect();
    let has_partner = Masked::from(&Var::constant(Tensor::from_f32(device, [half, 1], &has_partner)?));
    let first = take_rows(x, &index(&|row| row)?);
    // Without a partner a row meets itself, so that no other row's ⊥ gets in.
    let second = take_rows(x, &index(&|row| if half + row < rows { half + row } else { row })?);
    Ok(fused(&[&first, &second, &has_partner], |v| v[0] * expr::select(v[2], v[1], 1.0)))
}

/// `joined`, with ⊥ where the mode wants it for the numbers `x` it was made of.
fn judged(joined: &Masked, x: &Masked, axes: Range<usize>, mode: Mode) -> Masked {
    let extent = extent(x, &axes);
    fused(&[joined, &bottoms_along(x, axes)], |v| match mode {
        Mode::Strict => only_where(v[0], expr::eq(v[1], 0.0)),
        Mode::Drop => only_where(v[0], expr::lt(v[1], extent)),
    })
}

fn extent(x: &Masked, axes: &Range<usize>) -> f32 {
    x.shape().sizes()[axes.clone()].iter().product::<usize>() as f32
}

/// How many are ⊥ along the axes.
fn bottoms_along(x: &Masked, axes: Range<usize>) -> Masked {
    Masked::from(&ops::sum(&x.bottoms(), axes))
}
