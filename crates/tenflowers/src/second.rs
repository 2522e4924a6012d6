//! Second derivatives, by the guide's names. They are exact.

use super::tape::GradientTape;
use super::value::{AsVar, Values};
use meromorph::autograd::Var;
use meromorph::error::Result;
use meromorph::ops;

/// H v of the sum of a loss, in the shape of x.
///
/// ```
/// use meromorph_tenflowers::{GradientTape, compute_hessian_diagonal, hessian_vector_product};
/// use meromorph::prelude::*;
///
/// let tape = GradientTape::new();
/// let x = tape.watch(Tensor::from_f32(tape.device(), [2], &[1.0, 2.0])?);
/// let loss = ops::sum(&ops::mul(&ops::mul(&x, &x), &x), 0..1);
/// let v = Var::constant(Tensor::from_f32(tape.device(), [2], &[1.0, 10.0])?);
/// let product = hessian_vector_product(&tape, &loss, &x, &v)?;
/// assert_eq!(product.to_vec()?, [6.0, 120.0]);
///
/// // A Newton step along the diagonal, as in the guide.
/// let gradient = tape.gradient(&[&loss], &[x])?.remove(0).unwrap();
/// let diagonal = compute_hessian_diagonal(&tape, &loss, &x)?;
/// let next = ops::fused(&[&x, &gradient, &diagonal], |v| v[0] - v[1] / max(abs(v[2]), 1e-8));
/// assert_eq!(pollster::block_on(next.value().to_f32())?, [0.5, 1.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn hessian_vector_product(
    _tape: &GradientTape,
    loss: &impl AsVar,
    x: &impl AsVar,
    v: &impl AsVar,
) -> Result<Values> {
    Ok(ops::hvp(&total(loss), &[x.var()], &[v.var()])?.remove(0).into())
}

/// The diagonal of H, in the shape of x: exact for as many elements as [`ops::MOST_PASSES`]; [`ops::hutchinson_diagonal`] estimates it for more.
pub fn compute_hessian_diagonal(_tape: &GradientTape, loss: &impl AsVar, x: &impl AsVar) -> Result<Values> {
    ops::hessian_diagonal(&total(loss), x.var()).map(Values::from)
}

/// The sum of a loss, as [`GradientTape::gradient`] takes it.
fn total(loss: &impl AsVar) -> Var {
    ops::sum_to(loss.var(), &[1].into())
}
