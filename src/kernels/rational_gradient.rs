//! The gradient of `rational`: dx = g (P' - y Q') / Q, and for each part of the rows and each column the sums over elements of g φ_k / Q (for
//! p_k) and -g y φ_k / Q (for q_k; with a safe denominator times the sign of its sum, and 0 for its fixed 1). Elements under ⊥ add nothing.
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]

use pulp::{Simd, WithSimd};

use super::common::{self, Variant};
use super::rational::engine::{PAD, Table, Term, fits, read, write};
use super::rational::{Params, Rational, flops};
use crate::device::{Call, Cost, Dispatch, Kernel, View};
use crate::simd;
use crate::simd::masked::{self, Source};

/// The `rational_gradient` kernel.
pub static RATIONAL_GRADIENT: Kernel = Kernel {
    name: "rational_gradient",
    params: Params::FIELDS,
    wgsl: &[common::SCALAR, common::TOTAL, common::RATIONAL, crate::wgsl!("rational_gradient")],
    cpu: run,
    grid: |dispatch| {
        let params: Params = dispatch.params();
        [params.columns.div_ceil(64), params.parts(), 1]
    },
    cost: |dispatch| Cost { flops: flops(dispatch, 8), bytes: dispatch.bytes() },
    fuse: None,
    in_place: None,
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

/// One part's rows. `g` is not finite under ⊥.
struct Part<'a> {
    form: Rational,
    columns: usize,
    table: &'a Table,
    x: &'a [f32],
    g: &'a [f32],
    dx: &'a mut [f32],
    /// [coefficients, columns], columns padded.
    sums: &'a mut [f32],
}

impl WithSimd for Part<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Part { form, columns, table, x, g, dx, sums } = self;
        let rows = dx.chunks_mut(columns).zip(x.chunks(columns).zip(g.chunks(columns)));
        for (dx, (x, g)) in rows {
            for column in (0..x.len()).step_by(S::F32_LANES) {
                let at = Channel { form, table, column, columns };
                let slope = at.gradient(simd, read::<S>(simd, x, column), read::<S>(simd, g, column), x.len(), sums);
                write::<S>(dx, column, slope);
            }
        }
    }
}

/// A vector of neighbouring columns.
struct Channel<'a> {
    form: Rational,
    table: &'a Table,
    column: usize,
    columns: usize,
}

impl Channel<'_> {
    /// dx of one vector; also adds its terms to the sums. Lanes from `width` on are outside the row.
    #[inline(always)]
    fn gradient<S: Simd>(&self, simd: S, x: S::f32s, g: S::f32s, width: usize, sums: &mut [f32]) -> S::f32s {
        let Self { form, table, column, columns } = self;
        let is_value = fits(simd, g);
        let (x, mut g) = (simd.select_f32s(is_value, x, simd.splat_f32s(0.0)), finite(simd, g));
        if column + S::F32_LANES > width {
            let mut kept = [0.0_f32; PAD];
            kept[..width - column].fill(1.0);
            g = simd.mul_f32s(g, read::<S>(simd, &kept, 0));
        }
        let v = form.values(simd, table, *column, x);
        // Under ⊥, g is 0 and Q may be 0.
        let q = simd.select_f32s(is_value, v.q, simd.splat_f32s(1.0));
        let share = simd.div_f32s(g, q);
        let y = simd.div_f32s(v.p, q);
        let slope = finite(simd, simd.mul_f32s(share, simd.sub_f32s(v.p_slope, simd.mul_f32s(y, v.q_slope))));
        let below = simd.mul_f32s(simd.neg_f32s(simd.mul_f32s(share, y)), v.sign);
        let stride = columns.next_multiple_of(PAD);
        let mut term = Term::first(simd);
        for k in 0..=form.numerator.max(form.denominator) {
            if k > 0 {
                term = term.next(simd, form.basis, x, k - 1);
            }
            if k <= form.numerator {
                add(simd, &mut sums[k * stride + column..], simd.mul_f32s(share, term.now));
            }
            if form.has_denominator(k) {
                let at = (form.numerator + 1 + k) * stride + column;
                add(simd, &mut sums[at..], simd.mul_f32s(below, term.now));
            }
        }
        slope
    }
}

/// Adds a vector to the first words of `sums`; lanes that are not finite add nothing.
#[inline(always)]
fn add<S: Simd>(simd: S, sums: &mut [f32], value: S::f32s) {
    let sum = &mut sums[..S::F32_LANES];
    write::<S>(sum, 0, simd.add_f32s(read::<S>(simd, sum, 0), finite(simd, value)));
}

/// `v` where it is finite, else 0.
#[inline(always)]
fn finite<S: Simd>(simd: S, v: S::f32s) -> S::f32s {
    simd.select_f32s(fits(simd, v), v, simd.splat_f32s(0.0))
}

/// g where there is a value, NaN or infinite under ⊥; the first element has index `first`.
fn marked(g: &[f32], bottom: &[u32], first: usize, out: &mut [f32]) {
    if first.is_multiple_of(32) {
        return masked::mark(Source { values: g, bits: &bottom[first / 32..] }, out);
    }
    for (at, (out, g)) in out.iter_mut().zip(g).enumerate() {
        let place = first + at;
        *out = if bottom[place / 32] >> (place % 32) & 1 == 1 { f32::NAN } else { *g };
    }
}

fn run(call: Call<'_>) {
    let params: Params = call.params();
    let form = call.body::<Variant<Rational>>().kind;
    let (count, columns) = (params.count as usize, params.columns as usize);
    let [x, g] = [0, 3].map(|at| &call.floats(at)[..count]);
    let table = &Table::new(&form, params.channels as usize, call.floats(1));
    let bottom = call.inputs[2];
    let [dx, partials] = call.outputs else { unreachable!("the gradient has two outputs") };
    let dx = &mut bytemuck::cast_slice_mut::<u32, f32>(dx)[..count];
    let size = form.coefficients() * columns;
    let partials = &mut bytemuck::cast_slice_mut::<u32, f32>(partials)[..params.parts() as usize * size];
    let piece = params.rows_per_part as usize * columns;
    if count == 0 {
        return partials.fill(0.0);
    }
    let pieces = dx.chunks_mut(piece).zip(partials.chunks_mut(size)).zip(x.chunks(piece).zip(g.chunks(piece)));
    common::each(pieces.enumerate(), call.pool, |(at, ((dx, partials), (x, g)))| {
        let mut open = vec![0.0; g.len()];
        marked(g, bottom, at * piece, &mut open);
        let padded = columns.next_multiple_of(PAD);
        let mut sums = vec![0.0; form.coefficients() * padded];
        simd::dispatch(Part { form, columns, table, x, g: &open, dx, sums: &mut sums });
        for (partial, sum) in partials.chunks_mut(columns).zip(sums.chunks(padded)) {
            partial.copy_from_slice(&sum[..columns]);
        }
    });
}
