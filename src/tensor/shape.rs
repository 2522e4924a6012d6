//! Shapes: up to four sizes, row-major, broadcast from the right as in NumPy.

use std::fmt;

use crate::error::{Error, Result};
use crate::kernels::pointwise::natural;

/// Sizes of a tensor, outermost first.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Shape(Vec<usize>);

impl Shape {
    /// The sizes.
    pub fn sizes(&self) -> &[usize] {
        &self.0
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.0.iter().product()
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sizes padded on the left with ones to four.
    pub fn dims(&self) -> [u32; 4] {
        let mut dims = [1; 4];
        for (dim, &size) in dims[4 - self.rank()..].iter_mut().zip(&self.0) {
            *dim = u32::try_from(size).expect("sizes fit 32 bits");
        }
        dims
    }

    /// Strides that read this shape as if it were `wider`: 0 along broadcast axes.
    #[track_caller]
    pub fn broadcast_strides(&self, wider: &Self) -> [u32; 4] {
        let (own, wide) = (self.dims(), wider.dims());
        let mut strides = natural(own);
        for axis in 0..4 {
            assert!(own[axis] == wide[axis] || own[axis] == 1, "broadcast: cannot broadcast {self} to {wider}");
            if wide[axis] == 1 {
                strides[axis] = 0;
            }
        }
        strides
    }

    /// The shape to which both broadcast.
    #[track_caller]
    pub fn joined(&self, other: &Self) -> Self {
        self.try_joined(other).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The same, or an error.
    pub fn try_joined(&self, other: &Self) -> Result<Self> {
        let rank = self.rank().max(other.rank());
        let (a, b) = (self.dims(), other.dims());
        let join = |axis: usize| match (a[axis], b[axis]) {
            (1, size) | (size, 1) => Ok(size as usize),
            (size, same) if size == same => Ok(size as usize),
            _ => Err(Error::new(format!("broadcast: shapes {self} and {other} differ (axis {axis} of 4)"))),
        };
        Ok(Self((4 - rank..4).map(join).collect::<Result<_>>()?))
    }
}

impl From<Vec<usize>> for Shape {
    #[track_caller]
    fn from(sizes: Vec<usize>) -> Self {
        assert!(sizes.len() <= 4, "shape: got {} axes, expected at most 4", sizes.len());
        Self(sizes)
    }
}

impl<const N: usize> From<[usize; N]> for Shape {
    fn from(sizes: [usize; N]) -> Self {
        Self::from(sizes.to_vec())
    }
}

impl From<&Self> for Shape {
    fn from(shape: &Self) -> Self {
        shape.clone()
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
