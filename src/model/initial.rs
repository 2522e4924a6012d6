//! Initial values of the parameters of a function model. Parameter k of a seed draws from stream k of the counter-based generator, so
//! the same seed gives the same values on every device.

use crate::error::{Error, Result};
use crate::graph::Init;
use crate::tensor::Shape;

/// The shape of a parameter and its initial values.
#[derive(Clone, Debug, PartialEq)]
pub struct Initial {
    pub(crate) shape: Shape,
    pub(crate) init: Init,
    /// The values of [`Init::Given`].
    given: Vec<f32>,
}

impl Initial {
    /// All 0.
    pub fn zeros(shape: impl Into<Shape>) -> Self {
        Self::constant(shape, 0.0)
    }

    /// All `value`.
    pub fn constant(shape: impl Into<Shape>, value: f32) -> Self {
        Self::drawn(shape, Init::Constant { value })
    }

    /// Normal with mean 0 and this standard deviation.
    pub fn normal(shape: impl Into<Shape>, deviation: f64) -> Self {
        Self::drawn(shape, Init::Normal { deviation })
    }

    /// Uniform in [-bound, bound).
    pub fn uniform(shape: impl Into<Shape>, bound: f64) -> Self {
        Self::drawn(shape, Init::Uniform { bound })
    }

    /// These values, row-major.
    pub fn values(shape: impl Into<Shape>, values: impl Into<Vec<f32>>) -> Self {
        Self { shape: shape.into(), init: Init::Given, given: values.into() }
    }

    fn drawn(shape: impl Into<Shape>, init: Init) -> Self {
        Self { shape: shape.into(), init, given: Vec::new() }
    }

    /// Errors if the shape has no values, the number of given values is wrong, or a value would not be finite.
    pub(crate) fn check(&self) -> Result<()> {
        let expected = self.shape.len();
        if expected == 0 {
            return Err(Error::new(format!("got shape {}, expected at least one value", self.shape)));
        }
        let is_finite = match self.init {
            Init::Given if self.given.len() != expected => {
                let got = self.given.len();
                return Err(Error::new(format!("got {got} values, expected {expected} for shape {}", self.shape)));
            }
            Init::Given => self.given.iter().all(|value| value.is_finite()),
            Init::Constant { value } => value.is_finite(),
            Init::Normal { deviation: size } | Init::Uniform { bound: size } => size.is_finite(),
            _ => true,
        };
        if is_finite { Ok(()) } else { Err(Error::new("got an initial value that is not finite")) }
    }

    /// Writes the initial values of parameter number `stream`.
    pub(crate) fn fill(&self, place: &mut [f32], seed: u64, stream: u32) {
        match self.init {
            Init::Given => place.copy_from_slice(&self.given),
            init => init.fill(place, (1, 1), [seed as u32, (seed >> 32) as u32], stream),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(initial: &Initial, seed: u64) -> Vec<f64> {
        let mut values = vec![0.0; initial.shape.len()];
        initial.fill(&mut values, seed, 2);
        values.into_iter().map(f64::from).collect()
    }

    #[test]
    fn drawn_values_have_their_spread_and_depend_on_the_seed() {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let square = |values: &[f64]| mean(&values.iter().map(|x| x * x).collect::<Vec<_>>());
        for (initial, variance) in [(Initial::normal([100, 40], 0.5), 0.25_f64), (Initial::uniform([4000], 3.0), 3.0)] {
            let values = drawn(&initial, 7);
            assert_eq!(values, drawn(&initial, 7));
            assert_ne!(values, drawn(&initial, 8));
            assert!(mean(&values).abs() < 0.06 * variance.sqrt(), "{}", mean(&values));
            assert!((square(&values) / variance - 1.0).abs() < 0.06, "{}", square(&values));
        }
        assert_eq!(drawn(&Initial::values([1, 2], [1.0, -2.0]), 7), [1.0, -2.0]);
        assert_eq!(drawn(&Initial::constant([2], 0.5), 7), [0.5, 0.5]);
    }

    #[test]
    fn wrong_values_are_errors() {
        let cases = [
            (Initial::values([2, 2], [1.0]), "got 1 values, expected 4 for shape [2, 2]"),
            (Initial::zeros([0]), "got shape [0], expected at least one value"),
            (Initial::normal([1], f64::NAN), "got an initial value that is not finite"),
        ];
        for (initial, expected) in cases {
            assert_eq!(initial.check().unwrap_err().to_string(), expected);
        }
    }
}
