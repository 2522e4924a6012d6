//! Projective heads: the last layer of a model that may divide by zero. It computes a numerator P and a denominator Q per
//! output from features and does not divide; y = P / Q is decoded once, at inference, if Q is not too near 0.

pub(crate) mod cases;

use crate::error::{Error, Result};
use crate::kernels::mlp::{PairForm, PairScaling, Pairing};
pub use crate::kernels::rational::Basis;
use crate::kernels::rational::MAX_DEGREE;
pub use crate::kernels::strict::{Decoding, Threshold};
use crate::record;
pub use crate::scm::PairNormalization;

/// The last layer: from features to pairs, [rows, 2 · outputs], numerators first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Head {
    /// Values per row that the model predicts.
    pub outputs: usize,
    /// How features become pairs.
    pub form: HeadForm,
    /// Whether the outputs of a row share one denominator.
    pub denominators: Denominators,
    /// Added to every denominator: 1 starts a model far from its poles, 0 leaves it free.
    pub anchor: f32,
    /// Q = softplus(δ) + floor (+ anchor), a denominator that keeps its sign; free if absent.
    pub floor: Option<f32>,
    /// The normalisation of pairs before the loss.
    pub gauge: PairNormalization,
    /// Decision rule: which pairs are too near a pole to be divided.
    pub decoding: Decoding,
}

record! { Head { outputs, form, denominators, anchor, floor, gauge, decoding } }

/// How features become a numerator and a denominator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HeadForm {
    /// P = a, Q = b, straight from the features.
    Linear,
    /// P = Σ w_k φ_k(a), Q = Σ v_k φ_k(b) with the head's own coefficients.
    Rational {
        /// Degree of P.
        numerator: usize,
        /// Degree of Q.
        denominator: usize,
        /// The φ.
        basis: Basis,
    },
    /// P = a, Q = 1: for a model whose poles come from its rational layers. The fused kernels do not support it.
    Value,
    /// P = cos(scale · a), Q = sin(scale · a): of length 1 by construction.
    Angular {
        /// Radians per unit of the feature.
        scale: f32,
    },
}

record! { enum HeadForm { Linear, Rational { numerator, denominator, basis }, Value, Angular { scale } } }

/// Number of denominators per row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Denominators {
    /// One for all outputs, so they share their poles.
    Shared,
    /// One for each output.
    Each,
}

record! { enum Denominators { Shared, Each } }

impl Head {
    /// Cubic over quadratic with one denominator per row, anchored at 1.
    pub fn rational(outputs: usize) -> Self {
        let form = HeadForm::Rational { numerator: 3, denominator: 2, basis: Basis::Monomial };
        Self { form, denominators: Denominators::Shared, ..Self::linear(outputs) }
    }

    /// Numerators and denominators directly from the features, separate for each output, anchored at 1.
    pub fn linear(outputs: usize) -> Self {
        Self {
            outputs,
            form: HeadForm::Linear,
            denominators: Denominators::Each,
            anchor: 1.0,
            floor: None,
            gauge: PairNormalization::Free,
            decoding: Decoding::default(),
        }
    }

    /// Values unchanged, ⊥ where an earlier layer gave ⊥.
    pub fn value(outputs: usize) -> Self {
        Self { form: HeadForm::Value, anchor: 0.0, ..Self::linear(outputs) }
    }

    /// An angle per output.
    pub fn angular(outputs: usize) -> Self {
        Self { form: HeadForm::Angular { scale: 1.0 }, anchor: 0.0, ..Self::linear(outputs) }
    }

    /// Number of denominators per row.
    pub fn denominators(&self) -> usize {
        if self.denominators == Denominators::Shared { 1 } else { self.outputs }
    }

    /// Number of features per row: one per numerator, then one per denominator that has its own.
    pub fn features(&self) -> usize {
        match self.form {
            HeadForm::Angular { .. } | HeadForm::Value => self.outputs,
            HeadForm::Linear | HeadForm::Rational { .. } => self.outputs + self.denominators(),
        }
    }

    /// How the fused kernels make the pairs, or `None` if they do not; `coefficients` are the first words of the coefficients of numerators and of
    /// denominators.
    pub(super) fn pairing(&self, coefficients: [usize; 2]) -> Option<Pairing> {
        let form = match self.form {
            HeadForm::Linear => PairForm::Linear,
            HeadForm::Rational { numerator, denominator, basis } => {
                PairForm::Rational { numerator, denominator, basis }
            }
            HeadForm::Angular { scale } => PairForm::Angular { scale },
            HeadForm::Value => return None,
        };
        let scaling = match self.gauge {
            PairNormalization::Free => PairScaling::Free,
            PairNormalization::Unit => PairScaling::Detached,
            PairNormalization::UnitAttached => PairScaling::Attached,
        };
        Some(Pairing {
            outputs: self.outputs,
            form,
            is_shared: self.denominators == Denominators::Shared,
            shift: self.floor.unwrap_or(0.0) + self.anchor,
            is_positive: self.floor.is_some(),
            scaling,
            coefficients,
        })
    }

    /// Whether any pair of this head can count as ⊥: a floor above the threshold excludes it.
    pub fn can_say_bottom(&self) -> bool {
        let least = self.floor.map_or(0.0, |floor| floor + self.anchor);
        self.decoding.threshold == Threshold::Angle || least < self.decoding.tau_infer
    }

    /// Errors on invalid settings.
    pub(super) fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::new(format!("a projective head's {what}")));
        if self.outputs == 0 {
            return wrong("outputs: got 0, expected at least 1".into());
        }
        if let HeadForm::Rational { numerator, denominator, .. } = self.form
            && numerator.max(denominator) > MAX_DEGREE
        {
            return wrong(format!("degrees: got {numerator} and {denominator}, expected at most {MAX_DEGREE}"));
        }
        if matches!(self.form, HeadForm::Angular { .. } | HeadForm::Value)
            && (self.anchor != 0.0 || self.floor.is_some())
        {
            return wrong("anchor and floor do not apply to angular and value heads: expected neither".into());
        }
        if !self.anchor.is_finite() || self.floor.is_some_and(|floor| !(floor.is_finite() && floor >= 0.0)) {
            return wrong(
                "anchor or floor is invalid: expected a finite anchor, and a finite floor of at least 0".into(),
            );
        }
        self.decoding.check()
    }
}
