//! Example launches of kernels, for tests and for timing, and how far results may be from those of a plain f64 function.

use super::body::SharedBody;
use super::kernel::Kernel;

/// One example launch of a kernel, for tests of parity and of writes out of bounds, and for timing, on every device.
pub struct Case {
    /// What it tests.
    pub name: String,
    /// The kernel.
    pub kernel: &'static Kernel,
    /// The dispatch's body, if the kernel takes one.
    pub body: Option<SharedBody>,
    /// The uniform.
    pub params: Vec<u32>,
    /// Contents of the inputs.
    pub inputs: Vec<Vec<u32>>,
    /// Contents of the outputs before the dispatch; their length is the output's length.
    pub outputs: Vec<Vec<u32>>,
    /// The expected outputs, from a plain f64 function.
    pub expected: Vec<Expected>,
    /// The admissible error.
    pub bound: Bound,
}

/// The oracle's answer for one output.
#[derive(Clone, Debug)]
pub enum Expected {
    /// Floats, compared within the case's bound.
    Floats(Vec<f64>),
    /// Half floats, two a word, the first in the low half; compared within the case's bound.
    Halves(Vec<f64>),
    /// Words, compared exactly.
    Words(Vec<u32>),
    /// A number of words that are not compared (scratch).
    Anything(usize),
}

impl Expected {
    /// The output's length in words.
    pub fn words(&self) -> usize {
        match self {
            Self::Floats(values) => values.len(),
            Self::Halves(values) => values.len().div_ceil(2),
            Self::Words(words) => words.len(),
            Self::Anything(words) => *words,
        }
    }
}

/// How far a device's result may be from the f64 oracle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// The same bits.
    Exact,
    /// |got - expected| <= relative * |expected| + absolute.
    Within {
        /// Factor of the expected magnitude.
        relative: f64,
        /// Floor under it.
        absolute: f64,
    },
}

impl Bound {
    /// Whether `got` is close enough to `expected`; any NaN is equal to NaN.
    pub fn admits(&self, got: f64, expected: f64) -> bool {
        match *self {
            _ if expected.is_nan() => got.is_nan(),
            Self::Exact => got == expected,
            // Infinities have no difference.
            Self::Within { relative, absolute } => {
                got == expected || (got - expected).abs() <= relative * expected.abs() + absolute
            }
        }
    }
}
