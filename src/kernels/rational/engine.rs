//! Rational functions on vectors of elements, one element per column: shared by the CPU paths of `rational` and its gradient.
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]
#![allow(unsafe_code, reason = "vector registers are read and written through pointers inside checked ranges")]

use pulp::Simd;

use super::{Basis, Rational};
use crate::simd::{fma, load};

/// A multiple of the lanes of every instruction set.
pub(crate) const PAD: usize = 16;

/// Coefficients in vector layout: a row per coefficient, as wide as the columns, or one vector wide if all columns share it.
pub(crate) struct Table {
    rows: Vec<f32>,
    width: usize,
}

impl Table {
    /// Builds it from coefficients [p_0, …, q_0, …] by channels.
    pub(crate) fn new(form: &Rational, channels: usize, w: &[f32]) -> Self {
        let width = channels.next_multiple_of(PAD);
        // A vector that begins at the last column of the last row ends in the padding.
        let mut rows = vec![0.0; form.coefficients() * width + PAD];
        for (row, w) in rows.chunks_exact_mut(width).zip(w.chunks(channels)) {
            if channels == 1 {
                row.fill(w[0]);
            } else {
                row[..channels].copy_from_slice(w);
            }
        }
        Self { rows, width }
    }

    /// Coefficient k for a vector of columns starting at `column`.
    #[inline(always)]
    pub(crate) fn at<S: Simd>(&self, k: usize, column: usize) -> S::f32s {
        let at = k * self.width + if self.width == PAD { column % PAD } else { column };
        assert!(at + S::F32_LANES <= self.rows.len());
        // SAFETY: a vector that begins here ends inside the table.
        unsafe { load::<S>(self.rows.as_ptr().add(at)) }
    }
}

/// φ_k at a vector and its derivative, and the same for φ_{k-1}.
#[derive(Clone, Copy)]
pub(crate) struct Term<S: Simd> {
    pub(crate) now: S::f32s,
    pub(crate) slope: S::f32s,
    before: S::f32s,
    before_slope: S::f32s,
}

impl<S: Simd> Term<S> {
    /// φ_0.
    #[inline(always)]
    pub(crate) fn first(simd: S) -> Self {
        let zero = simd.splat_f32s(0.0);
        Self { now: simd.splat_f32s(1.0), slope: zero, before: zero, before_slope: zero }
    }

    /// φ_{k+1} from φ_k.
    #[inline(always)]
    pub(crate) fn next(self, simd: S, basis: Basis, x: S::f32s, k: usize) -> Self {
        let Self { now, slope, before, before_slope } = self;
        if basis == Basis::Monomial || k == 0 {
            return Self {
                now: simd.mul_f32s(now, x),
                slope: fma(simd, slope, x, now),
                before: now,
                before_slope: slope,
            };
        }
        let twice = simd.add_f32s(x, x);
        let next = simd.sub_f32s(simd.mul_f32s(twice, now), before);
        let next_slope = simd.sub_f32s(fma(simd, twice, slope, simd.add_f32s(now, now)), before_slope);
        Self { now: next, slope: next_slope, before: now, before_slope: slope }
    }
}

/// P, P', Q and Q' at a vector, and the sign of a safe denominator's slope.
pub(crate) struct Values<S: Simd> {
    pub(crate) p: S::f32s,
    pub(crate) p_slope: S::f32s,
    pub(crate) q: S::f32s,
    pub(crate) q_slope: S::f32s,
    pub(crate) sign: S::f32s,
}

impl Rational {
    /// The values that a gradient needs at x, for the columns starting at `column`.
    #[inline(always)]
    pub(crate) fn values<S: Simd>(&self, simd: S, table: &Table, column: usize, x: S::f32s) -> Values<S> {
        let (zero, one) = (simd.splat_f32s(0.0), simd.splat_f32s(1.0));
        let mut v = Values { p: zero, p_slope: zero, q: zero, q_slope: zero, sign: one };
        let mut term = Term::first(simd);
        for k in 0..=self.numerator.max(self.denominator) {
            if k > 0 {
                term = term.next(simd, self.basis, x, k - 1);
            }
            if k <= self.numerator {
                let w = table.at::<S>(k, column);
                (v.p, v.p_slope) = (fma(simd, w, term.now, v.p), fma(simd, w, term.slope, v.p_slope));
            }
            if self.has_denominator(k) {
                let w = table.at::<S>(self.numerator + 1 + k, column);
                (v.q, v.q_slope) = (fma(simd, w, term.now, v.q), fma(simd, w, term.slope, v.q_slope));
            }
        }
        if self.is_safe {
            let above = simd.select_f32s(simd.less_than_f32s(zero, v.q), one, zero);
            let below = simd.select_f32s(simd.less_than_f32s(v.q, zero), one, zero);
            v.sign = simd.sub_f32s(above, below);
            v.q = simd.add_f32s(one, simd.abs_f32s(v.q));
            v.q_slope = simd.mul_f32s(v.q_slope, v.sign);
        }
        v
    }

    /// P and Q only, by Horner's rule or Clenshaw's (1955).
    #[inline(always)]
    pub(crate) fn quotient<S: Simd>(&self, simd: S, table: &Table, column: usize, x: S::f32s) -> [S::f32s; 2] {
        let p = self.polynomial(simd, table, column, x, 0, self.numerator);
        let q = self.polynomial(simd, table, column, x, self.numerator + 1, self.denominator);
        if !self.is_safe {
            return [p, q];
        }
        // The lowest coefficient of a safe denominator is fixed at 1.
        let sum = simd.sub_f32s(q, table.at::<S>(self.numerator + 1, column));
        [p, simd.add_f32s(simd.splat_f32s(1.0), simd.abs_f32s(sum))]
    }

    #[inline(always)]
    fn polynomial<S: Simd>(
        &self,
        simd: S,
        table: &Table,
        column: usize,
        x: S::f32s,
        first: usize,
        degree: usize,
    ) -> S::f32s {
        if self.basis == Basis::Monomial {
            let mut sum = table.at::<S>(first + degree, column);
            for k in (0..degree).rev() {
                sum = fma(simd, sum, x, table.at::<S>(first + k, column));
            }
            return sum;
        }
        let twice = simd.add_f32s(x, x);
        let (mut one, mut two) = (simd.splat_f32s(0.0), simd.splat_f32s(0.0));
        for k in (1..=degree).rev() {
            let next = simd.sub_f32s(simd.mul_f32s(twice, one), two);
            (one, two) = (simd.add_f32s(next, table.at::<S>(first + k, column)), one);
        }
        let lowest = table.at::<S>(first, column);
        simd.add_f32s(simd.sub_f32s(simd.mul_f32s(x, one), two), lowest)
    }

    /// Whether q_k is a coefficient; the lowest of a safe denominator is fixed at 1.
    #[inline(always)]
    pub(crate) fn has_denominator(&self, k: usize) -> bool {
        k <= self.denominator && !(self.is_safe && k == 0)
    }
}

/// Mask of the lanes in which `v` is finite.
#[inline(always)]
pub(crate) fn fits<S: Simd>(simd: S, v: S::f32s) -> S::m32s {
    simd.less_than_or_equal_f32s(simd.abs_f32s(v), simd.splat_f32s(f32::MAX))
}

/// Reads a vector of a row at `at`; lanes past the row's end are 1.
#[inline(always)]
pub(crate) fn read<S: Simd>(simd: S, row: &[f32], at: usize) -> S::f32s {
    if at + S::F32_LANES <= row.len() {
        // SAFETY: the vector lies inside the row.
        return unsafe { load::<S>(row.as_ptr().add(at)) };
    }
    let _ = simd;
    let mut rest = [1.0_f32; PAD];
    rest[..row.len() - at].copy_from_slice(&row[at..]);
    // SAFETY: no vector has more lanes than `PAD`.
    unsafe { load::<S>(rest.as_ptr()) }
}

/// Writes a vector into a row at `at`; lanes past the row's end are dropped.
#[inline(always)]
pub(crate) fn write<S: Simd>(row: &mut [f32], at: usize, value: S::f32s) {
    if at + S::F32_LANES <= row.len() {
        // SAFETY: the vector lies inside the row.
        return unsafe { crate::simd::store::<S>(row.as_mut_ptr().add(at), value) };
    }
    let mut rest = [0.0_f32; PAD];
    // SAFETY: no vector has more lanes than `PAD`.
    unsafe { crate::simd::store::<S>(rest.as_mut_ptr(), value) };
    let count = row.len() - at;
    row[at..].copy_from_slice(&rest[..count]);
}
