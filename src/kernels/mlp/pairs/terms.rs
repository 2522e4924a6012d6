//! The terms of `PairRule` with their gradients, a vector of rows at a time; the formulas are in its docs.
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]

use super::rule::PairRule;
use crate::simd::{at_least, at_most, fma, fnma};
use pulp::Simd;

/// Predicted pair (P, Q) and target pair (Yn, Yd).
#[derive(Clone, Copy)]
pub(super) struct Pair<V> {
    pub p: V,
    pub q: V,
    pub yn: V,
    pub yd: V,
}

/// A value and its derivatives by P and by Q.
#[derive(Clone, Copy)]
pub(super) struct Graded<V> {
    pub value: V,
    pub dp: V,
    pub dq: V,
}

/// The weighted sum of the terms with a non-zero weight.
#[inline(always)]
pub(super) fn weighted<S: Simd>(simd: S, rule: &PairRule, tau: f32, pair: Pair<S::f32s>) -> Graded<S::f32s> {
    let zero = simd.splat_f32s(0.0);
    let mut sum = Graded { value: zero, dp: zero, dq: zero };
    if rule.implicit != 0.0 {
        add(simd, &mut sum, rule.implicit, implicit(simd, rule, pair));
    }
    if rule.chordal != 0.0 {
        add(simd, &mut sum, rule.chordal, chordal(simd, rule.gamma, pair));
    }
    if rule.decoded != 0.0 {
        add(simd, &mut sum, rule.decoded, decoded(simd, tau, pair));
    }
    if rule.margin != 0.0 {
        add(simd, &mut sum, rule.margin, margin(simd, tau, pair));
    }
    if rule.sign != 0.0 {
        add(simd, &mut sum, rule.sign, sign(simd, rule, pair));
    }
    sum
}

#[inline(always)]
fn add<S: Simd>(simd: S, sum: &mut Graded<S::f32s>, weight: f32, term: Graded<S::f32s>) {
    let weight = simd.splat_f32s(weight);
    sum.value = fma(simd, weight, term.value, sum.value);
    sum.dp = fma(simd, weight, term.dp, sum.dp);
    sum.dq = fma(simd, weight, term.dq, sum.dq);
}

/// c = P·Yd - Q·Yn, and c / `scale`.
#[inline(always)]
fn cross<S: Simd>(simd: S, pair: Pair<S::f32s>, scale: S::f32s) -> (S::f32s, S::f32s) {
    let cross = simd.sub_f32s(simd.mul_f32s(pair.p, pair.yd), simd.mul_f32s(pair.q, pair.yn));
    (cross, simd.div_f32s(cross, scale))
}

/// r = c / (S + gamma): value c r, dP = 2 r (Yd - r P Yn²), dQ = -2 r (Yn + r Q Yd²), without the r terms in the brackets if S is detached.
#[inline(always)]
fn implicit<S: Simd>(simd: S, rule: &PairRule, pair: Pair<S::f32s>) -> Graded<S::f32s> {
    let (a, b) = (simd.mul_f32s(pair.p, pair.yn), simd.mul_f32s(pair.q, pair.yd));
    let scale = fma(simd, a, a, fma(simd, b, b, simd.splat_f32s(rule.gamma)));
    let (cross, ratio) = cross(simd, pair, scale);
    let twice = simd.add_f32s(ratio, ratio);
    let (mut up, mut down) = (pair.yd, pair.yn);
    if !rule.is_detached {
        up = fnma(simd, ratio, simd.mul_f32s(a, pair.yn), up);
        down = fma(simd, ratio, simd.mul_f32s(b, pair.yd), down);
    }
    let dq = simd.neg_f32s(simd.mul_f32s(twice, down));
    Graded { value: simd.mul_f32s(cross, ratio), dp: simd.mul_f32s(twice, up), dq }
}

/// r = c / ((P² + Q²) N + gamma), N = Yn² + Yd²: value c r, dP = 2 r (Yd - r N P), dQ = -2 r (Yn + r N Q).
#[inline(always)]
fn chordal<S: Simd>(simd: S, gamma: f32, pair: Pair<S::f32s>) -> Graded<S::f32s> {
    let Pair { p, q, yn, yd } = pair;
    let length = fma(simd, yn, yn, simd.mul_f32s(yd, yd));
    let square = fma(simd, p, p, simd.mul_f32s(q, q));
    let (cross, ratio) = cross(simd, pair, fma(simd, square, length, simd.splat_f32s(gamma)));
    let (twice, share) = (simd.add_f32s(ratio, ratio), simd.mul_f32s(ratio, length));
    let dq = simd.neg_f32s(simd.mul_f32s(twice, fma(simd, share, q, yn)));
    Graded { value: simd.mul_f32s(cross, ratio), dp: simd.mul_f32s(twice, fnma(simd, share, p, yd)), dq }
}

/// e = P / B - Yn, B = sgn(Q) max(|Q|, τ), over finite targets: value e², dP = 2 e / B, dQ = -2 e P / B² where |Q| >= τ.
#[inline(always)]
fn decoded<S: Simd>(simd: S, tau: f32, pair: Pair<S::f32s>) -> Graded<S::f32s> {
    let (zero, tau) = (simd.splat_f32s(0.0), simd.splat_f32s(tau));
    let size = simd.abs_f32s(pair.q);
    let bounded = at_least(simd, tau, size);
    let bounded = simd.select_f32s(simd.less_than_f32s(pair.q, zero), simd.neg_f32s(bounded), bounded);
    let value = simd.div_f32s(pair.p, bounded);
    let far = simd.sub_f32s(value, pair.yn);
    let dp = simd.div_f32s(simd.add_f32s(far, far), bounded);
    let dq = simd.neg_f32s(simd.mul_f32s(dp, value));
    let dq = simd.select_f32s(simd.less_than_f32s(size, tau), zero, dq);
    finite(simd, pair.yd, Graded { value: simd.mul_f32s(far, far), dp, dq })
}

/// m = max(τ - |Q|, 0) over finite targets: value m², dQ = -2 m sgn(Q).
#[inline(always)]
fn margin<S: Simd>(simd: S, tau: f32, pair: Pair<S::f32s>) -> Graded<S::f32s> {
    let zero = simd.splat_f32s(0.0);
    let missing = at_least(simd, zero, simd.sub_f32s(simd.splat_f32s(tau), simd.abs_f32s(pair.q)));
    let twice = simd.add_f32s(missing, missing);
    let below = simd.select_f32s(simd.less_than_f32s(pair.q, zero), twice, zero);
    let dq = simd.select_f32s(simd.greater_than_f32s(pair.q, zero), simd.neg_f32s(twice), below);
    finite(simd, pair.yd, Graded { value: simd.mul_f32s(missing, missing), dp: zero, dq })
}

/// Zero where the target is ⊥.
#[inline(always)]
fn finite<S: Simd>(simd: S, yd: S::f32s, graded: Graded<S::f32s>) -> Graded<S::f32s> {
    let zero = simd.splat_f32s(0.0);
    let is_bottom = simd.equal_f32s(yd, zero);
    let kept = |term| simd.select_f32s(is_bottom, zero, term);
    Graded { value: kept(graded.value), dp: kept(graded.dp), dq: kept(graded.dq) }
}

/// c = (p Yn + q Yd) / (A B) for (p, q) = (P, Q) / s, s = max(1, |P|, |Q|), A = √(p² + q² + gamma / s²), B = √(Yn² + Yd² + gamma), where
/// |Yd| is small enough: value 1 - c, dP = (c p / A - Yn / B) / (A s), dQ alike. So scaled, no square overflows.
#[inline(always)]
fn sign<S: Simd>(simd: S, rule: &PairRule, pair: Pair<S::f32s>) -> Graded<S::f32s> {
    let (zero, one) = (simd.splat_f32s(0.0), simd.splat_f32s(1.0));
    let gamma = simd.splat_f32s(rule.gamma);
    let scale = at_least(simd, at_least(simd, one, simd.abs_f32s(pair.p)), simd.abs_f32s(pair.q));
    let inverse = simd.div_f32s(one, scale);
    let (p, q) = (simd.mul_f32s(pair.p, inverse), simd.mul_f32s(pair.q, inverse));
    let floor = simd.mul_f32s(simd.mul_f32s(gamma, inverse), inverse);
    let a = simd.sqrt_f32s(fma(simd, p, p, fma(simd, q, q, floor)));
    let b = simd.sqrt_f32s(fma(simd, pair.yn, pair.yn, fma(simd, pair.yd, pair.yd, gamma)));
    let (yn, yd) = (simd.div_f32s(pair.yn, b), simd.div_f32s(pair.yd, b));
    let along = simd.div_f32s(fma(simd, p, yn, simd.mul_f32s(q, yd)), a);
    let held = at_most(simd, one, at_least(simd, simd.neg_f32s(one), along));
    let (own, down) = (simd.div_f32s(along, a), simd.div_f32s(inverse, a));
    let slope = |part, expected| simd.mul_f32s(down, simd.sub_f32s(simd.mul_f32s(own, part), expected));
    let is_far = simd.greater_than_f32s(simd.abs_f32s(pair.yd), simd.splat_f32s(rule.sign_within));
    let kept = |term| simd.select_f32s(is_far, zero, term);
    Graded { value: kept(simd.sub_f32s(one, held)), dp: kept(slope(p, yn)), dq: kept(slope(q, yd)) }
}
