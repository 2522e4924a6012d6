//! A rational function of one variable, element by element: y = P(x) / Q(x), P = Σ p_k φ_k(x), Q = Σ q_k φ_k(x), or the pole-free Q = 1 +
//! |Σ_{k≥1} q_k φ_k(x)| (safe Padé units, Molina et al. 2020). ⊥, with y = 0 and a bit set, where something is not finite, |Q| <= epsilon, or
//! P/Q or P/Q² passes the largest f32. Coefficients are [p_0, …, q_0, …] by channels, element i belonging to channel i mod channels.

mod cases;

use std::rc::Rc;

use pulp::{Simd, WithSimd};
use serde::{Deserialize, Serialize};

use super::common::{self, Variant};
use super::simd;
use crate::device::{Call, Cost, Dispatch, Kernel, SharedBody, View, groups};
use crate::params;

pub use cases::{cases, cases_of_gradient};

/// The `rational` kernel.
pub static RATIONAL: Kernel = Kernel {
    name: "rational",
    params: Params::FIELDS,
    wgsl: &[common::INDEX, common::FINITE, common::RATIONAL, include_str!("../../shaders/rational.wgsl")],
    cpu: run,
    grid: |dispatch| groups(dispatch.params::<Params>().count.div_ceil(32) as usize, 64),
    cost: |dispatch| Cost { flops: flops(dispatch, 2), bytes: dispatch.bytes() },
    fuse: None,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// 1, x, x², …
    Monomial,
    /// T_0 = 1, T_1 = x, T_n = 2 x T_(n-1) - T_(n-2).
    Chebyshev,
}

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
    /// Where |Q| is not above this there is no value.
    pub epsilon: f32,
}

/// The highest degree.
pub const MAX_DEGREE: usize = 16;

impl Rational {
    /// What the kernels are specialised with.
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

    /// Coefficients of a channel.
    pub fn coefficients(&self) -> usize {
        self.numerator + self.denominator + 2
    }
}

/// Elements are laid in rows of one to each channel; of a single channel, in rows of this many, each column summing for itself.
pub(super) fn columns(channels: usize) -> usize {
    if channels == 1 { 128 } else { channels }
}

/// Rows that are summed together: a fixed shape, whatever the threads.
pub(super) fn rows_per_part(rows: usize) -> usize {
    rows.div_ceil(256).max(16)
}

/// Arithmetic of a launch, `passes` polynomials of each kind per element.
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

/// P and Q of a row of elements, one to a column.
struct Tile {
    /// What Clenshaw's rule carries.
    carried: [Vec<f32>; 2],
    p: Vec<f32>,
    q: Vec<f32>,
}

impl Tile {
    fn new(columns: usize) -> Self {
        let zeros = || vec![0.0; columns];
        Self { carried: [zeros(), zeros()], p: zeros(), q: zeros() }
    }

    /// P and Q at x by Horner's rule or Clenshaw's; `channels` is 1 or the tile's width.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "must land inside the function that enables the instruction set")]
    fn values(&mut self, form: &Rational, x: &[f32], p: &[f32], q: &[f32], channels: usize) {
        let [one, two] = &mut self.carried;
        polynomial(form.basis, form.numerator, x, p, channels, [one, two], &mut self.p);
        polynomial(form.basis, form.denominator, x, q, channels, [one, two], &mut self.q);
        if !form.is_safe {
            return;
        }
        for c in 0..x.len() {
            // The lowest coefficient of a safe denominator is its 1.
            self.q[c] = 1.0 + (self.q[c] - coefficient(q, channels, 0, c)).abs();
        }
    }
}

#[inline(always)]
#[allow(clippy::inline_always, reason = "must land inside the function that enables the instruction set")]
pub(super) fn coefficient(all: &[f32], channels: usize, k: usize, column: usize) -> f32 {
    if channels == 1 { all[k] } else { all[k * channels + column] }
}

/// Σ w_k φ_k(x) for one value per column.
#[inline(always)]
#[allow(clippy::inline_always, reason = "must land inside the function that enables the instruction set")]
fn polynomial(
    basis: Basis,
    degree: usize,
    x: &[f32],
    w: &[f32],
    channels: usize,
    [one, two]: [&mut [f32]; 2],
    out: &mut [f32],
) {
    let width = x.len();
    let (one, two, out) = (&mut one[..width], &mut two[..width], &mut out[..width]);
    let at = |k: usize, c: usize| coefficient(w, channels, k, c);
    match basis {
        Basis::Monomial => {
            for c in 0..width {
                out[c] = at(degree, c);
            }
            for k in (0..degree).rev() {
                for c in 0..width {
                    out[c] = out[c] * x[c] + at(k, c);
                }
            }
        }
        Basis::Chebyshev => {
            one.fill(0.0);
            two.fill(0.0);
            for k in (1..=degree).rev() {
                for c in 0..width {
                    let next = 2.0 * x[c] * one[c] - two[c] + at(k, c);
                    two[c] = one[c];
                    one[c] = next;
                }
            }
            for c in 0..width {
                out[c] = x[c] * one[c] - two[c] + at(0, c);
            }
        }
    }
}

struct Forward<'a> {
    form: Rational,
    params: Params,
    x: &'a [f32],
    p: &'a [f32],
    q: &'a [f32],
    y: &'a mut [f32],
    bottom: &'a mut [u32],
    /// Channel of the first element.
    first: usize,
}

impl WithSimd for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let (channels, columns) = (self.params.channels as usize, self.params.columns as usize);
        let mut tile = Tile::new(columns);
        let mut done = 0;
        let mut is_bottom = vec![0_u8; self.y.len().next_multiple_of(32)];
        while done < self.y.len() {
            // Rows begin at channel 0; the first may begin inside one.
            let column = if channels == 1 { 0 } else { (self.first + done) % channels };
            let width = (columns - column).min(self.y.len() - done);
            let x = &self.x[done..done + width];
            let shift = if channels == 1 { 0 } else { column };
            tile.values(&self.form, x, &self.p[shift..], &self.q[shift..], channels);
            let (y, marks) = (&mut self.y[done..done + width], &mut is_bottom[done..done + width]);
            let (p, q) = (&tile.p[..width], &tile.q[..width]);
            for c in 0..width {
                let value = p[c] / q[c];
                let is_value =
                    q[c].abs() > self.params.epsilon && (value / q[c]).abs() <= f32::MAX && value.abs() <= f32::MAX;
                let is_value = is_value && q[c].abs() <= f32::MAX && p[c].abs() <= f32::MAX && x[c].abs() <= f32::MAX;
                y[c] = if is_value { value } else { 0.0 };
                marks[c] = u8::from(!is_value);
            }
            done += width;
        }
        for (word, marks) in self.bottom.iter_mut().zip(is_bottom.chunks_exact(32)) {
            *word = marks.iter().enumerate().fold(0, |word, (i, mark)| word | u32::from(*mark) << i);
        }
    }
}

fn run(call: Call<'_>) {
    let params: Params = call.params();
    let form = call.body::<Variant<Rational>>().kind;
    let count = params.count as usize;
    let x = &call.floats(0)[..count];
    let (p, q) = call.floats(1).split_at((form.numerator + 1) * params.channels as usize);
    let [y, bottom] = call.outputs else { unreachable!("rational has two outputs") };
    let y = &mut bytemuck::cast_slice_mut::<u32, f32>(y)[..count];
    let bottom = &mut bottom[..count.div_ceil(32)];
    // Pieces small enough for their bytes of marks to stay near.
    let piece = 32 * common::rows_per_piece(count.div_ceil(32), 32 * form.coefficients(), call.team).min(512);
    let pieces = y.chunks_mut(piece).zip(bottom.chunks_mut(piece / 32)).zip(x.chunks(piece)).enumerate();
    common::each(pieces, call.team, |(at, ((y, bottom), x))| {
        simd::dispatch(Forward { form, params, x, p, q, y, bottom, first: at * piece });
    });
}
