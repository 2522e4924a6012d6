//! Clipping of gradients that are at hand. A trainer clips inside of its step ([`Clip`](crate::train::Clip)).

use crate::autograd::Var;
use crate::error::{Error, Result};
use crate::host::number;
use crate::ops;

/// Gradients whose norm together is at most `most`, in the same direction, and their norm before; `None` stays `None`. Nothing is read back. A norm that
/// is not finite makes them NaN. Errors if `most` is not a positive number, or if there is no gradient.
///
/// ```
/// use meromorph::guide::{GradientTape, clip_by_global_norm};
/// use meromorph::prelude::*;
///
/// let tape = GradientTape::new();
/// let w = tape.watch(Tensor::from_f32(tape.device(), [2], &[1.5, 2.0])?);
/// let gradients = tape.gradient(&[ops::sum(&ops::mul(&w, &w), 0..1)], &[&w])?;
/// let (clipped, norm) = clip_by_global_norm(&gradients, 1.0)?;
/// assert_eq!(pollster::block_on(norm.value().to_f32())?, [5.0]);
/// let clipped = pollster::block_on(clipped[0].as_ref().unwrap().value().to_f32())?;
/// assert!((clipped[0] - 0.6).abs() < 1e-6 && (clipped[1] - 0.8).abs() < 1e-6);
/// # Ok::<(), Error>(())
/// ```
pub fn clip_by_global_norm(gradients: &[Option<Var>], most: f32) -> Result<(Vec<Option<Var>>, Var)> {
    check("clip_by_global_norm", most)?;
    let squares = gradients.iter().flatten().map(|gradient| ops::sum_to(&ops::mul(gradient, gradient), &[1].into()));
    let sum = squares.reduce(|sum, square| ops::add(&sum, &square));
    let sum = sum.ok_or_else(|| Error::usage("clip_by_global_norm: got no gradients, expected at least one"))?;
    let norm = ops::sqrt(&sum);
    let factor = ops::fused(&[&norm], |v| most / crate::program::expr::max(v[0], most));
    let clipped = gradients.iter().map(|gradient| gradient.as_ref().map(|gradient| ops::mul(gradient, &factor)));
    Ok((clipped.collect(), norm))
}

/// Gradients of which each entry is at most `most` in size. Errors if `most` is not a positive number.
pub fn clip_by_value(gradients: &[Option<Var>], most: f32) -> Result<Vec<Option<Var>>> {
    check("clip_by_value", most)?;
    let one = |gradient: &Var| {
        ops::fused(&[gradient], |v| crate::program::expr::max(crate::program::expr::min(v[0], most), -most))
    };
    Ok(gradients.iter().map(|gradient| gradient.as_ref().map(one)).collect())
}

fn check(place: &str, most: f32) -> Result<()> {
    if most.is_finite() && most > 0.0 {
        return Ok(());
    }
    Err(Error::usage(format!("{place}: got {}, expected a finite number above 0", number(f64::from(most)))))
}
