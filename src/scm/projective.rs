//! Pairs (P, Q), which represent P / Q, and ⊥ if Q is 0: conversion to and from masked numbers, normalisation, and arithmetic without
//! divisions. Division is that of the common meadow, x / (u / v) = x v² / (u v), which keeps the ⊥ of a divisor; the field's x v / u
//! loses it.

use super::{Masked, fused};
use crate::autograd::Var;
use crate::ops;
use crate::program::Expr;
use crate::program::expr::{abs, gt, le, max, select, sqrt, square};
use crate::record;

/// Normalisation of pairs: which of the pairs (kP, kQ) that mean the same value the loss sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairNormalization {
    /// The pair, unchanged.
    Free,
    /// Divided by √(P² + Q²), which gradients treat as a constant.
    Unit,
    /// Divided by √(P² + Q²), through which gradients flow.
    UnitAttached,
}

record! { enum PairNormalization { Free, Unit, UnitAttached } }

/// Numerators and denominators of one shape.
#[derive(Clone)]
pub struct Pair {
    /// Numerators.
    pub p: Var,
    /// Denominators.
    pub q: Var,
}

impl Pair {
    /// (x, 1) for a number, (1, 0) for ⊥.
    pub fn encode(x: &Masked) -> Self {
        let x = x.canonicalized();
        let bottoms = x.bottoms();
        let p = ops::fused(&[x.value(), &bottoms], |v| select(v[1], 1.0, v[0]));
        Self { p, q: ops::fused(&[&bottoms], |v| 1.0 - v[0]) }
    }

    /// P / Q; ⊥ where Q is exactly 0 or the quotient is not a float. In [`super::strict`], pairs near a pole are ⊥ as well.
    pub fn decode(&self) -> Masked {
        fused(&[&Masked::from(&self.p), &Masked::from(&self.q)], |v| v[0] / v[1])
    }

    /// 1 where both represent the same value: |P₁Q₂ - P₂Q₁| <= tolerance.
    pub fn is_equal(&self, other: &Self, tolerance: f32) -> Var {
        self.joined(other, |[p, q, r, s]| le(abs(p * s - r * q), tolerance))
    }

    /// The pair divided by √(P² + Q²) + gamma; gradients treat this size as a constant with `Unit` and flow through it with `UnitAttached`.
    /// `Free` leaves the pair unchanged. (0, 0) stays (0, 0), and sizes whose squares overflow are handled.
    #[must_use]
    pub fn normalized(&self, normalization: PairNormalization, gamma: f32) -> Self {
        if normalization == PairNormalization::Free {
            return self.clone();
        }
        let (p, q) = if normalization == PairNormalization::Unit {
            (self.p.detach(), self.q.detach())
        } else {
            (self.p.clone(), self.q.clone())
        };
        // The length is s times that of (P, Q) / s for any s, so no gradient flows through s.
        let scale = ops::fused(&[&p, &q], |v| {
            let largest = max(abs(v[0]), abs(v[1]));
            select(gt(largest, 0.0), largest, 1.0)
        });
        let length = ops::fused(&[&p, &q, &scale.detach()], |v| {
            let sum = square(v[0] / v[2]) + square(v[1] / v[2]);
            let length = v[2] * sqrt(select(gt(sum, 0.0), sum, 1.0)) + gamma;
            select(gt(sum, 0.0), length, 1.0)
        });
        Self { p: ops::div(&self.p, &length), q: ops::div(&self.q, &length) }
    }

    /// (P₁Q₂ + P₂Q₁, Q₁Q₂).
    #[must_use]
    pub fn add(&self, other: &Self) -> Self {
        self.made(other, |[p, q, r, s]| p * s + r * q, |[_, q, _, s]| q * s)
    }

    /// (P₁Q₂ - P₂Q₁, Q₁Q₂).
    #[must_use]
    pub fn sub(&self, other: &Self) -> Self {
        self.made(other, |[p, q, r, s]| p * s - r * q, |[_, q, _, s]| q * s)
    }

    /// (P₁P₂, Q₁Q₂).
    #[must_use]
    pub fn mul(&self, other: &Self) -> Self {
        self.made(other, |[p, _, r, _]| p * r, |[_, q, _, s]| q * s)
    }

    /// (P₁Q₂², Q₁P₂Q₂): ⊥ where either is, and where the divisor is 0.
    #[must_use]
    pub fn div(&self, other: &Self) -> Self {
        self.made(other, |[p, _, _, s]| p * s * s, |[_, q, r, s]| q * r * s)
    }

    /// (-P, Q).
    #[must_use]
    pub fn neg(&self) -> Self {
        Self { p: ops::neg(&self.p), q: self.q.clone() }
    }

    /// (Q², PQ).
    #[must_use]
    pub fn inv(&self) -> Self {
        Self { p: ops::square(&self.q), q: ops::mul(&self.p, &self.q) }
    }

    fn made(&self, other: &Self, p: impl FnOnce([Expr; 4]) -> Expr, q: impl FnOnce([Expr; 4]) -> Expr) -> Self {
        Self { p: self.joined(other, p), q: self.joined(other, q) }
    }

    /// A formula of P₁, Q₁, P₂, Q₂.
    fn joined(&self, other: &Self, formula: impl FnOnce([Expr; 4]) -> Expr) -> Var {
        ops::fused(&[&self.p, &self.q, &other.p, &other.q], |v| formula([v[0], v[1], v[2], v[3]]))
    }
}
