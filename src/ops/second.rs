//! Derivatives beyond one gradient: products with Jacobians and Hessians, whole small ones, diagonals, gradients of single rows. All are composed
//! from vector-Jacobian products, whose rules are ops that can be differentiated again. Every result is tracked, so it can be differentiated too,
//! as far as the ops have gradients of that order; one that has none is an error that names the op.
//!
//! Notation: f: variables → outputs, J = ∂f/∂x, H = ∂²(loss)/∂x² where the loss is the sum of its elements, n and m the numbers of elements of x
//! and of an output. Functions that take several variables treat them as one vector. A derivative that does not exist because nothing depends on
//! a variable is zeros; a variable that is a constant is an error.

use super::{add, broadcast_to, constant, fused, grad, mul, pick, reshape, stack, uniform};
use crate::autograd::{self, Var};
use crate::error::{Error, Result};
use crate::program::expr::{ge, select, sqrt};
use crate::tensor::Tensor;

/// Most rows of [`jacobian`] and [`hessian`], and elements of x of [`hessian_diagonal`]: each is one more backward pass.
pub const MOST_PASSES: usize = 256;

/// Jᵀu: for each variable the sum over `outputs` of the vector-Jacobian product with that output's cotangent, in the variable's shape.
/// Cotangents have the shapes of their outputs.
///
/// ```
/// use meromorph::prelude::*;
///
/// let device = Device::cpu(1);
/// let x = Var::leaf(Tensor::from_f32(&device, [2], &[1.0, 3.0])?);
/// let (square, sum) = (ops::square(&x), ops::sum(&x, 0..1));
/// let weights = Var::constant(Tensor::from_f32(&device, [2], &[1.0, 10.0])?);
/// let five = Var::constant(Tensor::from_f32(&device, [1], &[5.0])?);
/// let found = ops::vjp(&[&square, &sum], &[&x], &[&weights, &five])?;
/// assert_eq!(pollster::block_on(found[0].value().to_f32())?, [7.0, 65.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn vjp(outputs: &[&Var], variables: &[&Var], cotangents: &[&Var]) -> Result<Vec<Var>> {
    assert_same("vjp: cotangents", cotangents, outputs);
    check_variables("vjp", variables)?;
    let found = swept(&pairs(outputs, cotangents), variables)?;
    Ok(or_zeros(found, variables))
}

/// J t: for each output its directional derivative along `tangents`, in the output's shape. Tangents have the shapes of their variables.
///
/// Two vector-Jacobian products (Townsend 2017, "A new trick for calculating Jacobian vector products"): Jᵀu is linear in a cotangent u, and
/// its own vector-Jacobian product by u with t is J t. The second one traverses only what depends on u, so it costs about as much as the
/// first. It does use the ops' second rules, hence the result over an op whose second gradient is its last has no gradient.
///
/// ```
/// use meromorph::prelude::*;
///
/// let device = Device::cpu(1);
/// let x = Var::leaf(Tensor::from_f32(&device, [2], &[1.0, 3.0])?);
/// let t = Var::constant(Tensor::from_f32(&device, [2], &[0.5, -1.0])?);
/// let along = ops::jvp(&[&ops::square(&x)], &[&x], &[&t])?;
/// assert_eq!(pollster::block_on(along[0].value().to_f32())?, [1.0, -6.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn jvp(outputs: &[&Var], variables: &[&Var], tangents: &[&Var]) -> Result<Vec<Var>> {
    assert_same("jvp: tangents", tangents, variables);
    check_variables("jvp", variables)?;
    let dummies: Vec<Var> = outputs.iter().map(|output| Var::leaf(zeros(output).value().clone())).collect();
    let dummies: Vec<&Var> = dummies.iter().collect();
    let back = swept(&pairs(outputs, &dummies), variables)?;
    Ok(or_zeros(swept(&reached(&back, tangents), &dummies)?, outputs))
}

/// H v: for each variable, in its shape, the product of the Hessian of the sum of `loss` with `vectors`, which have the shapes of the variables.
/// Exact, at the cost of a few gradients, without H (Pearlmutter 1994, "Fast exact multiplication by the Hessian"): the gradient of g · v,
/// where g is the gradient and v is constant.
///
/// A layer with a gradient policy, or a head that normalises without a gradient, has a gradient that is not that of its value: the result is then
/// the derivative of the gradient as it is, and need not be symmetric.
///
/// ```
/// use meromorph::prelude::*;
///
/// let device = Device::cpu(1);
/// // x² y at (3, 5): the Hessian is [[2 y, 2 x], [2 x, 0]].
/// let [x, y] = [3.0, 5.0].map(|value| Var::leaf(Tensor::scalar(&device, value)));
/// let loss = &ops::square(&x) * &y;
/// let [one, two] = [1.0, 2.0].map(|value| ops::constant(&x, value));
/// let found = ops::hvp(&loss, &[&x, &y], &[&one, &two])?;
/// assert_eq!(pollster::block_on(found[0].value().to_f32())?, [2.0 * 5.0 + 2.0 * 3.0 * 2.0]);
/// assert_eq!(pollster::block_on(found[1].value().to_f32())?, [2.0 * 3.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn hvp(loss: &Var, variables: &[&Var], vectors: &[&Var]) -> Result<Vec<Var>> {
    assert_same("hvp: vectors", vectors, variables);
    check_variables("hvp", variables)?;
    let first = grad(loss, variables)?;
    Ok(or_zeros(swept(&reached(&first, vectors), variables)?, variables))
}

/// J of one output by one variable, [m, n]: row i is the gradient of element i of `output`, in row-major order, from one backward pass each. Errors
/// if `output` has more than [`MOST_PASSES`] elements.
///
/// ```
/// use meromorph::prelude::*;
///
/// let device = Device::cpu(1);
/// let x = Var::leaf(Tensor::from_f32(&device, [2], &[1.0, 3.0])?);
/// let jacobian = ops::jacobian(&ops::square(&x), &x)?;
/// assert_eq!(pollster::block_on(jacobian.value().to_f32())?, [2.0, 0.0, 0.0, 6.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn jacobian(output: &Var, x: &Var) -> Result<Var> {
    let rows = output.shape().len();
    check_passes("jacobian: elements of the output", rows, "use vjp or jvp for products with it")?;
    check_elements("jacobian", output, x)?;
    check_variables("jacobian", &[x])?;
    let row = |at: usize| {
        let found = swept(&[(output, &unit(output, at))], &[x])?;
        Ok(reshape(&or_zeros(found, &[x])[0], [x.shape().len()]))
    };
    let rows: Vec<Var> = (0..rows).map(row).collect::<Result<_>>()?;
    Ok(stack(&rows.iter().collect::<Vec<_>>()))
}

/// H of the sum of `loss` by one variable, [n, n]: the Jacobian of the gradient. Errors if x has more than [`MOST_PASSES`] elements.
///
/// ```
/// use meromorph::prelude::*;
///
/// let device = Device::cpu(1);
/// let x = Var::leaf(Tensor::from_f32(&device, [2], &[1.0, 3.0])?);
/// // The square of the sum has a Hessian of twos.
/// let hessian = ops::hessian(&ops::square(&ops::sum(&x, 0..1)), &x)?;
/// assert_eq!(pollster::block_on(hessian.value().to_f32())?, [2.0; 4]);
/// # Ok::<(), Error>(())
/// ```
pub fn hessian(loss: &Var, x: &Var) -> Result<Var> {
    check_passes("hessian: elements of x", x.shape().len(), "use hvp for products with it")?;
    jacobian(&gradient(loss, x)?, x)
}

/// The diagonal of H of the sum of `loss`, in the shape of x: exact, element i from the product with unit vector i. Errors if x has more than
/// [`MOST_PASSES`] elements; [`hutchinson_diagonal`] estimates it for any number.
///
/// ```
/// use meromorph::prelude::*;
///
/// let device = Device::cpu(1);
/// let x = Var::leaf(Tensor::from_f32(&device, [2], &[1.0, 3.0])?);
/// let diagonal = ops::hessian_diagonal(&(&ops::square(&x) * &x), &x)?;
/// assert_eq!(pollster::block_on(diagonal.value().to_f32())?, [6.0, 18.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn hessian_diagonal(loss: &Var, x: &Var) -> Result<Var> {
    let n = x.shape().len();
    check_passes("hessian_diagonal: elements of x", n, "hutchinson_diagonal estimates the diagonal of more")?;
    check_elements("hessian_diagonal", loss, x)?;
    check_variables("hessian_diagonal", &[x])?;
    let first = gradient(loss, x)?;
    let element = |at: usize| {
        let found = swept(&[(&first, &unit(x, at))], &[x])?;
        let row = reshape(&or_zeros(found, &[x])[0], [1, n]);
        Ok(pick(&row, &Tensor::from_u32(x.value().device(), [1], &[at as u32])?))
    };
    let elements: Vec<Var> = (0..n).map(element).collect::<Result<_>>()?;
    Ok(reshape(&stack(&elements.iter().collect::<Vec<_>>()), x.shape()))
}

/// An estimate of the diagonal of H of the sum of `loss` and its standard error, both in the shape of x: mean of z ∘ (H z) over `probes` vectors z of
/// independent signs (Hutchinson 1989, for the trace; Bekas, Kokiopoulou and Saad 2007, for the diagonal). Unbiased, and exact if H is diagonal.
/// The variance of element i of one probe is Σ_{j≠i} H_ij². Signs are drawn from the counter-based generator, so a seed repeats them on every
/// device; probe k draws from stream k. Errors if there are less than 2 probes, which leave no standard error.
///
/// ```
/// use meromorph::prelude::*;
///
/// let device = Device::cpu(1);
/// let x = Var::leaf(Tensor::from_f32(&device, [2], &[1.0, 3.0])?);
/// let (mean, error) = ops::hutchinson_diagonal(&(&ops::square(&x) * &x), &x, 3, 7)?;
/// assert_eq!(pollster::block_on(mean.value().to_f32())?, [6.0, 18.0]);
/// assert_eq!(pollster::block_on(error.value().to_f32())?, [0.0, 0.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn hutchinson_diagonal(loss: &Var, x: &Var, probes: u32, seed: u64) -> Result<(Var, Var)> {
    if probes < 2 {
        return Err(Error::usage(format!("hutchinson_diagonal: got {probes} probes, expected at least 2")));
    }
    check_variables("hutchinson_diagonal", &[x])?;
    let first = gradient(loss, x)?;
    // A running mean and sum of squares (Welford 1962), for which equal samples are their mean without a rounding error.
    let (mut mean, mut squares) = (zeros(x), zeros(x));
    for probe in 0..probes {
        let uniform = Var::constant(uniform(x.value().device(), x.shape(), seed, probe)?);
        let signs = fused(&[&uniform], |v| select(ge(v[0], 0.5), 1.0, -1.0));
        let found = swept(&[(&first, &signs)], &[x])?;
        let sample = mul(&signs, &or_zeros(found, &[x])[0]);
        let count = (probe + 1) as f32;
        let next = fused(&[&mean, &sample], |v| v[0] + (v[1] - v[0]) / count);
        squares = fused(&[&squares, &sample, &mean, &next], |v| v[0] + (v[1] - v[2]) * (v[1] - v[3]));
        mean = next;
    }
    let degrees = probes as f32 * (probes - 1) as f32;
    Ok((mean, fused(&[&squares], |v| sqrt(v[0] / degrees))))
}

/// For each parameter the gradients of `rows` losses, [rows, …the parameter's shape]: entry r is the gradient of the sum of `loss(r)`. One
/// forward and one backward pass per row, over that row alone. Their mean is the gradient of the mean loss. Errors if there are no rows, or if a
/// parameter has four axes.
///
/// ```
/// use meromorph::prelude::*;
///
/// let device = Device::cpu(1);
/// let w = Var::leaf(Tensor::from_f32(&device, [1], &[3.0])?);
/// let x = [1.0, 2.0];
/// let rows = ops::per_sample_gradients(|row| Ok(ops::square(&(&w * x[row]))), &[&w], 2)?;
/// assert_eq!(pollster::block_on(rows[0].value().to_f32())?, [6.0, 24.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn per_sample_gradients(
    mut loss: impl FnMut(usize) -> Result<Var>,
    parameters: &[&Var],
    rows: usize,
) -> Result<Vec<Var>> {
    if rows == 0 {
        return Err(Error::usage("per_sample_gradients: got 0 rows, expected at least 1"));
    }
    check_variables("per_sample_gradients", parameters)?;
    if let Some(wide) = parameters.iter().find(|parameter| parameter.shape().rank() > 3) {
        let message = "per_sample_gradients: got a parameter of shape";
        return Err(Error::usage(format!("{message} {}, expected at most three axes", wide.shape())));
    }
    let row = |at: usize| Ok(or_zeros(grad(&loss(at)?, parameters)?, parameters));
    let found: Vec<Vec<Var>> = (0..rows).map(row).collect::<Result<_>>()?;
    let of = |at: usize| stack(&found.iter().map(|row| &row[at]).collect::<Vec<_>>());
    Ok((0..parameters.len()).map(of).collect())
}

/// Gradients of the sum over all pairs of output · seed.
fn swept(pairs: &[(&Var, &Var)], variables: &[&Var]) -> Result<Vec<Option<Var>>> {
    autograd::grad(pairs, variables, add)
}

fn pairs<'a>(outputs: &[&'a Var], seeds: &[&'a Var]) -> Vec<(&'a Var, &'a Var)> {
    outputs.iter().copied().zip(seeds.iter().copied()).collect()
}

/// The gradients that exist, each with its vector.
fn reached<'a>(gradients: &'a [Option<Var>], vectors: &[&'a Var]) -> Vec<(&'a Var, &'a Var)> {
    gradients.iter().zip(vectors).filter_map(|(gradient, vector)| Some((gradient.as_ref()?, *vector))).collect()
}

fn or_zeros(found: Vec<Option<Var>>, like: &[&Var]) -> Vec<Var> {
    found.into_iter().zip(like).map(|(found, like)| found.unwrap_or_else(|| zeros(like))).collect()
}

fn zeros(like: &Var) -> Var {
    broadcast_to(&constant(like, 0.0), like.shape())
}

fn gradient(loss: &Var, x: &Var) -> Result<Var> {
    Ok(or_zeros(grad(loss, &[x])?, &[x]).swap_remove(0))
}

/// 1 at one element, in row-major order, and 0 elsewhere.
fn unit(like: &Var, at: usize) -> Var {
    let mut values = vec![0.0; like.shape().len()];
    values[at] = 1.0;
    Var::constant(Tensor::constant(like.value().device(), like.shape(), &values))
}

#[track_caller]
fn assert_same(what: &str, given: &[&Var], expected: &[&Var]) {
    assert!(given.len() == expected.len(), "{what}: got {}, expected {}", given.len(), expected.len());
    for (at, (given, expected)) in given.iter().zip(expected).enumerate() {
        let (given, expected) = (given.shape(), expected.shape());
        assert!(given == expected, "{what}: got shape {given} at {at}, expected {expected}");
    }
}

/// A constant has no derivative, though values may have been computed from it: zeros would be wrong.
fn check_variables(what: &str, variables: &[&Var]) -> Result<()> {
    match variables.iter().position(|variable| !variable.is_tracked()) {
        Some(at) => Err(Error::usage(format!("{what}: variable {at} is a constant: make it with Var::leaf"))),
        None => Ok(()),
    }
}

fn check_passes(what: &str, count: usize, instead: &str) -> Result<()> {
    if count > MOST_PASSES {
        return Err(Error::usage(format!("{what}: got {count}, expected at most {MOST_PASSES}; {instead}")));
    }
    Ok(())
}

fn check_elements(what: &str, output: &Var, x: &Var) -> Result<()> {
    if output.shape().is_empty() || x.shape().is_empty() {
        return Err(Error::usage(format!("{what}: got shapes {} and {}, without elements", output.shape(), x.shape())));
    }
    Ok(())
}
