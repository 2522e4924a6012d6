//! The methods of compression and their parameters.

use crate::error::{Error, Result};

/// How a gradient of n values becomes a message. All but `None` lose something.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Method {
    /// Every value as it is: 4 n bytes.
    None,
    /// The values of largest magnitude, as they are; of equal magnitudes the ones at the lowest places.
    TopK(Count),
    /// The values of at least a magnitude, as they are. Zeros are never sent.
    Threshold(Cutoff),
    /// Every value as a whole number of levels. A block of 256 values has max |v| / L as its level, where L is 127 for 8 bits and 7 for 4 bits.
    Quantize {
        /// Bits of a value.
        bits: Bits,
        /// How a value between two levels is rounded.
        rounding: Rounding,
    },
}

/// A number of values to keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Count {
    /// So many, or all if there are fewer.
    Exactly(usize),
    /// A share of the values, above 0 and at most 1; at least one value.
    Share(f64),
}

/// The magnitude from which values are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cutoff {
    /// A magnitude in the unit of the gradient, at least 0.
    Magnitude(f32),
    /// The magnitude, found from a sample of each gradient, below which this share of the values lies; from 0, below 1.
    Zeros(f64),
}

/// Bits of a quantised value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bits {
    /// 15 levels, from -7 to 7.
    Four,
    /// 255 levels, from -127 to 127.
    Eight,
}

/// How a value between two levels is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest level, halves away from zero.
    Nearest,
    /// Up or down at random, so that the expected result is the value itself. Machines should have different seeds.
    Stochastic {
        /// The same seed, name and number of earlier calls give the same message.
        seed: u64,
    },
}

impl Method {
    /// The method, or an error that names the parameter that is out of range.
    pub(super) fn checked(self) -> Result<Self> {
        match self {
            Self::TopK(Count::Exactly(0)) => Err(Error::usage("top-k: got 0 values, expected at least 1")),
            Self::TopK(Count::Share(share)) if !(share > 0.0 && share <= 1.0) => {
                Err(Error::usage(format!("top-k: got a share of {share}, expected above 0 and at most 1")))
            }
            Self::Threshold(Cutoff::Magnitude(least)) if !(least >= 0.0 && least.is_finite()) => Err(Error::usage(
                format!("threshold: got a magnitude of {least}, expected a finite number of at least 0"),
            )),
            Self::Threshold(Cutoff::Zeros(share)) if !(0.0..1.0).contains(&share) => {
                Err(Error::usage(format!("threshold: got a share of zeros of {share}, expected from 0 and below 1")))
            }
            valid => Ok(valid),
        }
    }
}

impl Count {
    /// The number of values to keep of `length`.
    pub(super) fn of(self, length: usize) -> usize {
        let count = match self {
            Self::Exactly(count) => count,
            Self::Share(share) => ((share * length as f64).round() as usize).max(1),
        };
        count.min(length)
    }
}
