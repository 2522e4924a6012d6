//! Clipping of gradients that are at hand. A trainer clips inside of its step ([`Clip`](meromorph::train::Clip)).

use std::ops::Deref;

use super::value::{AsVar, Values};
use meromorph::autograd::Var;
use meromorph::error::{Error, Result};
use meromorph::internal::host::number;
use meromorph::ops;
use meromorph::program::expr::{max, min, sqrt, square};

/// A smaller largest size counts as this.
const LEAST: f32 = 1e-30;

/// Gradients whose norm together is at most `most`, in the same direction, with their norm before; `None` stays `None`. Nothing is read back. A norm that
/// is not finite makes them NaN. Errors if `most` is not a positive number, or if there is no gradient.
///
/// ```
/// use meromorph_tenflowers::{GradientTape, clip_by_global_norm};
/// use meromorph::prelude::*;
///
/// let tape = GradientTape::new();
/// let w = tape.watch(Tensor::from_f32(tape.device(), [2], &[1.5, 2.0])?);
/// let gradients = tape.gradient(&[ops::sum(&ops::mul(&w, &w), 0..1)], &[w])?;
/// let clipped = clip_by_global_norm(&gradients, 1.0)?;
/// assert_eq!(clipped.norm()?, 5.0);
/// let clipped = clipped[0].as_ref().unwrap();
/// assert!((clipped[0] - 0.6).abs() < 1e-6 && (clipped[1] - 0.8).abs() < 1e-6);
/// # Ok::<(), Error>(())
/// ```
pub fn clip_by_global_norm(gradients: &[Option<impl AsVar>], most: f32) -> Result<ClippedGradients> {
    check("clip_by_global_norm", most)?;
    let gradients = variables(gradients);
    let [largest, sum] = sizes("clip_by_global_norm", &gradients)?;
    let norm = ops::fused(&[&largest, &sum], |v| v[0] * sqrt(v[1]));
    // Where the norm is larger than any number, it is still divided by, in two steps. A GPU may take a quotient by more than 2^126 for 0.
    let factor = ops::fused(&[&largest, &sum], |v| {
        let share = min((0.0625 * most) / (v[0] * 0.0625), 1e30);
        share / max(sqrt(v[1]), share)
    });
    let clipped = |gradient: &Var| Values::from(ops::mul(gradient, &factor));
    let gradients = gradients.into_iter().map(|gradient| gradient.map(clipped)).collect();
    Ok(ClippedGradients { gradients, norm: norm.into() })
}

/// Gradients after clipping: a vector of them, with their norm before.
#[derive(Clone, Debug)]
pub struct ClippedGradients {
    gradients: Vec<Option<Values>>,
    norm: Values,
}

impl ClippedGradients {
    /// Waits for their norm together before clipping.
    pub fn norm(&self) -> Result<f32> {
        self.norm.to_vec().map(|norm| norm[0])
    }

    /// The gradients alone.
    pub fn into_vec(self) -> Vec<Option<Values>> {
        self.gradients
    }
}

impl Deref for ClippedGradients {
    type Target = Vec<Option<Values>>;

    fn deref(&self) -> &Self::Target {
        &self.gradients
    }
}

impl IntoIterator for ClippedGradients {
    type Item = Option<Values>;
    type IntoIter = std::vec::IntoIter<Option<Values>>;

    fn into_iter(self) -> Self::IntoIter {
        self.gradients.into_iter()
    }
}

/// Waits for the norm of gradients together. Errors if there is no gradient.
pub fn global_norm(gradients: &[Option<impl AsVar>]) -> Result<f32> {
    let [largest, sum] = sizes("global_norm", &variables(gradients))?;
    Values::from(ops::fused(&[&largest, &sum], |v| v[0] * sqrt(v[1]))).to_vec().map(|norm| norm[0])
}

fn variables(gradients: &[Option<impl AsVar>]) -> Vec<Option<&Var>> {
    gradients.iter().map(|gradient| gradient.as_ref().map(AsVar::var)).collect()
}

/// The largest size of all gradients, and the sum of the squares of all relative to it.
fn sizes(place: &str, gradients: &[Option<&Var>]) -> Result<[Var; 2]> {
    let flat = |gradient: &Var| ops::reshape(gradient, [gradient.shape().len()]);
    let sizes = gradients.iter().copied().flatten().map(|gradient| ops::max(&ops::abs(&flat(gradient)), 0..1));
    let largest = sizes.reduce(|a, b| ops::fused(&[&a, &b], |v| max(v[0], v[1])));
    let largest = largest.ok_or_else(|| Error::usage(format!("{place}: got no gradients, expected at least one")))?;
    // Squares of sizes relative to the largest are numbers whatever the sizes are.
    let largest = ops::fused(&[&largest], |v| max(v[0], LEAST));
    let squares = gradients.iter().copied().flatten().map(|gradient| {
        let share = ops::fused(&[&flat(gradient), &largest], |v| square(v[0] / v[1]));
        ops::sum(&share, 0..1)
    });
    let sum = squares.reduce(|sum, square| ops::add(&sum, &square)).unwrap_or_else(|| largest.clone());
    Ok([largest, sum])
}

/// Gradients of which each entry is at most `most` in size. Errors if `most` is not a positive number.
pub fn clip_by_value(gradients: &[Option<impl AsVar>], most: f32) -> Result<Vec<Option<Values>>> {
    check("clip_by_value", most)?;
    let one = |gradient: &Var| Values::from(ops::fused(&[gradient], |v| max(min(v[0], most), -most)));
    Ok(variables(gradients).into_iter().map(|gradient| gradient.map(one)).collect())
}

fn check(place: &str, most: f32) -> Result<()> {
    if most.is_finite() && most > 0.0 {
        return Ok(());
    }
    Err(Error::usage(format!("{place}: got {}, expected a finite number above 0", number(f64::from(most)))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use meromorph::device::Device;
    use meromorph::tensor::Tensor;

    fn clipped(values: &[f32]) -> (Vec<f32>, f32) {
        let gradient = Tensor::from_f32(&Device::cpu(1), [values.len()], values).expect("a tensor");
        let gradients = [Some(Var::constant(gradient)), None];
        let clipped = clip_by_global_norm(&gradients, 1.0).expect("a gradient");
        let norm = clipped.norm().expect("a norm");
        assert!(norm.is_nan() || global_norm(&gradients).expect("a norm") == norm);
        (clipped[0].as_ref().expect("a gradient").to_vec().expect("values"), norm)
    }

    #[test]
    fn large_gradients_keep_their_direction_and_others_are_not_hidden() {
        let (large, norm) = clipped(&[3e25, -4e25]);
        assert!((large[0] - 0.6).abs() < 1e-6 && (large[1] + 0.8).abs() < 1e-6 && (norm / 5e25 - 1.0).abs() < 1e-6);
        let (beyond, norm) = clipped(&[3e38, -3e38]);
        assert!((beyond[0] - 0.5_f32.sqrt()).abs() < 1e-6 && beyond[0] == -beyond[1] && norm == f32::INFINITY);
        assert_eq!(clipped(&[0.0, 0.0]), (vec![0.0, 0.0], 0.0));
        let (once, _) = clipped(&[0.3, 0.4]);
        assert_eq!(once, [0.3, 0.4], "below the most");
        for odd in [f32::NAN, f32::INFINITY] {
            assert!(clipped(&[odd, 1.0]).0.iter().all(|value| value.is_nan()), "{odd}");
        }
    }
}
