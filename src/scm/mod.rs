//! Total arithmetic (a common meadow): every number is a float or ⊥, every operation has a result, and ⊥ absorbs. x / 0, ln x for
//! x <= 0, √x for x < 0, and results that are not representable are ⊥. This module returns no NaN and no infinity, neither in values nor
//! in gradients: a slope that does not exist or is not representable is 0.

mod layers;
mod linear;
mod marks;
mod operators;
mod pointwise;
pub mod policy;
mod projective;
mod records;
mod reduce;
pub mod strict;
mod total;

pub use layers::{Moments, norm, rational, softmax, standardize, with_gradient_policy};
pub use linear::{add_rows, linear, matmul, round_to_half, take_rows};
pub use pointwise::named::*;
pub use pointwise::{div, inv, log};
use pointwise::{only_where, overflow_where};
pub use projective::{Pair, PairNormalization};
pub use records::RECORDS;
pub use reduce::{BottomRule, mean, prod, sum};
pub use total::fused;

use std::ops::Range;

use crate::autograd::{self, Var};
use crate::device::View;
use crate::error::{Error, Result};
use crate::kernels::cast::{self, Conversion};
use crate::kernels::masked::{Planes, plane_words};
use crate::kernels::reduce::Join;
use crate::program::{Expr, expr};
use crate::tensor::{DType, Shape, Tensor};
use crate::{Device, ops};

/// Numbers or ⊥: values, and a mask with a bit for each element that is ⊥. Bit i of word w is element 32 w + i of the row-major tensor, bits
/// past the last element are 0. Under ⊥ the value is exactly 0.
#[derive(Clone)]
pub struct Masked {
    value: Var,
    planes: Option<(Planes, Tensor)>,
    /// Whether faults are distinguished from divisions by zero and domain violations.
    is_traced: bool,
}

impl From<&Var> for Masked {
    /// Values; every operation treats those that are not finite as ⊥. Launches nothing: `value` is still `x` itself.
    fn from(x: &Var) -> Self {
        Self { value: x.clone(), planes: None, is_traced: false }
    }
}

impl Masked {
    /// Uploads values of `shape`; values that are not finite are ⊥.
    pub fn from_f32(device: &Device, shape: impl Into<Shape>, values: &[f32]) -> Result<Self> {
        let value = Var::constant(upload(device, shape.into(), values)?);
        Ok(Self::from(&value).canonicalized())
    }

    /// Uploads values of `shape` and the words of their mask; values that are not finite are ⊥ as well.
    pub fn with_mask(device: &Device, shape: impl Into<Shape>, values: &[f32], mask: &[u32]) -> Result<Self> {
        let value = Var::constant(upload(device, shape.into(), values)?);
        Self::masked_by(&value, mask)
    }

    /// Values and the words of their mask; values that are not finite are ⊥ as well.
    pub fn masked_by(value: &Var, mask: &[u32]) -> Result<Self> {
        let count = value.shape().len();
        let expected = count.div_ceil(32);
        if mask.len() != expected {
            return Err(Error::new(format!(
                "mask: got {} words, expected {expected} for {} ({count} elements)",
                mask.len(),
                value.shape()
            )));
        }
        if !count.is_multiple_of(32) && mask[expected - 1] >> (count % 32) != 0 {
            return Err(Error::new(format!("mask: bits after its {count} elements are set, expected 0")));
        }
        let planes = Some((Planes::Bottom, Tensor::from_u32(value.value().device(), [expected], mask)?));
        Ok(fused(&[&Self { value: value.clone(), planes, is_traced: false }], |v| v[0]))
    }

    /// The same numbers, tracing the cause of each ⊥ from here on: [`Masked::faults`] returns which came (also) from an overflow or an input
    /// that was not finite. A result takes the cause of its first operand that is ⊥; where numbers of one tensor are combined (sums, matrix
    /// products), one fault among the ⊥ makes the result a fault.
    pub fn traced(&self) -> Self {
        fused(&[&Self { is_traced: true, ..self.clone() }], |v| v[0])
    }

    /// The same numbers in canonical form: values are finite, and 0 under ⊥.
    #[must_use]
    pub fn canonicalized(&self) -> Self {
        if self.planes.is_some() { self.clone() } else { fused(&[self], |v| v[0]) }
    }

    /// The same numbers in canonical form, and ⊥ also wherever `marks`, broadcast, are not 0.
    #[must_use]
    #[track_caller]
    pub fn except(&self, marks: &Var) -> Self {
        fused(&[self, &Self::from(marks)], |v| only_where(v[0], expr::eq(v[1], 0.0)))
    }

    /// Other values under the same mask.
    #[must_use]
    #[track_caller]
    pub fn with_value(&self, value: &Var) -> Self {
        assert_eq!(value.shape(), self.shape(), "mask: the values must have the shape of the masked numbers");
        Self { value: value.clone(), ..self.clone() }
    }

    /// The values, for ops without ⊥ and for gradients.
    pub fn value(&self) -> &Var {
        &self.value
    }

    /// Their shape.
    pub fn shape(&self) -> &Shape {
        self.value.shape()
    }

    /// The same numbers in another shape of as many elements.
    #[track_caller]
    pub fn reshaped(&self, shape: impl Into<Shape>) -> Self {
        Self { value: ops::reshape(&self.value, shape), ..self.clone() }
    }

    /// Canonicalized, and traced if `other` is: only here can an input that is not finite be recorded as a fault.
    fn canonicalized_with(&self, other: &Self) -> Self {
        if self.planes.is_none() && other.is_traced { self.traced() } else { self.canonicalized() }
    }

    /// The same numbers without their history, so that no gradient flows back.
    pub fn detach(&self) -> Self {
        Self { value: self.value.detach(), ..self.clone() }
    }

    /// The values, and infinity under ⊥: what a model without a projective head returns where there is no number. Predictions have no value there.
    pub fn or_infinite(&self) -> Var {
        infinite_where(&self.value, &self.bottoms())
    }

    /// 1 where ⊥, else 0, in the values' shape; no gradient.
    pub fn bottoms(&self) -> Var {
        self.canonicalized().plane(false)
    }

    /// The bits of ⊥, or of faults, as 0 and 1 in the values' shape; `self` must be canonicalized.
    fn plane(&self, are_faults: bool) -> Var {
        let (_, bits) = self.planes.as_ref().expect("canonicalized numbers have planes");
        marks::marks(bits, are_faults, self.shape())
    }

    /// The marks summed along a run of neighbouring axes, which are kept with size 1: word by word if each sum is over whole words of bits.
    fn counted_marks(&self, axes: Range<usize>) -> Marks {
        let sizes = self.shape().sizes();
        let [outer, extent, inner] =
            [0..axes.start, axes.clone(), axes.end..sizes.len()].map(|part| sizes[part].iter().product::<usize>());
        // In a list of ops, words of bits are not a size that depends on the number of rows in a simple way.
        if autograd::is_tracing() || inner != 1 || extent == 0 || outer != 1 && !extent.is_multiple_of(32) {
            return self.marks().through(|marks| ops::sum(marks, axes.clone()));
        }
        let canonicalized = self.canonicalized();
        let kept: Vec<usize> = (0..sizes.len()).map(|at| if axes.contains(&at) { 1 } else { sizes[at] }).collect();
        let count = |from: usize| {
            let ones = Var::constant(canonicalized.ones(from));
            ops::reshape(&ops::sum(&ops::reshape(&ones, [outer, extent.div_ceil(32)]), 1..2), kept.clone())
        };
        let has_faults = matches!(canonicalized.planes, Some((Planes::Fault, _)));
        Marks { bottoms: count(0), faults: has_faults.then(|| count(plane_words(self.shape().len()))) }
    }

    /// How many bits of each word of a plane, starting at word `from`, are set; `self` must be canonicalized.
    fn ones(&self, from: usize) -> Tensor {
        let (_, bits) = self.planes.as_ref().expect("canonicalized numbers have planes");
        let words = self.shape().len().div_ceil(32);
        let ones = Tensor::empty(bits.device(), [words], DType::F32);
        let View { buffer, offset, .. } = bits.view().clone();
        let mask = View { buffer, offset: offset + from, words };
        ones.launch(cast::dispatch(Conversion::BitsToCount, words as u32, mask, ones.view().clone()));
        ones
    }

    /// Marks of the elements that are ⊥ and, if traced, of those that are faults.
    fn marks(&self) -> Marks {
        let canonicalized = self.canonicalized();
        let has_faults = matches!(canonicalized.planes, Some((Planes::Fault, _)));
        let faults = has_faults.then(|| canonicalized.plane(true));
        Marks { bottoms: canonicalized.plane(false), faults }
    }

    /// The share of elements that are not ⊥, a scalar on the device; 1 for no elements. No gradient.
    pub fn coverage(&self) -> Var {
        let (ones, count) = (self.canonicalized().ones(0), self.shape().len());
        let share = ones.reduce(Join::Sum, 0..1, 1.0 / count.max(1) as f32);
        ops::fused(&[&Var::constant(share)], |v| 1.0 - v[0])
    }

    /// Reads the words of the mask.
    pub async fn mask(&self) -> Result<Vec<u32>> {
        let canonicalized = self.canonicalized();
        let (_, bits) = canonicalized.planes.as_ref().expect("canonicalized numbers have planes");
        let mut words = bits.to_u32().await?;
        words.truncate(self.shape().len().div_ceil(32));
        Ok(words)
    }

    /// Reads the words of the fault mask; an error unless the numbers are traced.
    pub async fn faults(&self) -> Result<Vec<u32>> {
        match &self.canonicalized().planes {
            Some((Planes::Fault, bits)) => Ok(bits.to_u32().await?.split_off(plane_words(self.shape().len()))),
            _ => Err(Error::new("faults: these numbers are not traced; call `traced` before the operations")),
        }
    }
}

fn upload(device: &Device, shape: Shape, values: &[f32]) -> Result<Tensor> {
    if values.len() != shape.len() {
        return Err(Error::new(format!("masked: got {} values, expected {} for {shape}", values.len(), shape.len())));
    }
    Tensor::from_f32(device, shape, values)
}

/// `x`, and infinity where `marks`, broadcast, are 1.
pub(crate) fn infinite_where(x: &Var, marks: &Var) -> Var {
    ops::fused(&[x, marks], |v| v[0] + v[1] / (1.0 - v[1]))
}

/// For each number 1 if it is ⊥ and, if traced, 1 if it is a fault; after a sum, the number of these.
struct Marks {
    bottoms: Var,
    faults: Option<Var>,
}

impl Marks {
    /// Applies to the marks the op that moved or summed the values.
    fn through(&self, op: impl Fn(&Var) -> Var) -> Self {
        Self { bottoms: op(&self.bottoms), faults: self.faults.as_ref().map(op) }
    }

    /// The sum of two marks, for values that are combined.
    fn and(self, other: Self) -> Self {
        let faults = match (self.faults, other.faults) {
            (Some(a), Some(b)) => Some(ops::add(&a, &b)),
            (a, b) => a.or(b),
        };
        Self { bottoms: ops::add(&self.bottoms, &other.bottoms), faults }
    }

    /// The values where `is_fine` holds for the number of ⊥, else ⊥, a fault if one of them is. Values that are not floats are faults.
    fn masked(&self, values: &Masked, is_fine: impl Fn(Expr) -> Expr) -> Masked {
        let Some(faults) = &self.faults else {
            return fused(&[values, &Masked::from(&self.bottoms)], |v| only_where(v[0], is_fine(v[1])));
        };
        let values = Masked { is_traced: true, ..values.clone() };
        fused(&[&values, &Masked::from(&self.bottoms), &Masked::from(faults)], |v| {
            let fine = is_fine(v[1]);
            // The first operand that is ⊥ gives the cause.
            only_where(overflow_where(v[2] * (1.0 - fine)), fine) + v[0]
        })
    }
}

/// One truth value per element as the words of a mask: bit i of word w is element 32 w + i; the last word ends with zeros.
pub fn pack(mask: &[bool]) -> Vec<u32> {
    let word = |bits: &[bool]| bits.iter().enumerate().fold(0, |word, (at, &bit)| word | u32::from(bit) << at);
    mask.chunks(32).map(word).collect()
}

/// The words of a mask as one truth value for each of `count` elements: the inverse of [`pack`]. Elements past the last word are false.
///
/// ```
/// use meromorph::scm::{pack, unpack};
///
/// assert_eq!(pack(&[true, false, true]), [0b101]);
/// assert_eq!(unpack(&[0b101], 3), [true, false, true]);
/// ```
pub fn unpack(words: &[u32], count: usize) -> Vec<bool> {
    (0..count).map(|at| words.get(at / 32).is_some_and(|word| word >> (at % 32) & 1 == 1)).collect()
}

/// Gradients of the sum of `output` with respect to each of `variables`; `None` where `output` does not depend on it. All are finite: where
/// several gradients meet, their sum is 0 if it is not representable.
pub fn grad(output: &Var, variables: &[&Var]) -> Result<Vec<Option<Var>>> {
    let ones = ops::broadcast_to(&ops::constant(output, 1.0), output.shape());
    grad_with_seed(output, &ones, variables)
}

/// The same for the sum of seed · `output`: a vector-Jacobian product. `seed` has the shape of `output`; a seed of 0 at an element leaves
/// that element out.
#[track_caller]
pub fn grad_with_seed(output: &Var, seed: &Var, variables: &[&Var]) -> Result<Vec<Option<Var>>> {
    let add = |a: &Var, b: &Var| fused(&[&Masked::from(a), &Masked::from(b)], |v| v[0] + v[1]).value;
    autograd::grad(&[(output, seed)], variables, add)
}
