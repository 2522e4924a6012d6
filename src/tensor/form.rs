//! The shape and the type of a value, apart from any device: what an op's rule works on.

use super::{DType, Shape};
use crate::error::{Error, Result};

/// Elements of the largest value: sizes in words are 32 bits.
const MOST: usize = 1 << 31;

/// The shape and the type of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// Its shape.
    pub shape: Shape,
    /// Its type.
    pub dtype: DType,
}

impl Form {
    /// Of floats.
    pub fn floats(shape: impl Into<Shape>) -> Self {
        Self { shape: shape.into(), dtype: DType::F32 }
    }

    /// Sizes of a value of floats. Errors if there are more than four axes, or too many elements.
    pub fn checked(sizes: &[usize]) -> Result<Self> {
        let count = sizes.iter().try_fold(1_usize, |count, &size| count.checked_mul(size.max(1)));
        if sizes.len() > 4 || count.is_none_or(|count| count > MOST) {
            return Err(Error::new(format!("got shape {sizes:?}, expected at most 4 axes and {MOST} elements")));
        }
        Ok(Self::floats(sizes.to_vec()))
    }

    /// The sizes.
    pub fn sizes(&self) -> &[usize] {
        self.shape.sizes()
    }

    /// Errors unless it has floats and, if `rank` is given, so many axes.
    pub fn require(&self, rank: Option<usize>) -> Result<()> {
        if self.dtype != DType::F32 {
            return Err(Error::new(format!("got {:?}, expected F32", self.dtype)));
        }
        match rank.filter(|&rank| rank != self.shape.rank()) {
            Some(rank) => Err(Error::new(format!("got shape {}, expected {rank} axes", self.shape))),
            None => Ok(()),
        }
    }
}
