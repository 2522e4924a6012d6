//! A rational function of one variable, element by element: y = P(x) / Q(x), P = Σ p_k φ_k(x), Q = Σ q_k φ_k(x), or the pole-free Q = 1 +
//! |Σ_{k≥1} q_k φ_k(x)| (safe Padé units, Molina et al. 2020). ⊥, with y = 0 and a bit set, where an operand is not finite, |Q| <= epsilon, or
//! P/Q or P/Q² exceeds the largest f32. Coefficients are [p_0, …, q_0, …] by channels, element i belonging to channel i mod channels.
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]

mod cases;
pub(super) mod engine;

use std::rc::Rc;

use pulp::{Simd, WithSimd};

use super::common::{self, Variant};
use crate::device::{Call, Cost, Dispatch, Kernel, SharedBody, View, groups};
use crate::simd::{self, masked};
use crate::{params, record};

pub use cases::{cases, cases_of_gradient};
use engine::{Table, fits, read, write};

/// The `rational` kernel.
pub static RATIONAL: Kernel = Kernel {
    name: "rational",
    params: Params::FIELDS,
    wgsl: &[common::SCALAR, common::INDEX, common::TOTAL, common::RATIONAL, crate::wgsl!("rational")],
    cpu: run,
    grid: |dispatch| groups(dispatch.params::<Params>().count.div_ceil(32) as usize, 64),
    cost: |dispatch| Cost { flops: flops(dispatch, 2), bytes: dispatch.bytes() },
    fuse: None,
    in_place: None,
};

params! {
    /// `count` elements; `rows_per_part` belongs to the gradient.
    pub struct Params {
        count: u32,
        channels: u32,
        columns: u32,
        rows_per_part: u32,
        epsilon: f32,
    }
}

/// Polynomials of one variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// 1, x, x², …
    Monomial,
    /// T_0 = 1, T_1 = x, T_n = 2 x T_(n-1) - T_(n-2).
    Chebyshev,
}

record! { enum Basis { Monomial, Chebyshev } }

/// The function's form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rational {
    /// Degree of P.
    pub numerator: usize,
    /// Degree of Q.
    pub denominator: usize,
    /// The φ.
    pub basis: Basis,
    /// Whether Q is kept at 1 or above.
    pub is_safe: bool,
    /// The result is ⊥ where |Q| is not above this.
    pub epsilon: f32,
}

record! { Rational { numerator, denominator, basis, is_safe, epsilon } }

/// The highest degree.
pub const MAX_DEGREE: usize = 16;

impl Rational {
    /// The body of the kernels.
    pub(super) fn body(&self) -> SharedBody {
        let is_chebyshev = self.basis == Basis::Chebyshev;
        let wgsl = format!(
            "const NUMERATOR: u32 = {}u;\nconst DENOMINATOR: u32 = {}u;\nconst IS_CHEBYSHEV: bool = {is_chebyshev};\nconst IS_SAFE: bool = {};\n",
            self.numerator, self.denominator, self.is_safe
        );
        Rc::new(Variant { kind: *self, wgsl })
    }

    pub(super) fn params(&self, count: usize, channels: usize) -> Params {
        let columns = columns(channels);
        let rows_per_part = rows_per_part(count.div_ceil(columns)) as u32;
        let [count, channels, columns] = [count, channels, columns].map(|size| size as u32);
        Params { count, channels, columns, rows_per_part, epsilon: self.epsilon }
    }

    /// Number of coefficients per channel.
    pub fn coefficients(&self) -> usize {
        self.numerator + self.denominator + 2
    }
}

/// Columns of the table of elements: one per channel; with a single channel a fixed number, and each column has its own sum.
pub(super) fn columns(channels: usize) -> usize {
    if channels == 1 { 128 } else { channels }
}

/// Rows that are summed together: independent of the number of threads.
pub(super) fn rows_per_part(rows: usize) -> usize {
    rows.div_ceil(256).max(16)
}

/// Floating-point operations of a launch with `passes` evaluations of P and of Q per element.
pub(super) fn flops(dispatch: &Dispatch, passes: u64) -> u64 {
    let params: Params = dispatch.params();
    let body: &dyn std::any::Any = &**dispatch.body.as_ref().expect("a rational function has a form");
    let form = body.downcast_ref::<Variant<Rational>>().expect("its body is a form").kind;
    u64::from(params.count) * (passes * form.coefficients() as u64 + 4)
}

/// From x: f32[count] and coefficients to y: f32[count] and the bits of ⊥: u32[ceil(count / 32)].
pub fn dispatch(form: &Rational, channels: usize, [x, w]: [View; 2], [y, bottom]: [View; 2]) -> Dispatch {
    let params = form.params(x.words, channels);
    let body = Some(form.body());
    Dispatch { kernel: &RATIONAL, body, params: params.words(), inputs: vec![x, w], outputs: vec![y, bottom] }
}

/// Evaluates a run of elements; ⊥ is NaN.
struct Forward<'a> {
    form: Rational,
    params: Params,
    table: &'a Table,
    x: &'a [f32],
    out: &'a mut [f32],
    /// Channel of the first element.
    first: usize,
}

impl WithSimd for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Forward { form, params, table, x: all, out: made, first } = self;
        let at = Channel { form, epsilon: params.epsilon, table };
        let columns = params.columns as usize;
        let (mut done, mut column) = (0, first);
        while done < made.len() {
            // Rows begin at channel 0; a run may begin inside a row, which is then processed element by element.
            let width = if column == 0 { columns } else { columns - column }.min(made.len() - done);
            let (x, out) = (&all[done..done + width], &mut made[done..done + width]);
            let (step, lead) = if column == 0 { (S::F32_LANES, 0) } else { (1, column) };
            for k in (0..width).step_by(step) {
                let value = at.value(simd, lead + k, read::<S>(simd, x, k));
                if step == 1 { write::<S>(&mut out[k..=k], 0, value) } else { write::<S>(out, k, value) }
            }
            done += width;
            column = 0;
        }
    }
}

/// Where a vector's coefficients are.
struct Channel<'a> {
    form: Rational,
    epsilon: f32,
    table: &'a Table,
}

impl Channel<'_> {
    #[inline(always)]
    fn value<S: Simd>(&self, simd: S, column: usize, x: S::f32s) -> S::f32s {
        let [p, q] = self.form.quotient(simd, self.table, column, x);
        let y = simd.div_f32s(p, q);
        let is_far = simd.less_than_f32s(simd.splat_f32s(self.epsilon), simd.abs_f32s(q));
        // If P is not finite, neither is y; y / Q checks the slope.
        let is_value = simd.and_m32s(
            simd.and_m32s(is_far, fits(simd, q)),
            simd.and_m32s(fits(simd, x), fits(simd, simd.div_f32s(y, q))),
        );
        simd.select_f32s(is_value, y, simd.splat_f32s(f32::NAN))
    }
}

/// Elements processed at a time.
const TILE: usize = 1024;

fn run(call: Call<'_>) {
    let params: Params = call.params();
    let form = call.body::<Variant<Rational>>().kind;
    let (count, channels) = (params.count as usize, params.channels as usize);
    let x = &call.floats(0)[..count];
    let table = &Table::new(&form, channels, call.floats(1));
    let [y, bottom] = call.outputs else { unreachable!("rational has two outputs") };
    let y = &mut bytemuck::cast_slice_mut::<u32, f32>(y)[..count];
    let bottom = &mut bottom[..count.div_ceil(32)];
    let piece = TILE * common::rows_per_piece(count.div_ceil(TILE), TILE * form.coefficients(), call.pool);
    let pieces = y.chunks_mut(piece).zip(bottom.chunks_mut(piece / 32)).zip(x.chunks(piece)).enumerate();
    common::each(pieces, call.pool, |(at, ((y, bottom), x))| {
        let mut tile = [0.0; TILE];
        let tiles = y.chunks_mut(TILE).zip(bottom.chunks_mut(TILE / 32)).zip(x.chunks(TILE)).enumerate();
        for (k, ((values, bits), x)) in tiles {
            let (out, start) = (&mut tile[..x.len()], at * piece + k * TILE);
            let first = if channels == 1 { 0 } else { start % channels };
            simd::dispatch(Forward { form, params, table, x, out, first });
            masked::canonicalize(out, values, bits);
        }
    });
}
