//! Strict inference over tensors: one launch that divides once and says of every value what it is, and what to do with those that are none.

use crate::autograd::Var;
use crate::device::{Command, View};
use crate::error::{Error, Result};
use crate::kernels::strict::{self as kernel, Decoded, Decoding, MAX_FACTORS, Outputs, Pairs};
use crate::tensor::{DType, Tensor};

/// Decodes P / Q: `q` of any shape, `p` of the same or with one more axis at the end, whose numerators share a denominator. `factors` are
/// further numbers of q's shape that must not be near 0 (validity factors of flattened expressions), each with its threshold.
///
/// Refuses thresholds that decide nothing or not the same everywhere, and shapes that do not fit.
pub async fn strict(p: &Var, q: &Var, decoding: &Decoding, factors: &[(&Var, f32)]) -> Result<Decoded> {
    decoding.check()?;
    let (shape, count) = (q.shape().sizes(), q.shape().len());
    let depth = match p.shape().sizes() {
        sizes if sizes == shape => 1,
        [sizes @ .., depth] if sizes == shape => *depth,
        _ => return Err(Error::new(format!("strict: P {} does not fit Q {}", p.shape(), q.shape()))),
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
        return Err(Error::new(format!("strict: {} validity factors, at most {MAX_FACTORS} are taken", factors.len())));
    }
    let one = |(factor, tau): &(&Var, f32)| {
        if factor.shape() != q.shape() {
            return Err(Error::new(format!(
                "strict: a validity factor {} does not fit Q {}",
                factor.shape(),
                q.shape()
            )));
        }
        if !(tau.is_finite() && *tau >= f32::MIN_POSITIVE) {
            let least = f32::MIN_POSITIVE;
            return Err(Error::new(format!(
                "strict: a factor's tau is {tau:e}, wanted a finite number of at least {least:e}"
            )));
        }
        Ok(*tau)
    };
    factors.iter().map(one).collect()
}

/// Where a value lies when what was measured has an end: below it, within, above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// Below what can be measured.
    Below,
    /// A number, or ⊥ of unknown direction.
    Within,
    /// Above what can be measured.
    Above,
}

/// The range of each value: a number is within; ⊥ by a pole is on the side of its numerator's sign (0 counts as above), ⊥ by a fault is
/// unknown. `orientation`, if given, decides for every ⊥ instead: positive above, negative below, 0 unknown.
pub fn ranges(decoded: &Decoded, p: &[f32], orientation: Option<&[f32]>) -> Result<Vec<Range>> {
    let count = decoded.provenance.len();
    for (name, given) in [("numerators", Some(p)), ("orientations", orientation)] {
        if let Some(given) = given.filter(|given| given.len() != count) {
            return Err(Error::new(format!("ranges: {} {name} for {count} values", given.len())));
        }
    }
    if let Some(bad) = orientation.into_iter().flatten().find(|sign| !sign.is_finite()) {
        return Err(Error::new(format!("ranges: an orientation is {bad}, wanted finite numbers")));
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

/// Which values are taken: those that are numbers, and of these those near a pole only if asked.
pub fn accepted(decoded: &Decoded, takes_gaps: bool) -> Vec<bool> {
    (0..decoded.provenance.len()).map(|at| !decoded.is_bottom(at) && (takes_gaps || !decoded.gap[at])).collect()
}

/// The values with `sentinel` under ⊥.
pub fn with_sentinel(decoded: &Decoded, sentinel: f32) -> Vec<f32> {
    let value = |(at, value): (usize, &f32)| if decoded.is_bottom(at) { sentinel } else { *value };
    decoded.value.iter().enumerate().map(value).collect()
}

/// Who answered for a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The model.
    Model,
    /// The solver that was asked instead.
    Solver,
    /// Nobody: the model says that there is no answer.
    Nobody,
}

/// Rows of `outputs` values each: those with a ⊥ by a pole stay without an answer; of the others those with a fault, and with `routes_gaps`
/// those near a pole, are answered by `solver`, which gets their numbers and gives `outputs` values for each.
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
    let asked: Vec<usize> = (0..rows).filter(|&row| answers[row] == Answer::Solver).collect();
    let mut values = decoded.value.clone();
    if asked.is_empty() {
        return Ok((values, answers));
    }
    let solved = solver(&asked)?;
    if solved.len() != asked.len() * outputs {
        let wanted = asked.len() * outputs;
        return Err(Error::new(format!("routed: the solver gave {} values, wanted {wanted}", solved.len())));
    }
    for (row, solved) in asked.iter().zip(solved.chunks(outputs)) {
        values[row * outputs..(row + 1) * outputs].copy_from_slice(solved);
    }
    Ok((values, answers))
}
