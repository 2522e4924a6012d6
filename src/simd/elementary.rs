//! Elementary functions on one vector of f32, generic over the instruction set. Polynomials from Cephes (S. Moshier) and, for erf, N. Juffa.
//! Error bounds are in `vector.rs`, which runs these over slices. NaN propagates everywhere.
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]

use super::{at_least, at_most, constant, each, fma, fnma, horner, shift_left, shift_right, vectors};
use pulp::Simd;
use std::f32::consts::{FRAC_2_PI, LOG2_E};

/// 1.5 * 2^23: adding it rounds to an integer, which is then in the low mantissa bits.
const ROUND: f32 = 12_582_912.0;
/// ln 2 in two parts, the first with 9 significant bits so that its product with an exponent is exact.
const LN2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
/// pi/2 in three parts of 8, 11 and 24 bits.
const HALF_PI: [f32; 3] = [1.570_312_5, 4.837_513e-4, 7.549_79e-8];
/// The largest angle that `HALF_PI` reduces accurately.
pub(crate) const ANGLE_LIMIT: f32 = 1e4;

/// Constants of `exp_bounded`: its limits, then the factors and summands of `reduce`.
static EXP: [f32; 13] = [
    -87.0,
    88.0,
    LOG2_E,
    ROUND,
    -LN2[0],
    -LN2[1],
    1.987_569_1e-4,
    1.398_199_9e-3,
    8.333_452e-3,
    4.166_579_6e-2,
    1.666_666_5e-1,
    0.5,
    1.0,
];
const LOW: usize = 0;
const HIGH: usize = 1;
const LOG2: usize = 2;
const SHIFT: usize = 3;
const LN2_HIGH: usize = 4;
const LN2_LOW: usize = 5;
const P: usize = 6;
const ONE: usize = 12;

/// Source of the constants `EXP`.
pub(crate) trait Constants<S: Simd>: Copy {
    /// `EXP[at]` in all lanes.
    fn get(self, simd: S, at: usize) -> S::f32s;
}

/// Loads them from memory at each use.
#[derive(Clone, Copy)]
pub(crate) struct InMemory;

impl<S: Simd> Constants<S> for InMemory {
    #[inline(always)]
    fn get(self, simd: S, at: usize) -> S::f32s {
        constant(simd, &EXP[at])
    }
}

/// Keeps them in registers, for loops with registers to spare: in a browser, loads at each use take a fifth of SiLU's time.
#[derive(Clone, Copy)]
pub(crate) struct HeldConstants<S: Simd>([S::f32s; EXP.len()]);

impl<S: Simd> HeldConstants<S> {
    /// Loads all of them once.
    #[inline(always)]
    pub(crate) fn new(simd: S) -> Self {
        const COUNT: usize = EXP.len();
        let mut held = Self(vectors());
        each!(at < COUNT {
            held.0[at] = InMemory.get(simd, at);
        });
        held
    }
}

impl<S: Simd> Constants<S> for HeldConstants<S> {
    #[inline(always)]
    fn get(self, _simd: S, at: usize) -> S::f32s {
        self.0[at]
    }
}

#[inline(always)]
fn clamp<S: Simd>(simd: S, x: S::f32s, low: &'static f32, high: &'static f32) -> S::f32s {
    at_most(simd, constant(simd, high), at_least(simd, constant(simd, low), x))
}

/// (n + ROUND, n, exp(r) - 1 as r + r^2 P(r)) with x = n ln 2 + r.
#[inline(always)]
fn reduce<S: Simd, C: Constants<S>>(simd: S, constants: C, x: S::f32s) -> (S::f32s, S::f32s, S::f32s) {
    let get = |at| constants.get(simd, at);
    let round = get(SHIFT);
    let shifted = fma(simd, x, get(LOG2), round);
    let n = simd.sub_f32s(shifted, round);
    let r = fma(simd, n, get(LN2_HIGH), x);
    let r = fma(simd, n, get(LN2_LOW), r);
    // Estrin's scheme: a chain of three products instead of five with Horner's.
    let square = simd.mul_f32s(r, r);
    let pair = |at| fma(simd, get(at), r, get(at + 1));
    let p = fma(simd, pair(P), square, pair(P + 2));
    let p = fma(simd, p, square, pair(P + 4));
    (shifted, n, fma(simd, square, p, r))
}

/// x * 2^n for the n in the low bits of n + ROUND, where the result is a normal number.
#[inline(always)]
fn scale<S: Simd>(simd: S, x: S::f32s, shifted: S::f32s) -> S::f32s {
    let exponent = shift_left(simd, simd.transmute_u32s_f32s(shifted), 23);
    simd.transmute_f32s_u32s(simd.add_u32s(simd.transmute_u32s_f32s(x), exponent))
}

/// exp(x) for x clamped to [-87, 88]: half the work of [`exp`], for results that are added to 1.
#[inline(always)]
pub(crate) fn exp_bounded<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    exp_bounded_by(simd, InMemory, x)
}

#[inline(always)]
fn exp_bounded_by<S: Simd, C: Constants<S>>(simd: S, constants: C, x: S::f32s) -> S::f32s {
    let x = at_most(simd, constants.get(simd, HIGH), at_least(simd, constants.get(simd, LOW), x));
    let (shifted, _, m) = reduce(simd, constants, x);
    scale(simd, simd.add_f32s(m, constants.get(simd, ONE)), shifted)
}

/// exp(x), infinite above 88.72, gradual underflow to 0 below -87.3.
#[inline(always)]
pub(crate) fn exp<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let (one, round) = (simd.splat_f32s(1.0), simd.splat_f32s(ROUND));
    let (_, n, m) = reduce(simd, InMemory, clamp(simd, x, &-105.0, &90.0));
    let half = fma(simd, n, simd.splat_f32s(0.5), round);
    let rest = simd.add_f32s(simd.sub_f32s(n, simd.sub_f32s(half, round)), round);
    let y = simd.mul_f32s(simd.add_f32s(m, one), scale(simd, one, half));
    simd.mul_f32s(y, scale(simd, one, rest))
}

/// ln(x): -inf at 0, NaN below.
#[inline(always)]
pub(crate) fn ln<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let (zero, one) = (simd.splat_f32s(0.0), simd.splat_f32s(1.0));
    let tiny = simd.less_than_f32s(x, simd.splat_f32s(f32::MIN_POSITIVE));
    let y = simd.select_f32s(tiny, simd.mul_f32s(x, simd.splat_f32s(8_388_608.0)), x);
    let bits = simd.transmute_u32s_f32s(y);
    let exponent = simd.or_u32s(shift_right(simd, bits, 23), simd.splat_u32s(0x4B00_0000));
    let bias =
        simd.select_f32s(tiny, simd.splat_f32s(8_388_608.0 + 126.0 + 23.0), simd.splat_f32s(8_388_608.0 + 126.0));
    let e = simd.sub_f32s(simd.transmute_f32s_u32s(exponent), bias);
    let mantissa = simd.or_u32s(simd.and_u32s(bits, simd.splat_u32s(0x007F_FFFF)), simd.splat_u32s(0x3F00_0000));
    let m = simd.transmute_f32s_u32s(mantissa);
    let low = simd.less_than_f32s(m, simd.splat_f32s(std::f32::consts::FRAC_1_SQRT_2));
    let e = simd.select_f32s(low, simd.sub_f32s(e, one), e);
    let m = simd.sub_f32s(simd.select_f32s(low, simd.add_f32s(m, m), m), one);
    let result = ln_reduced(simd, m, e);
    let result = simd.select_f32s(simd.less_than_f32s(x, simd.splat_f32s(f32::INFINITY)), result, x);
    let result = simd.select_f32s(simd.equal_f32s(x, zero), simd.splat_f32s(f32::NEG_INFINITY), result);
    simd.select_f32s(simd.less_than_f32s(x, zero), simd.splat_f32s(f32::NAN), result)
}

/// ln(1 + m) + e ln 2 for 1 + m in [sqrt(1/2), sqrt(2)].
#[inline(always)]
fn ln_reduced<S: Simd>(simd: S, m: S::f32s, e: S::f32s) -> S::f32s {
    let square = simd.mul_f32s(m, m);
    let p = horner(
        simd,
        m,
        &[
            7.037_683_6e-2,
            -1.151_461e-1,
            1.167_699_9e-1,
            -1.242_014_1e-1,
            1.424_932_3e-1,
            -1.666_805_8e-1,
            2.000_071_5e-1,
            -2.499_999_4e-1,
            3.333_333e-1,
        ],
    );
    let y = simd.mul_f32s(simd.mul_f32s(p, m), square);
    let y = fma(simd, e, simd.splat_f32s(LN2[1]), y);
    let y = fnma(simd, square, simd.splat_f32s(0.5), y);
    fma(simd, e, simd.splat_f32s(LN2[0]), simd.add_f32s(m, y))
}

/// ln(1 + x) for x in [0, 1], accurate for small x.
#[inline(always)]
pub(crate) fn ln_one_plus<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let one = simd.splat_f32s(1.0);
    let u = simd.add_f32s(x, one);
    let high = simd.greater_than_f32s(u, simd.splat_f32s(std::f32::consts::SQRT_2));
    let m = simd.sub_f32s(simd.select_f32s(high, simd.mul_f32s(u, simd.splat_f32s(0.5)), u), one);
    let e = simd.select_f32s(high, one, simd.splat_f32s(0.0));
    // What u lost by rounding counts 1 / u times, about 1 - x / 2: it is less than half a unit in u's last place.
    let lost = simd.sub_f32s(x, simd.sub_f32s(u, one));
    fma(simd, lost, fnma(simd, x, simd.splat_f32s(0.5), one), ln_reduced(simd, m, e))
}

/// 1 / (1 + exp(-x)).
#[inline(always)]
pub(crate) fn sigmoid<S: Simd, C: Constants<S>>(simd: S, constants: C, x: S::f32s) -> S::f32s {
    let one = constants.get(simd, ONE);
    // Not the negation of x: V8 would rebuild its sign mask each time.
    let e = exp_bounded_by(simd, constants, simd.sub_f32s(simd.splat_f32s(0.0), x));
    simd.div_f32s(one, simd.add_f32s(one, e))
}

/// tanh(x): odd polynomial below 0.625, 1 - 2 / (exp(2 |x|) + 1) above.
#[inline(always)]
pub(crate) fn tanh<S: Simd, C: Constants<S>>(simd: S, constants: C, x: S::f32s) -> S::f32s {
    let one = simd.splat_f32s(1.0);
    let size = simd.abs_f32s(x);
    let square = simd.mul_f32s(x, x);
    let p = horner(simd, square, &[-5.704_988_7e-3, 2.063_909e-2, -5.373_971_6e-2, 1.333_144_2e-1, -3.333_328e-1]);
    let near = fma(simd, simd.mul_f32s(p, square), size, size);
    let e = exp_bounded_by(simd, constants, simd.add_f32s(size, size));
    let far = simd.sub_f32s(one, simd.div_f32s(simd.splat_f32s(2.0), simd.add_f32s(e, one)));
    with_sign(simd, simd.select_f32s(simd.greater_than_f32s(size, simd.splat_f32s(0.625)), far, near), x)
}

/// ln(1 + exp(x)) and its derivative.
#[inline(always)]
pub(crate) fn softplus<S: Simd, C: Constants<S>>(simd: S, constants: C, x: S::f32s) -> (S::f32s, S::f32s) {
    let (zero, one) = (simd.splat_f32s(0.0), simd.splat_f32s(1.0));
    let e = exp_bounded_by(simd, constants, simd.neg_f32s(simd.abs_f32s(x)));
    let value = simd.add_f32s(at_least(simd, zero, x), ln_one_plus(simd, e));
    let top = simd.select_f32s(simd.less_than_f32s(x, zero), e, one);
    (value, simd.div_f32s(top, simd.add_f32s(one, e)))
}

/// erf(x).
#[inline(always)]
pub(crate) fn erf<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let one = simd.splat_f32s(1.0);
    let square = simd.mul_f32s(x, x);
    let p = horner(
        simd,
        square,
        &[-5.967_617e-4, 4.991_194_2e-3, -2.676_813_5e-2, 1.128_199_2e-1, -3.761_253_4e-1, 1.283_791_7e-1],
    );
    let near = fma(simd, p, x, x);
    let t = at_most(simd, simd.splat_f32s(4.0), simd.abs_f32s(x));
    let q = horner(
        simd,
        t,
        &[
            -1.728_534_7e-5,
            3.831_971_3e-4,
            -3.883_964_4e-3,
            2.425_462_2e-2,
            -1.067_778_8e-1,
            -6.348_467e-1,
            -1.287_175_1e-1,
        ],
    );
    let e = exp_bounded(simd, fnma(simd, one, t, simd.mul_f32s(q, t)));
    let far = with_sign(simd, simd.sub_f32s(one, e), x);
    simd.select_f32s(simd.greater_than_f32s(t, simd.splat_f32s(0.921_875)), far, near)
}

/// sin(x + quarter * pi/2) for |x| <= `ANGLE_LIMIT`; quarter 0 is the sine, 1 the cosine.
#[inline(always)]
pub(crate) fn sine<S: Simd>(simd: S, x: S::f32s, quarter: u32) -> S::f32s {
    let round = simd.splat_f32s(ROUND);
    let shifted = fma(simd, x, simd.splat_f32s(FRAC_2_PI), round);
    let n = simd.sub_f32s(shifted, round);
    let r = fnma(simd, n, simd.splat_f32s(HALF_PI[0]), x);
    let r = fnma(simd, n, simd.splat_f32s(HALF_PI[1]), r);
    let r = fnma(simd, n, simd.splat_f32s(HALF_PI[2]), r);
    let square = simd.mul_f32s(r, r);
    let s = horner(simd, square, &[-1.951_529_6e-4, 8.332_161e-3, -1.666_665_5e-1]);
    // The correction of -0 is 0, and their sum would be 0.
    let s = with_sign(simd, fma(simd, simd.mul_f32s(s, square), r, r), r);
    let c = horner(simd, square, &[2.443_315_7e-5, -1.388_731_6e-3, 4.166_664_6e-2]);
    let c = fma(simd, simd.mul_f32s(c, square), square, fnma(simd, square, simd.splat_f32s(0.5), simd.splat_f32s(1.0)));
    let turn = simd.add_u32s(simd.transmute_u32s_f32s(shifted), simd.splat_u32s(quarter));
    let odd = simd.equal_u32s(simd.and_u32s(turn, simd.splat_u32s(1)), simd.splat_u32s(1));
    let sign = shift_left(simd, simd.and_u32s(turn, simd.splat_u32s(2)), 30);
    let y = simd.select_f32s(odd, c, s);
    simd.transmute_f32s_u32s(simd.xor_u32s(simd.transmute_u32s_f32s(y), sign))
}

/// |x| with the sign of y, for x >= 0 or of the same sign.
#[inline(always)]
fn with_sign<S: Simd>(simd: S, x: S::f32s, y: S::f32s) -> S::f32s {
    simd.or_f32s(x, simd.and_f32s(y, simd.splat_f32s(-0.0)))
}
