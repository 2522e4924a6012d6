//! Projective heads: the last layer of a model that may divide by zero. It computes a numerator P and a denominator Q per
//! output from features and does not divide; y = P / Q is decoded once, at inference, if Q is not too near 0.

use crate::error::{Error, Result};
use crate::kernels::mlp;
pub use crate::kernels::mlp::{Denominators, HeadForm, PairNormalization};
pub use crate::kernels::rational::Basis;
use crate::kernels::rational::MAX_DEGREE;
pub use crate::kernels::strict::{Decoding, Threshold};
use crate::record;

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

    /// The head for the fused kernels; `coefficients` are the first words of the coefficients of numerators and of denominators.
    pub(super) fn fused(&self, coefficients: [usize; 2]) -> mlp::Head {
        let Self { outputs, form, denominators, anchor, floor, gauge, .. } = *self;
        mlp::Head { outputs, form, denominators, anchor, floor, normalization: gauge, coefficients }
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
