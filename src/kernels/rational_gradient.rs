//! The gradient of `rational`: dx = g (P' - y Q') / Q, and per part of the rows and column the sums over elements of g φ_k / Q (for p_k) and of
//! -g y φ_k / Q (for q_k; of a safe denominator times the sign of its sum, 0 for its 1). Elements under ⊥ count for nothing.

use pulp::{Simd, WithSimd};

use super::common::{self, Variant};
use super::rational::{Basis, Params, Rational, coefficient, flops};
use super::simd;
use crate::device::{Call, Cost, Dispatch, Kernel, View};

/// The `rational_gradient` kernel.
pub static RATIONAL_GRADIENT: Kernel = Kernel {
    name: "rational_gradient",
    params: Params::FIELDS,
    wgsl: &[common::FINITE, common::RATIONAL, include_str!("../../shaders/rational_gradient.wgsl")],
    cpu: run,
    grid: |dispatch| {
        let params: Params = dispatch.params();
        [params.columns.div_ceil(64), params.parts(), 1]
    },
    cost: |dispatch| Cost { flops: flops(dispatch, 8), bytes: dispatch.bytes() },
    fuse: None,
};

impl Params {
    fn parts(&self) -> u32 {
        self.count.div_ceil(self.columns).div_ceil(self.rows_per_part).max(1)
    }
}

/// Shape of the partial sums for `count` elements: [parts, coefficients, columns].
pub fn partial_shape(form: &Rational, count: usize, channels: usize) -> [usize; 3] {
    let params = form.params(count, channels);
    [params.parts() as usize, form.coefficients(), params.columns as usize]
}

/// dx: f32[count] and the partial sums of coefficient gradients, from x, coefficients, the bits of ⊥ and the upstream gradient g.
pub fn dispatch(form: &Rational, channels: usize, inputs: [View; 4], [dx, partials]: [View; 2]) -> Dispatch {
    let params = form.params(inputs[0].words, channels);
    let body = Some(form.body());
    let (params, outputs) = (params.words(), vec![dx, partials]);
    Dispatch { kernel: &RATIONAL_GRADIENT, body, params, inputs: inputs.into(), outputs }
}

/// One part's rows.
struct Part<'a> {
    form: Rational,
    params: Params,
    x: &'a [f32],
    p: &'a [f32],
    q: &'a [f32],
    bottom: &'a [u32],
    g: &'a [f32],
    dx: &'a mut [f32],
    sums: &'a mut [f32],
    /// Its first element.
    first: usize,
}

impl WithSimd for Part<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let columns = self.params.columns as usize;
        self.sums.fill(0.0);
        let mut row = Row::new(columns);
        for (at, dx) in self.dx.chunks_mut(columns).enumerate() {
            let from = at * columns;
            let width = dx.len();
            row.read(&self.x[from..from + width], &self.g[from..from + width], self.bottom, self.first + from);
            row.polynomials(&self.form, self.p, self.q, self.params.channels as usize);
            row.gradients(&self.form, dx, self.sums, columns);
        }
    }
}

/// What is worked out for one row of elements, one to a column.
struct Row {
    width: usize,
    x: Vec<f32>,
    g: Vec<f32>,
    /// P, Q and their derivatives.
    sums: [Vec<f32>; 4],
    /// φ_k, φ_k', and those of k - 1.
    basis: [Vec<f32>; 4],
    /// The sign that a safe denominator's slope takes.
    sign: Vec<f32>,
}

impl Row {
    fn new(columns: usize) -> Self {
        let zeros = || vec![0.0; columns];
        let four = || [zeros(), zeros(), zeros(), zeros()];
        Self { width: 0, x: zeros(), g: zeros(), sums: four(), basis: four(), sign: zeros() }
    }

    /// Takes a row; under ⊥ x and g become 0.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "must land inside the function that enables the instruction set")]
    fn read(&mut self, x: &[f32], g: &[f32], bottom: &[u32], first: usize) {
        self.width = x.len();
        for c in 0..x.len() {
            let at = first + c;
            let is_value = bottom[at / 32] >> (at % 32) & 1 == 0;
            self.x[c] = if is_value { x[c] } else { 0.0 };
            self.g[c] = if is_value { g[c] } else { 0.0 };
        }
    }

    /// Lays φ_0 and its derivative out.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "must land inside the function that enables the instruction set")]
    fn begin(&mut self) {
        let [now, slope, before, before_slope] = &mut self.basis;
        now.fill(1.0);
        slope.fill(0.0);
        before.fill(0.0);
        before_slope.fill(0.0);
    }

    /// From φ_k to φ_{k+1}.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "must land inside the function that enables the instruction set")]
    fn advance(&mut self, basis: Basis, k: usize) {
        let width = self.width;
        let x = &self.x[..width];
        let [now, slope, before, before_slope] = &mut self.basis;
        let (now, slope) = (&mut now[..width], &mut slope[..width]);
        if basis == Basis::Monomial || k == 0 {
            for c in 0..width {
                (before[c], before_slope[c]) = (now[c], slope[c]);
                slope[c] = slope[c] * x[c] + now[c];
                now[c] *= x[c];
            }
            return;
        }
        let (before, before_slope) = (&mut before[..width], &mut before_slope[..width]);
        for c in 0..width {
            let next = 2.0 * x[c] * now[c] - before[c];
            let next_slope = 2.0 * (now[c] + x[c] * slope[c]) - before_slope[c];
            (before[c], before_slope[c]) = (now[c], slope[c]);
            (now[c], slope[c]) = (next, next_slope);
        }
    }

    /// P, Q, P' and Q'.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "must land inside the function that enables the instruction set")]
    fn polynomials(&mut self, form: &Rational, p: &[f32], q: &[f32], channels: usize) {
        let width = self.width;
        self.sums.iter_mut().for_each(|sum| sum.fill(0.0));
        self.begin();
        for k in 0..=form.numerator.max(form.denominator) {
            if k > 0 {
                self.advance(form.basis, k - 1);
            }
            let [now, slope, ..] = &self.basis;
            let [values, below, slopes, slopes_below] = &mut self.sums;
            let both = [
                (k <= form.numerator, p, values, slopes),
                (k <= form.denominator && !(form.is_safe && k == 0), q, below, slopes_below),
            ];
            for (is_used, w, values, slopes) in both {
                if !is_used {
                    continue;
                }
                for c in 0..width {
                    let w = coefficient(w, channels, k, c);
                    values[c] += w * now[c];
                    slopes[c] += w * slope[c];
                }
            }
        }
        let [_, below, _, slopes_below] = &mut self.sums;
        for c in 0..width {
            let sign = if !form.is_safe || below[c] > 0.0 {
                1.0
            } else if below[c] < 0.0 {
                -1.0
            } else {
                0.0
            };
            self.sign[c] = sign;
            if form.is_safe {
                below[c] = 1.0 + below[c].abs();
                slopes_below[c] *= sign;
            }
        }
    }

    /// dx, and this row's share of the sums [coefficients, columns].
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "must land inside the function that enables the instruction set")]
    fn gradients(&mut self, form: &Rational, dx: &mut [f32], sums: &mut [f32], columns: usize) {
        let width = self.width;
        {
            let [values, below, slopes, slopes_below] = &mut self.sums;
            for c in 0..width {
                // Under ⊥ g is 0 and Q may be.
                let q = if self.g[c] == 0.0 { 1.0 } else { below[c] };
                let (g, y) = (self.g[c] / q, values[c] / q);
                dx[c] = finite(g * (slopes[c] - y * slopes_below[c]));
                values[c] = g;
                below[c] = -g * y * self.sign[c];
            }
        }
        self.begin();
        for k in 0..=form.numerator.max(form.denominator) {
            if k > 0 {
                self.advance(form.basis, k - 1);
            }
            let now = &self.basis[0][..width];
            let [g, gy, ..] = &self.sums;
            if k <= form.numerator {
                let sum = &mut sums[k * columns..][..width];
                for c in 0..width {
                    sum[c] += finite(g[c] * now[c]);
                }
            }
            if k <= form.denominator && !(form.is_safe && k == 0) {
                let sum = &mut sums[(form.numerator + 1 + k) * columns..][..width];
                for c in 0..width {
                    sum[c] += finite(gy[c] * now[c]);
                }
            }
        }
    }
}

/// A gradient that does not fit an f32 counts for nothing.
#[inline(always)]
#[allow(clippy::inline_always, reason = "must land inside the function that enables the instruction set")]
fn finite(x: f32) -> f32 {
    if x.abs() <= f32::MAX { x } else { 0.0 }
}

fn run(call: Call<'_>) {
    let params: Params = call.params();
    let form = call.body::<Variant<Rational>>().kind;
    let count = params.count as usize;
    let [x, w, g] = [0, 1, 3].map(|at| call.floats(at));
    let (x, g, bottom) = (&x[..count], &g[..count], call.inputs[2]);
    let (p, q) = w.split_at((form.numerator + 1) * params.channels as usize);
    let [dx, partials] = call.outputs else { unreachable!("the gradient has two outputs") };
    let dx = &mut bytemuck::cast_slice_mut::<u32, f32>(dx)[..count];
    let size = form.coefficients() * params.columns as usize;
    let partials = &mut bytemuck::cast_slice_mut::<u32, f32>(partials)[..params.parts() as usize * size];
    let piece = (params.rows_per_part * params.columns) as usize;
    if count == 0 {
        return partials.fill(0.0);
    }
    let pieces =
        dx.chunks_mut(piece).zip(partials.chunks_mut(size)).zip(x.chunks(piece).zip(g.chunks(piece))).enumerate();
    common::each(pieces, call.team, |(at, ((dx, sums), (x, g)))| {
        simd::dispatch(Part { form, params, x, p, q, bottom, g, dx, sums, first: at * piece });
    });
}
