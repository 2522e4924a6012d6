//! Sums, means and products of masked numbers along axes. A result that is ⊥ is a fault if any of the ⊥ that caused it is a fault, or if
//! the result itself is not a float.

use std::ops::Range;

use super::{Marks, Masked, fused, take_rows};
use crate::autograd::Var;
use crate::error::{Error, Result};
use crate::ops;
use crate::program::expr;
use crate::tensor::Tensor;

/// The effect of a ⊥ among the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BottomRule {
    /// It makes the result ⊥.
    Strict,
    /// It is ignored; a result without any number is ⊥.
    Drop,
}

/// The sum along a run of neighbouring axes, which are kept with size 1. ⊥ also where the sum is not a float.
#[track_caller]
pub fn sum(x: &Masked, axes: Range<usize>, mode: BottomRule) -> Masked {
    let x = x.canonicalized();
    let marks = x.counted_marks(axes.clone());
    with_bottoms(&Masked::from(&ops::sum(x.value(), axes.clone())), &marks, extent(&x, &axes), mode)
}

/// The mean along a run of neighbouring axes, which are kept with size 1.
#[track_caller]
pub fn mean(x: &Masked, axes: Range<usize>, mode: BottomRule) -> Masked {
    let (x, count) = (x.canonicalized(), extent(x, &axes));
    let sum = sum(&x, axes.clone(), mode);
    match mode {
        BottomRule::Strict => fused(&[&sum], |v| v[0] / count),
        BottomRule::Drop => fused(&[&sum, &Masked::from(&x.counted_marks(axes).bottoms)], |v| v[0] / (count - v[1])),
    }
}

/// The product along a run of neighbouring axes, which are kept with size 1, as a tree of pairwise products.
pub fn prod(x: &Masked, axes: Range<usize>, mode: BottomRule) -> Result<Masked> {
    let x = x.canonicalized();
    let sizes = x.shape().sizes();
    let rank = sizes.len();
    let others = (0..axes.start).chain(axes.end..rank);
    let order: Vec<usize> = axes.clone().chain(others).collect();
    let rows: usize = sizes[axes.clone()].iter().product();
    if rows == 0 {
        return Err(Error::new(format!("prod: {} has no elements along axes {axes:?}", x.shape())));
    }
    let kept: Vec<usize> = (0..rank).map(|axis| if axes.contains(&axis) { 1 } else { sizes[axis] }).collect();
    // ⊥ counts as 1 here; the mode is applied below.
    let marks = x.marks();
    let filled = ops::add(x.value(), &marks.bottoms);
    let columns = x.shape().len() / rows;
    let tree = Masked::from(&ops::reshape(&ops::permute(&filled, &order), [rows, columns]));
    let mut tree = tree.canonicalized_with(&x);
    while tree.shape().sizes()[0] > 1 {
        tree = halved(&tree)?;
    }
    let marks = marks.through(|marks| ops::sum(marks, axes.clone()));
    Ok(with_bottoms(&tree.reshaped(kept), &marks, rows as f32, mode))
}

/// Rows of the first half times those of the second; a middle row without partner is unchanged.
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
    // A row without a partner is paired with itself, so that it takes no other row's ⊥.
    let second = take_rows(x, &index(&|row| if half + row < rows { half + row } else { row })?);
    Ok(fused(&[&first, &second, &has_partner], |v| v[0] * expr::select(v[2], v[1], 1.0)))
}

/// `joined`, reduced over `extent` numbers each, with ⊥ according to the mode.
fn with_bottoms(joined: &Masked, marks: &Marks, extent: f32, mode: BottomRule) -> Masked {
    marks.masked(joined, |bottoms| match mode {
        BottomRule::Strict => expr::eq(bottoms, 0.0),
        BottomRule::Drop => expr::lt(bottoms, extent),
    })
}

fn extent(x: &Masked, axes: &Range<usize>) -> f32 {
    x.shape().sizes()[axes.clone()].iter().product::<usize>() as f32
}
