//! Strict inference over tensors: one launch divides once and classifies every value; further functions handle ⊥.

use crate::autograd::Var;
use crate::device::{Command, View};
use crate::error::{Error, Result};
use crate::kernels::strict::{self as kernel, Decoded, Decoding, MAX_FACTORS, Outputs, Pairs};
use crate::tensor::{DType, Tensor};

/// Decodes P / Q: `q` of any shape, `p` of the same shape or with one more axis at the end, along which numerators share a denominator.
/// `factors` are further numbers of q's shape that must not be near 0 (validity factors of flattened expressions), each with its threshold.
///
/// Errors on invalid thresholds and on shapes that do not match.
pub async fn strict(p: &Var, q: &Var, decoding: &Decoding, factors: &[(&Var, f32)]) -> Result<Decoded> {
    decoding.check()?;
    let (shape, count) = (q.shape().sizes(), q.shape().len());
    let depth = match p.shape().sizes() {
        sizes if sizes == shape => 1,
        [sizes @ .., depth] if sizes == shape => *depth,
        _ => return Err(Error::new(format!("strict: shapes do not match: P {} and Q {}", p.shape(), q.shape()))),
    };
    let device = q.value().device();
    let taus = check_factors(q, factors)?;
    let words = |words: usize| Tensor::empty(device, [words], DType::U32);
    let joined = words(factors.len().max(1) * count);
    for (at, (factor, _)) in factors.iter().enumerate() {
        let to = View { offset: at * count, words: count, ..joined.view().clone() };
        device.record(Command::Copy { from: factor.value().view().clone(), to });
    }
    let (value, planes) = (words(count * depth), words(4 * kernel::plane_words(count)));
    let provenance = words(kernel::provenance_words(count));
    let [value, planes, provenance] = [value, planes, provenance].map(|tensor| tensor.view().clone());
    let out = Outputs { value: value.clone(), planes: planes.clone(), provenance: provenance.clone() };
    let inputs = [p, q].map(|var| var.value().view().clone());
    let pairs = Pairs::apart(count as u32, depth as u32);
    device.record(Command::Dispatch(kernel::dispatch(decoding, pairs, inputs, joined.view().clone(), &taus, out)));
    let plane = kernel::plane_words(count);
    let gap = device.read(&View { offset: plane, words: plane, ..planes }).await?;
    let provenance = device.read(&provenance).await?;
    let mut decoded = Decoded::default();
    decoded.append(count, bytemuck::cast_slice(&device.read(&value).await?), &gap, &provenance);
    Ok(decoded)
}

/// The thresholds of the factors, each of which has the denominators' shape.
fn check_factors(q: &Var, factors: &[(&Var, f32)]) -> Result<Vec<f32>> {
    if factors.len() > MAX_FACTORS {
        return Err(Error::new(format!(
            "strict: got {} validity factors, expected at most {MAX_FACTORS}",
            factors.len()
        )));
    }
    let one = |(factor, tau): &(&Var, f32)| {
        if factor.shape() != q.shape() {
            return Err(Error::new(format!(
                "strict: shapes do not match: validity factor {} and Q {}",
                factor.shape(),
                q.shape()
            )));
        }
        if !(tau.is_finite() && *tau >= f32::MIN_POSITIVE) {
            let least = f32::MIN_POSITIVE;
            return Err(Error::new(format!(
                "strict: tau of a validity factor: got {tau:e}, expected a finite number of at least {least:e}"
            )));
        }
        Ok(*tau)
    };
    factors.iter().map(one).collect()
}

/// Position of a value relative to the measuring range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// Below the measuring range.
    Below,
    /// A number, or ⊥ of unknown direction.
    Within,
    /// Above the measuring range.
    Above,
}

/// The range of each value: a number is within; ⊥ by a pole is on the side of its numerator's sign (0 counts as above), ⊥ by a fault is
/// unknown. `orientation`, if given, decides for every ⊥ instead: positive above, negative below, 0 unknown.
pub fn ranges(decoded: &Decoded, p: &[f32], orientation: Option<&[f32]>) -> Result<Vec<Range>> {
    let count = decoded.provenance.len();
    for (name, given) in [("numerators", Some(p)), ("orientations", orientation)] {
        if let Some(given) = given.filter(|given| given.len() != count) {
            return Err(Error::new(format!("ranges: got {} {name}, expected {count}, one per value", given.len())));
        }
    }
    if let Some(bad) = orientation.into_iter().flatten().find(|sign| !sign.is_finite()) {
        return Err(Error::new(format!("ranges: got the orientation {bad}, expected finite numbers")));
    }
    let side = |sign: f32| if sign > 0.0 { Range::Above } else { Range::Below };
    let range = |at: usize| match orientation {
        _ if !decoded.is_bottom(at) => Range::Within,
        Some(orientation) if orientation[at] == 0.0 => Range::Within,
        Some(orientation) => side(orientation[at]),
        None if decoded.is_fault(at) => Range::Within,
        None if p[at] >= 0.0 => Range::Above,
        None => Range::Below,
    };
    Ok((0..count).map(range).collect())
}

/// Which values are accepted: numbers, and with `takes_gaps` also those near a pole.
pub fn accepted(decoded: &Decoded, takes_gaps: bool) -> Vec<bool> {
    (0..decoded.provenance.len()).map(|at| !decoded.is_bottom(at) && (takes_gaps || !decoded.gap[at])).collect()
}

/// The values with `sentinel` under ⊥.
pub fn with_sentinel(decoded: &Decoded, sentinel: f32) -> Vec<f32> {
    let value = |(at, value): (usize, &f32)| if decoded.is_bottom(at) { sentinel } else { *value };
    decoded.value.iter().enumerate().map(value).collect()
}

/// The source of a row's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The model.
    Model,
    /// The solver.
    Solver,
    /// None: the model predicts that there is no value.
    Nobody,
}

/// Routes rows of `outputs` values each: a row with a ⊥ by a pole has no answer; of the others, rows with a fault, and with `routes_gaps`
/// rows near a pole, are computed by `solver`, which gets their row indices and returns `outputs` values for each.
pub fn routed(
    decoded: &Decoded,
    outputs: usize,
    routes_gaps: bool,
    solver: impl FnOnce(&[usize]) -> Result<Vec<f32>>,
) -> Result<(Vec<f32>, Vec<Answer>)> {
    let rows = decoded.provenance.len() / outputs.max(1);
    let any = |row: usize, is: &dyn Fn(usize) -> bool| (row * outputs..(row + 1) * outputs).any(is);
    let answer = |row: usize| {
        if any(row, &|at| decoded.is_semantic(at)) {
            Answer::Nobody
        } else if any(row, &|at| decoded.is_fault(at) || routes_gaps && decoded.gap[at]) {
            Answer::Solver
        } else {
            Answer::Model
        }
    };
    let answers: Vec<Answer> = (0..rows).map(answer).collect();
    let routed: Vec<usize> = (0..rows).filter(|&row| answers[row] == Answer::Solver).collect();
    let mut values = decoded.value.clone();
    if routed.is_empty() {
        return Ok((values, answers));
    }
    let solved = solver(&routed)?;
    if solved.len() != routed.len() * outputs {
        let expected = routed.len() * outputs;
        return Err(Error::new(format!("routed: got {} values from the solver, expected {expected}", solved.len())));
    }
    for (row, solved) in routed.iter().zip(solved.chunks(outputs)) {
        values[row * outputs..(row + 1) * outputs].copy_from_slice(solved);
    }
    Ok((values, answers))
}
