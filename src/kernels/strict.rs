//! Strict decoding: divides each pair (P, Q) once, unless Q is too near 0, and classifies every element.
//! value = P / Q or 0 under ⊥; planes of bits: ⊥ = fault or semantic; gap = not ⊥ but near a pole; fault = an operand was not finite;
//! semantic = Q is (nearly) 0; provenance = 2 bits per element, fault + 2 · semantic. Every decision is a comparison of exactly rounded numbers.

mod cases;
mod decoded;

use super::common;
use crate::device::{Call, Cost, Dispatch, Kernel, View, groups};
use crate::error::{Error, Result};
use crate::host::number;
use crate::{params, record};

pub use cases::cases;
pub use decoded::Decoded;

/// The `strict` kernel.
pub static STRICT: Kernel = Kernel {
    name: "strict",
    params: Params::FIELDS,
    wgsl: &[common::SCALAR, common::INDEX, common::TOTAL, crate::wgsl!("strict")],
    cpu: run,
    grid: |dispatch| groups(dispatch.params::<Params>().plane as usize, 64),
    cost: |dispatch| {
        let params: Params = dispatch.params();
        Cost { flops: 8 * u64::from(params.count) * u64::from(1 + params.factors), bytes: dispatch.bytes() }
    },
    fuse: None,
    in_place: None,
};

params! {
    /// `count` denominators in rows of `inner`; a row of P has `p_row` words, a row of Q has `q_row` words with Q starting at `q_start`; each
    /// denominator divides `depth` numerators. `plane` is the number of words of a plane of bits.
    pub struct Params {
        count: u32,
        inner: u32,
        depth: u32,
        p_row: u32,
        q_row: u32,
        q_start: u32,
        plane: u32,
        factors: u32,
        is_raw: u32,
        infer: f32,
        train: f32,
        unused: u32,
        taus: [f32; MAX_FACTORS],
    }
}

/// Maximal number of validity factors of a decoding.
pub const MAX_FACTORS: usize = 4;

/// Decision rule: which pairs are too near a pole to be divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decoding {
    /// The quantity that `tau_infer` and `tau_train` are compared with.
    pub threshold: Threshold,
    /// Below this a pair is ⊥.
    pub tau_infer: f32,
    /// Values between `tau_infer` and this are marked as near a pole (the gap); no gap if absent.
    pub tau_train: Option<f32>,
}

record! { Decoding { threshold, tau_infer, tau_train } }

/// The nearness of a pair to a pole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// |Q| / √(P² + Q²): the same for (P, Q) and (kP, kQ), so a threshold τ refuses values beyond about 1/τ.
    Angle,
    /// |Q|, which depends on how the pair is scaled.
    Denominator,
}

record! { enum Threshold { Angle, Denominator } }

impl Default for Decoding {
    /// Values beyond 1,000 are ⊥ and those beyond 100 are in the gap, in the units that the model was trained on.
    fn default() -> Self {
        Self { threshold: Threshold::Angle, tau_infer: 1e-3, tau_train: Some(1e-2) }
    }
}

impl Decoding {
    /// Compares |Q| with fixed thresholds.
    pub fn raw(tau_infer: f32, tau_train: Option<f32>) -> Self {
        Self { threshold: Threshold::Denominator, tau_infer, tau_train }
    }

    /// Errors on invalid thresholds and on those that devices would decide differently.
    pub fn check(&self) -> Result<()> {
        let Self { threshold, tau_infer: infer, tau_train } = *self;
        let refused = |what: String| Err(Error::new(what));
        let shown = number(infer);
        if !(infer.is_finite() && infer > 0.0) {
            return refused(format!("tau_infer is {shown}, expected a finite number above 0"));
        }
        let [least, most] = if threshold == Threshold::Angle { [1e-18, 0.5] } else { [f32::MIN_POSITIVE, f32::MAX] };
        if infer < least {
            let least = number(least);
            return refused(format!(
                "tau_infer is {shown:e}, which some devices round to 0; expected at least {least:e}"
            ));
        }
        if infer > most || tau_train.is_some_and(|train| train > most) {
            return refused(format!(
                "tau_infer or tau_train is too large: expected the sine of an angle, at most {}",
                number(most)
            ));
        }
        match tau_train {
            Some(train) if !(train.is_finite() && train >= infer) => {
                let train = number(train);
                refused(format!("tau_train is {train}, expected at least tau_infer = {shown}"))
            }
            _ => Ok(()),
        }
    }

    /// `tau_infer` and `tau_train` as limits of |Q|, or, for an angle, of |Q| / |P|.
    pub fn limits(&self) -> [f32; 2] {
        let of = |tau: f32| match self.threshold {
            Threshold::Denominator => tau,
            Threshold::Angle => (f64::from(tau) / (1.0 - f64::from(tau).powi(2)).sqrt()) as f32,
        };
        [of(self.tau_infer), of(self.tau_train.unwrap_or(self.tau_infer))]
    }
}

/// Memory layout of pairs.
#[derive(Clone, Copy, Debug)]
pub struct Pairs {
    /// Rows.
    pub rows: u32,
    /// Denominators per row.
    pub inner: u32,
    /// Numerators per denominator.
    pub depth: u32,
    /// Words from a row of Q to the next.
    pub q_row: u32,
    /// Words before Q in its row.
    pub q_start: u32,
    /// Words from a row of P to the next.
    pub p_row: u32,
}

impl Pairs {
    /// The layout of a projective head's output: [rows, 2 · outputs], numerators first.
    pub fn joined(rows: u32, outputs: u32) -> Self {
        Self { rows, inner: outputs, depth: 1, q_row: 2 * outputs, q_start: outputs, p_row: 2 * outputs }
    }

    /// P: [rows, depth] and Q: [rows] in separate buffers.
    pub fn apart(rows: u32, depth: u32) -> Self {
        Self { rows, inner: 1, depth, q_row: 1, q_start: 0, p_row: depth }
    }

    /// Number of denominators.
    pub fn count(&self) -> u32 {
        self.rows * self.inner
    }
}

/// Words of one plane of bits, rounded up so that each plane can be bound alone.
pub fn plane_words(count: usize) -> usize {
    count.div_ceil(32).next_multiple_of(64)
}

/// Words of the provenance codes, sixteen codes per word.
pub fn provenance_words(count: usize) -> usize {
    count.div_ceil(16)
}

/// Results of a decoding.
pub struct Outputs {
    /// f32[count · depth], 0 under ⊥.
    pub value: View,
    /// Four planes: bottom, gap, fault, semantic.
    pub planes: View,
    /// Codes of 2 bits: 0 a value, 1 fault, 2 semantic, 3 both.
    pub provenance: View,
}

/// Decodes pairs. `factors`: [taus.len(), count] are further numbers whose size must be at least their threshold in `taus`.
pub fn dispatch(
    decoding: &Decoding,
    pairs: Pairs,
    [p, q]: [View; 2],
    factors: View,
    taus: &[f32],
    out: Outputs,
) -> Dispatch {
    assert!(taus.len() <= MAX_FACTORS, "strict: got {} validity factors, expected at most {MAX_FACTORS}", taus.len());
    let [infer, train] = decoding.limits();
    let mut limits = [0.0; MAX_FACTORS];
    limits[..taus.len()].copy_from_slice(taus);
    let count = pairs.count();
    let params = Params {
        count,
        inner: pairs.inner,
        depth: pairs.depth,
        p_row: pairs.p_row,
        q_row: pairs.q_row,
        q_start: pairs.q_start,
        plane: plane_words(count as usize) as u32,
        factors: taus.len() as u32,
        is_raw: u32::from(decoding.threshold == Threshold::Denominator),
        infer,
        train,
        unused: 0,
        taus: limits,
    };
    Dispatch {
        kernel: &STRICT,
        body: None,
        params: params.words(),
        inputs: vec![p, q, factors],
        outputs: vec![out.value, out.planes, out.provenance],
    }
}

fn run(call: Call<'_>) {
    let params: Params = call.params();
    let (p, q, factors) = (call.floats(0), call.floats(1), call.floats(2));
    let (count, depth, plane) = (params.count as usize, params.depth as usize, params.plane as usize);
    let pool = call.pool;
    let [value, planes, provenance] = call.outputs else { unreachable!("strict has three outputs") };
    planes.fill(0);
    let value = &mut bytemuck::cast_slice_mut::<u32, f32>(value)[..count * depth];
    let provenance = &mut provenance[..provenance_words(count)];
    let (bottom, rest) = planes.split_at_mut(plane);
    let (gap, rest) = rest.split_at_mut(plane);
    let (fault, semantic) = rest.split_at_mut(plane);
    // Pieces of whole words of every output: 32 elements.
    let groups = 32 * common::rows_per_piece(count.div_ceil(32), 32 * depth, pool);
    let words = groups / 32;
    let bits = bottom
        .chunks_mut(words)
        .zip(gap.chunks_mut(words))
        .zip(fault.chunks_mut(words).zip(semantic.chunks_mut(words)));
    let pieces = value.chunks_mut(groups * depth).zip(provenance.chunks_mut(2 * words)).zip(bits).enumerate();
    common::each(pieces, pool, |(at, ((value, provenance), ((bottom, gap), (fault, semantic))))| {
        provenance.fill(0);
        for (k, value) in value.chunks_mut(depth.max(1)).enumerate() {
            let index = at * groups + k;
            let seen = judge(&params, p, q, factors, index, value);
            let bit = |is: bool| u32::from(is) << (k % 32);
            let is_bottom = seen.fault || seen.semantic;
            bottom[k / 32] |= bit(is_bottom);
            gap[k / 32] |= bit(seen.gap && !is_bottom);
            fault[k / 32] |= bit(seen.fault);
            semantic[k / 32] |= bit(seen.semantic);
            provenance[k / 16] |= (u32::from(seen.fault) + 2 * u32::from(seen.semantic)) << (2 * (k % 16));
        }
    });
}

/// Decodes one pair: its value and whether it is near a pole, or `None` for ⊥. The same decision as the kernel's.
pub fn decode(decoding: &Decoding, p: f32, q: f32) -> Option<(f32, bool)> {
    let [infer, train] = decoding.limits();
    let is_raw = decoding.threshold == Threshold::Denominator;
    let is_given = p.is_finite() && q.is_finite() && !is_near(is_raw, &[p], q, infer) && (p / q).is_finite();
    is_given.then(|| (p / q, is_near(is_raw, &[p], q, train)))
}

#[derive(Clone, Copy)]
struct Verdict {
    fault: bool,
    semantic: bool,
    gap: bool,
}

/// Classifies one denominator with its numerators; writes the quotients to `value`.
fn judge(params: &Params, p: &[f32], q: &[f32], factors: &[f32], index: usize, value: &mut [f32]) -> Verdict {
    let (row, column) = (index / params.inner as usize, index % params.inner as usize);
    let q = q[row * params.q_row as usize + params.q_start as usize + column];
    let first = row * params.p_row as usize + column * params.depth as usize;
    let p = &p[first..first + params.depth as usize];
    let mut fault = !q.is_finite() || p.iter().any(|p| !p.is_finite());
    let is_near = |limit: f32| is_near(params.is_raw != 0, p, q, limit);
    let mut semantic = is_near(params.infer);
    let gap = is_near(params.train) && !semantic;
    for (k, tau) in params.taus[..params.factors as usize].iter().enumerate() {
        let factor = factors[k * params.count as usize + index];
        fault |= !factor.is_finite();
        semantic |= factor.abs() < *tau;
    }
    if !fault && !semantic {
        fault = p.iter().any(|p| !(p / q).is_finite());
    }
    let is_bottom = fault || semantic;
    for (value, p) in value.iter_mut().zip(p) {
        *value = if is_bottom { 0.0 } else { p / q };
    }
    Verdict { fault, semantic, gap }
}

/// Whether the denominator is below the limit: its size, or its ratio to the largest numerator.
fn is_near(is_raw: bool, p: &[f32], q: f32, limit: f32) -> bool {
    if is_raw {
        return q == 0.0 || q.abs() < limit;
    }
    // Subnormal numbers count as 0 here on every device: some flush them.
    let normal = |x: f32| if x.is_finite() && x.abs() >= f32::MIN_POSITIVE { x.abs() } else { 0.0 };
    let size = normal(q);
    if size == 0.0 {
        return q.is_finite();
    }
    let largest = p.iter().fold(0.0, |largest: f32, p| largest.max(normal(*p)));
    if size >= largest {
        return false;
    }
    // A power of two that keeps the product normal.
    let scale = if largest > TWO_60 {
        1.0 / TWO_64
    } else if largest < 1.0 / TWO_60 {
        TWO_64
    } else {
        1.0
    };
    size * scale < limit * (largest * scale)
}

const TWO_60: f32 = 1_152_921_504_606_846_976.0;
const TWO_64: f32 = 18_446_744_073_709_551_616.0;
