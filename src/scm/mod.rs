//! Total arithmetic (a common meadow): every number is a float or ⊥, every operation has a result, and ⊥ absorbs. x / 0, ln of what is not
//! above 0, √ of what is below, and whatever a float cannot hold are ⊥. No NaN and no infinity comes out of this room, neither in values
//! nor in gradients: a slope that does not exist or cannot be represented is 0.

mod complex;
mod complex_tensor;
mod functions;
mod layers;
mod linear;
mod operators;
pub mod orientation;
mod pointwise;
pub mod policy;
mod projective;
mod reduce;
pub mod strict;
pub mod symbolic;
mod total;
mod value;

pub use complex::Complex;
pub use complex_tensor::ComplexTensor;
pub use layers::{Moments, norm, rational, softmax, standardised, with_gradient_policy};
pub use linear::{add_rows, linear, matmul, round_to_half, take_rows};
pub use pointwise::*;
pub use projective::Pair;
pub use reduce::{BottomRule, mean, prod, sum};
pub use total::fused;
pub use value::Scm;

use crate::autograd::{self, Var};
use crate::device::View;
use crate::error::{Error, Result};
use crate::kernels::cast::{self, Conversion};
use crate::kernels::masked::{Planes, plane_words};
use crate::kernels::reduce::Join;
use crate::program::Expr;
use crate::program::expr;
use crate::tensor::{DType, Shape, Tensor};
use crate::{Device, ops};

/// Numbers of which some are ⊥: values, and a bit for each that is. Bit i of word w is element 32 w + i of the row-major tensor, bits past
/// the last element are 0. Under ⊥ the value is exactly 0.
#[derive(Clone)]
pub struct Masked {
    value: Var,
    planes: Option<(Planes, Tensor)>,
    /// Whether faults are told apart from divisions and domains.
    is_traced: bool,
}

impl From<&Var> for Masked {
    /// Values of which those that are not finite count as ⊥ in every operation. Nothing is launched: `value` is still `x` itself.
    fn from(x: &Var) -> Self {
        Self { value: x.clone(), planes: None, is_traced: false }
    }
}

impl Masked {
    /// Uploads values of `shape`; what is not finite is ⊥.
    pub fn from_f32(device: &Device, shape: impl Into<Shape>, values: &[f32]) -> Result<Self> {
        let value = Var::constant(upload(device, shape.into(), values)?);
        Ok(Self::from(&value).canonicalized())
    }

    /// Uploads values of `shape` and the words of their mask; what is not finite is ⊥ as well.
    pub fn with_mask(device: &Device, shape: impl Into<Shape>, values: &[f32], mask: &[u32]) -> Result<Self> {
        let value = Var::constant(upload(device, shape.into(), values)?);
        Self::masked_by(&value, mask)
    }

    /// Values and the words of their mask; what is not finite is ⊥ as well.
    pub fn masked_by(value: &Var, mask: &[u32]) -> Result<Self> {
        let count = value.shape().len();
        let wanted = count.div_ceil(32);
        if mask.len() != wanted {
            return Err(Error::new(format!(
                "mask has {} words, wanted {wanted} for {} ({count} elements)",
                mask.len(),
                value.shape()
            )));
        }
        if !count.is_multiple_of(32) && mask[wanted - 1] >> (count % 32) != 0 {
            return Err(Error::new(format!("mask has bits past its {count} elements, wanted them 0")));
        }
        let planes = Some((Planes::Bottom, Tensor::from_u32(value.value().device(), [wanted], mask)?));
        Ok(fused(&[&Self { value: value.clone(), planes, is_traced: false }], |v| v[0]))
    }

    /// The same numbers, from here on with the cause of each ⊥: [`Masked::faults`] tells which came (also) from an overflow or an input
    /// that was not finite. The first operand that is ⊥ hands its cause on; where numbers of one tensor are joined (sums, products of
    /// matrices) one fault among those that make ⊥ makes it one.
    pub fn traced(&self) -> Self {
        fused(&[&Self { is_traced: true, ..self.clone() }], |v| v[0])
    }

    /// The same numbers with values that are finite and 0 under ⊥.
    #[must_use]
    pub fn canonicalized(&self) -> Self {
        if self.planes.is_some() { self.clone() } else { fused(&[self], |v| v[0]) }
    }

    /// The same numbers with values that are finite and 0 under ⊥, which `marks`, broadcast, tell as well wherever they are not 0.
    #[must_use]
    #[track_caller]
    pub fn except(&self, marks: &Var) -> Self {
        fused(&[self, &Self::from(marks)], |v| only_where(v[0], expr::eq(v[1], 0.0)))
    }

    /// The values, for ops that know nothing of ⊥ and for gradients.
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

    /// Settled, and traced if `other` is: only here can an input that is not finite be called a fault.
    fn settled_beside(&self, other: &Self) -> Self {
        if self.planes.is_none() && other.is_traced { self.traced() } else { self.canonicalized() }
    }

    /// The same numbers with their history forgotten.
    pub fn detach(&self) -> Self {
        Self { value: self.value.detach(), ..self.clone() }
    }

    /// 1 where ⊥, else 0, in the values' shape; no gradient.
    pub fn bottoms(&self) -> Var {
        self.canonicalized().plane(0)
    }

    /// Bits of the planes from a word on as 0 and 1, in the values' shape; of what is canonicalized.
    fn plane(&self, from: usize) -> Var {
        let (_, bits) = self.planes.as_ref().expect("what is canonicalized has planes");
        let out = Tensor::empty(bits.device(), self.shape(), DType::F32);
        let View { buffer, offset, .. } = bits.view().clone();
        let words = View { buffer, offset: offset + from, words: out.len().div_ceil(32) };
        out.launch(cast::dispatch(Conversion::BitToFloat, out.len() as u32, words, out.view().clone()));
        Var::constant(out)
    }

    /// Which elements are ⊥ and, if that is traced, which of them by a fault.
    fn marks(&self) -> Marks {
        let canonicalized = self.canonicalized();
        let has_faults = matches!(canonicalized.planes, Some((Planes::Fault, _)));
        let faults = has_faults.then(|| canonicalized.plane(plane_words(self.shape().len())));
        Marks { bottoms: canonicalized.plane(0), faults }
    }

    /// The share of elements that are not ⊥, a scalar on the device; 1 where there are none. No gradient.
    pub fn coverage(&self) -> Var {
        let canonicalized = self.canonicalized();
        let (_, bits) = canonicalized.planes.as_ref().expect("what is canonicalized has planes");
        let count = self.shape().len();
        let words = count.div_ceil(32);
        let ones = Tensor::empty(bits.device(), [words], DType::F32);
        let mut mask = bits.view().clone();
        mask.words = words;
        ones.launch(cast::dispatch(Conversion::BitsToCount, words as u32, mask, ones.view().clone()));
        let share = ones.reduce(Join::Sum, 0..1, 1.0 / count.max(1) as f32);
        ops::fused(&[&Var::constant(share)], |v| 1.0 - v[0])
    }

    /// The words of the mask, copied out.
    pub async fn mask(&self) -> Result<Vec<u32>> {
        let canonicalized = self.canonicalized();
        let (_, bits) = canonicalized.planes.as_ref().expect("what is canonicalized has planes");
        let mut words = bits.to_u32().await?;
        words.truncate(self.shape().len().div_ceil(32));
        Ok(words)
    }

    /// The words that say which ⊥ came from a fault, copied out; an error unless the numbers are traced.
    pub async fn faults(&self) -> Result<Vec<u32>> {
        match &self.canonicalized().planes {
            Some((Planes::Fault, bits)) => Ok(bits.to_u32().await?.split_off(plane_words(self.shape().len()))),
            _ => Err(Error::new("faults: these numbers are not traced; ask `traced` before the operations")),
        }
    }
}

fn upload(device: &Device, shape: Shape, values: &[f32]) -> Result<Tensor> {
    if values.len() != shape.len() {
        return Err(Error::new(format!("{} values, wanted {} for {shape}", values.len(), shape.len())));
    }
    Tensor::from_f32(device, shape, values)
}

/// For each number 1 if it is ⊥, and if that is traced 1 if it is so by a fault; or how many are, of those that are joined.
struct Marks {
    bottoms: Var,
    faults: Option<Var>,
}

impl Marks {
    /// The marks moved or added up as the values were.
    fn through(&self, op: impl Fn(&Var) -> Var) -> Self {
        Self { bottoms: op(&self.bottoms), faults: self.faults.as_ref().map(op) }
    }

    /// Those of two that meet.
    fn and(self, other: Self) -> Self {
        let faults = match (self.faults, other.faults) {
            (Some(a), Some(b)) => Some(ops::add(&a, &b)),
            (a, b) => a.or(b),
        };
        Self { bottoms: ops::add(&self.bottoms, &other.bottoms), faults }
    }

    /// The values where `is_fine` says so of the number of ⊥, else ⊥: by a fault where one of them is. Values that are no floats are faults.
    fn judge(&self, values: &Masked, is_fine: impl Fn(Expr) -> Expr) -> Masked {
        let Some(faults) = &self.faults else {
            return fused(&[values, &Masked::from(&self.bottoms)], |v| only_where(v[0], is_fine(v[1])));
        };
        let values = Masked { is_traced: true, ..values.clone() };
        fused(&[&values, &Masked::from(&self.bottoms), &Masked::from(faults)], |v| {
            let fine = is_fine(v[1]);
            // The first ⊥ hands its cause on.
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

/// Gradients of the sum of `output` with respect to each of `wanted`; `None` where `output` does not depend on it. All are finite: where
/// several gradients meet, their sum is 0 if it is not representable.
pub fn grad(output: &Var, wanted: &[&Var]) -> Result<Vec<Option<Var>>> {
    let ones = ops::broadcast_to(&ops::constant(output, 1.0), output.shape());
    grad_with_seed(output, &ones, wanted)
}

/// The same for the sum of seed · `output`: a vector-Jacobian product. `seed` has the shape of `output`; a seed of 0 at an element leaves
/// that element out.
#[track_caller]
pub fn grad_with_seed(output: &Var, seed: &Var, wanted: &[&Var]) -> Result<Vec<Option<Var>>> {
    let add = |a: &Var, b: &Var| fused(&[&Masked::from(a), &Masked::from(b)], |v| v[0] + v[1]).value;
    autograd::grad(output, wanted, seed.clone(), add)
}
