//! The pairs of one tile on the CPU: computed from features, and the gradient of their rule by the features and by the coefficients. Samples
//! are lanes, so each feature, each component of a pair and of a target is first stored as a row of a table.
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]

use super::pairing::{PairForm, PairScaling, Pairing, Polynomial};
use super::rule::PairRule;
use super::terms::{Graded, Pair, weighted};
use crate::kernels::mlp::loss::Sums;
use crate::kernels::mlp::shape::PAD;
use crate::kernels::rational::{Basis, MAX_DEGREE};
use crate::simd::elementary::{InMemory, softplus};
use crate::simd::{fma, fnma, vector};
use pulp::{Simd, WithSimd};

/// Words of the table for a tile of `tile` samples.
pub(crate) fn work_words(pairing: &Pairing, tile: usize) -> usize {
    let pairs = pairing.outputs + denominators(pairing);
    (pairing.features() + 2 * pairs + denominators(pairing) + 2 * pairing.outputs + 1) * tile.next_multiple_of(PAD)
}

/// Number of denominators computed: angles have one per output.
fn denominators(pairing: &Pairing) -> usize {
    if let PairForm::Angular { .. } = pairing.form { pairing.outputs } else { pairing.denominators() }
}

/// The table's parts; every row is `len` words.
struct Table<'a> {
    len: usize,
    /// Features, replaced by their gradients in the end.
    x: &'a mut [f32],
    /// Numerators and denominators, not normalised.
    made: &'a mut [f32],
    /// Derivatives of the denominators by their curves.
    slopes: &'a mut [f32],
    /// Gradients by `made`.
    d: &'a mut [f32],
    /// Numerators and denominators of the targets.
    y: &'a mut [f32],
    /// A sample's weight in the mean over outputs, 0 after the last sample.
    share: &'a mut [f32],
}

impl<'a> Table<'a> {
    fn new(pairing: &Pairing, samples: usize, work: &'a mut [f32]) -> Self {
        let len = samples.next_multiple_of(PAD);
        let (pairs, below) = (pairing.outputs + denominators(pairing), denominators(pairing));
        let mut rest = work;
        let mut take = |rows: usize| {
            let (part, after) = std::mem::take(&mut rest).split_at_mut(rows * len);
            rest = after;
            part
        };
        Self {
            len,
            x: take(pairing.features()),
            made: take(pairs),
            slopes: take(below),
            d: take(pairs),
            y: take(2 * pairing.outputs),
            share: take(1),
        }
    }

    /// Loads the features of z [samples, stride] as rows, 0 after the last sample.
    fn load(&mut self, z: &[f32], stride: usize, samples: usize) {
        for (feature, row) in self.x.chunks_exact_mut(self.len).enumerate() {
            let values = z[feature..].iter().step_by(stride);
            row[..samples].iter_mut().zip(values).for_each(|(slot, value)| *slot = *value);
            row[samples..].fill(0.0);
        }
    }

    /// Loads the target pairs of the tile's rows, (0, 0) after the last.
    fn load_targets(&mut self, y: &[f32], rows: &[u32], outputs: usize) {
        for (at, row) in self.y.chunks_exact_mut(self.len).enumerate() {
            row[..rows.len()]
                .iter_mut()
                .zip(rows)
                .for_each(|(slot, &sample)| *slot = y[sample as usize * 2 * outputs + at]);
            row[rows.len()..].fill(0.0);
        }
        self.share[..rows.len()].fill(1.0 / outputs as f32);
        self.share[rows.len()..].fill(0.0);
    }
}

/// Replaces the features z [rows, stride] by the gradients by the features and adds the coefficients' gradients to `partial`. y is the whole
/// table of target pairs, `rows` name the tile's samples in it, `work` holds `work_words`.
pub(crate) struct PairGradients<'a> {
    pub pairing: &'a Pairing,
    pub rule: PairRule,
    pub tau: f32,
    pub z: &'a mut [f32],
    pub stride: usize,
    pub work: &'a mut [f32],
    pub y: &'a [f32],
    pub rows: &'a [u32],
    pub params: &'a [f32],
    pub partial: &'a mut [f32],
}

impl WithSimd for PairGradients<'_> {
    type Output = Sums;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Sums {
        let PairGradients { pairing, rule, tau, z, stride, work, y, rows, params, partial } = self;
        let mut table = Table::new(pairing, rows.len(), work);
        table.load(z, stride, rows.len());
        table.load_targets(y, rows, pairing.outputs);
        make(simd, pairing, params, &mut table);
        let sum = grade(simd, pairing, &rule, tau, &mut table);
        if let PairForm::Angular { scale } = pairing.form {
            turn(simd, scale, &mut table);
        } else {
            pass_down(simd, pairing, params, &mut table, partial);
        }
        for (feature, row) in table.x.chunks_exact(table.len).enumerate() {
            let slots = z[feature..].iter_mut().step_by(stride);
            slots.zip(&row[..rows.len()]).for_each(|(slot, value)| *slot = *value);
        }
        Sums { loss: sum, weight: rows.len() as f32 }
    }
}

/// Computes the pairs [samples, 2 · outputs] from the features z [samples, stride].
pub(crate) struct PairOutputs<'a> {
    pub pairing: &'a Pairing,
    pub z: &'a [f32],
    pub stride: usize,
    pub work: &'a mut [f32],
    pub params: &'a [f32],
    pub out: &'a mut [f32],
}

impl WithSimd for PairOutputs<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let PairOutputs { pairing, z, stride, work, params, out } = self;
        let outputs = pairing.outputs;
        let mut table = Table::new(pairing, out.len() / (2 * outputs), work);
        table.load(z, stride, out.len() / (2 * outputs));
        make(simd, pairing, params, &mut table);
        let len = table.len;
        let (above, below) = table.made.split_at(outputs * len);
        let (p, q) = table.y.split_at_mut(outputs * len);
        for o in 0..outputs {
            let (above, below) = (vectors::<S>(above, len, o), vectors::<S>(below, len, denominator(pairing, o)));
            let (p, q) = (vectors_mut::<S>(p, len, o), vectors_mut::<S>(q, len, o));
            for v in 0..p.len() {
                (p[v], q[v], _) = normalized(simd, pairing.scaling, above[v], below[v]);
            }
        }
        for (at, row) in table.y.chunks_exact(len).enumerate() {
            out[at..].iter_mut().step_by(2 * outputs).zip(row).for_each(|(slot, value)| *slot = *value);
        }
    }
}

/// Row `at` of a table as vectors.
#[inline(always)]
fn vectors<S: Simd>(table: &[f32], len: usize, at: usize) -> &[S::f32s] {
    S::as_simd_f32s(&table[at * len..][..len]).0
}

#[inline(always)]
fn vectors_mut<S: Simd>(table: &mut [f32], len: usize, at: usize) -> &mut [S::f32s] {
    S::as_mut_simd_f32s(&mut table[at * len..][..len]).0
}

fn denominator(pairing: &Pairing, output: usize) -> usize {
    if denominators(pairing) == pairing.outputs { output } else { 0 }
}

/// Computes numerators and denominators from features.
#[inline(always)]
fn make<S: Simd>(simd: S, pairing: &Pairing, params: &[f32], table: &mut Table<'_>) {
    let Table { len, x, made, slopes, .. } = table;
    let len = *len;
    if let PairForm::Angular { scale } = pairing.form {
        x.iter_mut().for_each(|x| *x *= scale);
        let (p, q) = made.split_at_mut(x.len());
        vector::cos(&[x], p);
        vector::sin(&[x], q);
        return;
    }
    for feature in 0..pairing.features() {
        let curve = Curve::new(pairing, params, feature);
        let out = vectors_mut::<S>(made, len, feature);
        for (out, x) in out.iter_mut().zip(vectors::<S>(x, len, feature)) {
            *out = curve.at(simd, *x).0;
        }
    }
    let shift = simd.splat_f32s(pairing.shift);
    for k in 0..pairing.denominators() {
        let made = vectors_mut::<S>(made, len, pairing.outputs + k);
        for (q, slope) in made.iter_mut().zip(vectors_mut::<S>(slopes, len, k)) {
            let (value, rise) =
                if pairing.is_positive { softplus(simd, InMemory, *q) } else { (*q, simd.splat_f32s(1.0)) };
            (*q, *slope) = (simd.add_f32s(value, shift), rise);
        }
    }
}

/// Returns the sum of the rule's values and writes their gradients by `made` to `d`.
#[inline(always)]
fn grade<S: Simd>(simd: S, pairing: &Pairing, rule: &PairRule, tau: f32, table: &mut Table<'_>) -> f32 {
    let (len, outputs) = (table.len, pairing.outputs);
    let (above, below) = table.made.split_at(outputs * len);
    let (d_above, d_below) = table.d.split_at_mut(outputs * len);
    d_below.fill(0.0);
    let share = vectors::<S>(table.share, len, 0);
    let mut sum = simd.splat_f32s(0.0);
    for o in 0..outputs {
        let k = denominator(pairing, o);
        let (above, below) = (vectors::<S>(above, len, o), vectors::<S>(below, len, k));
        let (d_above, d_below) = (vectors_mut::<S>(d_above, len, o), vectors_mut::<S>(d_below, len, k));
        let (yn, yd) = (vectors::<S>(table.y, len, o), vectors::<S>(table.y, len, outputs + o));
        for v in 0..share.len() {
            let (p, q, size) = normalized(simd, pairing.scaling, above[v], below[v]);
            let graded = weighted(simd, rule, tau, Pair { p, q, yn: yn[v], yd: yd[v] });
            let (dp, dq) = through_scaling(simd, pairing.scaling, [p, q], size, graded);
            sum = fma(simd, share[v], graded.value, sum);
            d_above[v] = simd.mul_f32s(share[v], dp);
            d_below[v] = fma(simd, share[v], dq, d_below[v]);
        }
    }
    simd.reduce_sum_f32s(sum)
}

/// The normalised pair that the rule sees, and its divisor (1 if the pair has length 0).
#[inline(always)]
fn normalized<S: Simd>(simd: S, scaling: PairScaling, p: S::f32s, q: S::f32s) -> (S::f32s, S::f32s, S::f32s) {
    let one = simd.splat_f32s(1.0);
    if scaling == PairScaling::Free {
        return (p, q, one);
    }
    let square = fma(simd, p, p, simd.mul_f32s(q, q));
    let is_long = simd.greater_than_f32s(square, simd.splat_f32s(0.0));
    let size = simd.sqrt_f32s(simd.select_f32s(is_long, square, one));
    (simd.div_f32s(p, size), simd.div_f32s(q, size), size)
}

/// The gradient by the free pair from `d`, that by the normalised pair: (d - (pair · d) pair) / size if it flows through the size too.
#[inline(always)]
fn through_scaling<S: Simd>(
    simd: S,
    scaling: PairScaling,
    [p, q]: [S::f32s; 2],
    size: S::f32s,
    graded: Graded<S::f32s>,
) -> (S::f32s, S::f32s) {
    let Graded { mut dp, mut dq, .. } = graded;
    if scaling == PairScaling::Free {
        return (dp, dq);
    }
    if scaling == PairScaling::Attached {
        let along = fma(simd, p, dp, simd.mul_f32s(q, dq));
        (dp, dq) = (fnma(simd, along, p, dp), fnma(simd, along, q, dq));
    }
    (simd.div_f32s(dp, size), simd.div_f32s(dq, size))
}

/// The gradient by the feature of P = cos(scale · x), Q = sin(scale · x).
#[inline(always)]
fn turn<S: Simd>(simd: S, scale: f32, table: &mut Table<'_>) {
    let (p, q) = table.made.split_at(table.x.len());
    let (dp, dq) = table.d.split_at(table.x.len());
    let all = |table| S::as_simd_f32s(table).0;
    let (p, q, dp, dq) = (all(p), all(q), all(dp), all(dq));
    let scale = simd.splat_f32s(scale);
    for (v, x) in S::as_mut_simd_f32s(table.x).0.iter_mut().enumerate() {
        *x = simd.mul_f32s(scale, simd.sub_f32s(simd.mul_f32s(p[v], dq[v]), simd.mul_f32s(q[v], dp[v])));
    }
}

/// Writes the gradients by the features to `x` and adds those by the coefficients to `partial`.
#[inline(always)]
fn pass_down<S: Simd>(simd: S, pairing: &Pairing, params: &[f32], table: &mut Table<'_>, partial: &mut [f32]) {
    let len = table.len;
    for k in 0..pairing.denominators() {
        let d = vectors_mut::<S>(table.d, len, pairing.outputs + k);
        for (d, slope) in d.iter_mut().zip(vectors::<S>(table.slopes, len, k)) {
            *d = simd.mul_f32s(*d, *slope);
        }
    }
    for feature in 0..pairing.features() {
        let curve = Curve::new(pairing, params, feature);
        let mut sums = [simd.splat_f32s(0.0); MAX_DEGREE + 1];
        let (x, d) = (vectors_mut::<S>(table.x, len, feature), vectors::<S>(table.d, len, feature));
        for (x, d) in x.iter_mut().zip(d) {
            let slope = curve.at(simd, *x).1;
            curve.gather(simd, *x, *d, &mut sums);
            *x = simd.mul_f32s(*d, slope);
        }
        if let Some(polynomial) = pairing.polynomial(feature) {
            for (k, sum) in sums[..=polynomial.degree].iter().enumerate() {
                partial[polynomial.first + k * polynomial.step] += simd.reduce_sum_f32s(*sum);
            }
        }
    }
}

/// The function of a feature: the identity, or the polynomial with these coefficients.
struct Curve {
    basis: Option<Basis>,
    weights: [f32; MAX_DEGREE + 1],
    degree: usize,
}

impl Curve {
    fn new(pairing: &Pairing, params: &[f32], feature: usize) -> Self {
        let basis = if let PairForm::Rational { basis, .. } = pairing.form { Some(basis) } else { None };
        let mut weights = [0.0; MAX_DEGREE + 1];
        let Some(Polynomial { first, step, degree }) = pairing.polynomial(feature) else {
            return Self { basis, weights, degree: 1 };
        };
        for (k, weight) in weights[..=degree].iter_mut().enumerate() {
            *weight = params[first + k * step];
        }
        Self { basis, weights, degree }
    }

    /// Value and slope, by Horner's rule, or by Clenshaw's (1955) for Chebyshev polynomials, and the derivative of the rule.
    #[inline(always)]
    fn at<S: Simd>(&self, simd: S, x: S::f32s) -> (S::f32s, S::f32s) {
        let weight = |k: usize| simd.splat_f32s(self.weights[k]);
        let zero = simd.splat_f32s(0.0);
        match self.basis {
            None => (x, simd.splat_f32s(1.0)),
            Some(Basis::Monomial) => {
                let (mut value, mut slope) = (weight(self.degree), zero);
                for k in (0..self.degree).rev() {
                    slope = fma(simd, slope, x, value);
                    value = fma(simd, value, x, weight(k));
                }
                (value, slope)
            }
            Some(Basis::Chebyshev) => {
                let (mut one, mut two) = ((zero, zero), (zero, zero));
                let twice = simd.add_f32s(x, x);
                for k in (1..=self.degree).rev() {
                    let value = fma(simd, twice, one.0, simd.sub_f32s(weight(k), two.0));
                    let slope = fma(simd, twice, one.1, simd.sub_f32s(simd.add_f32s(one.0, one.0), two.1));
                    (one, two) = ((value, slope), one);
                }
                let value = fma(simd, x, one.0, simd.sub_f32s(weight(0), two.0));
                (value, fma(simd, x, one.1, simd.sub_f32s(one.0, two.1)))
            }
        }
    }

    /// Adds d φ_k(x) to each sum.
    #[inline(always)]
    fn gather<S: Simd>(&self, simd: S, x: S::f32s, d: S::f32s, sums: &mut [S::f32s; MAX_DEGREE + 1]) {
        let Some(basis) = self.basis else { return };
        let (mut now, mut next) = (d, simd.mul_f32s(d, x));
        let twice = simd.add_f32s(x, x);
        for sum in &mut sums[..=self.degree] {
            *sum = simd.add_f32s(*sum, now);
            let after = match basis {
                Basis::Monomial => simd.mul_f32s(next, x),
                Basis::Chebyshev => simd.sub_f32s(simd.mul_f32s(twice, next), now),
            };
            (now, next) = (next, after);
        }
    }
}
