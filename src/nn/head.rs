//! Projective heads: the last layer of a model that may divide by zero. From features it makes a numerator P and a
//! denominator Q per output and divides nothing; y = P / Q is decoded once, at inference, where Q is not too near 0.

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
    /// The representative of a pair that losses see.
    pub gauge: PairNormalization,
    /// Where a pair is too near a pole to be divided.
    pub decoding: Decoding,
}

record! { Head { outputs, form, denominators, anchor, floor, gauge, decoding } }

impl Head {
    /// Cubic over quadratic with one denominator per row, anchored at 1.
    pub fn rational(outputs: usize) -> Self {
        let form = HeadForm::Rational { numerator: 3, denominator: 2, basis: Basis::Monomial };
        Self { form, denominators: Denominators::Shared, ..Self::linear(outputs) }
    }

    /// Numerators and denominators straight from the features, each output with its own, anchored at 1.
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

    /// Values as they come, ⊥ where a layer before met a pole.
    pub fn value(outputs: usize) -> Self {
        Self { form: HeadForm::Value, anchor: 0.0, ..Self::linear(outputs) }
    }

    /// An angle per output.
    pub fn angular(outputs: usize) -> Self {
        Self { form: HeadForm::Angular { scale: 1.0 }, anchor: 0.0, ..Self::linear(outputs) }
    }

    /// Denominators of a row.
    pub fn denominators(&self) -> usize {
        if self.denominators == Denominators::Shared { 1 } else { self.outputs }
    }

    /// Features of a row: one per numerator, then one per denominator where it has its own.
    pub fn features(&self) -> usize {
        match self.form {
            HeadForm::Angular { .. } | HeadForm::Value => self.outputs,
            HeadForm::Linear | HeadForm::Rational { .. } => self.outputs + self.denominators(),
        }
    }

    /// What the fused kernels need of it: `coefficients` are the first words of those of numerators and of denominators.
    pub(super) fn fused(&self, coefficients: [usize; 2]) -> mlp::Head {
        let Self { outputs, form, denominators, anchor, floor, gauge, .. } = *self;
        mlp::Head { outputs, form, denominators, anchor, floor, normalization: gauge, coefficients }
    }

    /// Whether any pair the head can make counts as ⊥: a floor above the threshold rules it out.
    pub fn can_say_bottom(&self) -> bool {
        let least = self.floor.map_or(0.0, |floor| floor + self.anchor);
        self.decoding.threshold == Threshold::Angle || least < self.decoding.tau_infer
    }

    /// Refuses what makes no pair, in the words of the layer's settings.
    pub(super) fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::new(format!("a projective head's {what}")));
        if self.outputs == 0 {
            return wrong("outputs are 0; it needs at least 1".into());
        }
        if let HeadForm::Rational { numerator, denominator, .. } = self.form
            && numerator.max(denominator) > MAX_DEGREE
        {
            return wrong(format!("degrees are {numerator} and {denominator}; at most {MAX_DEGREE} are taken"));
        }
        if matches!(self.form, HeadForm::Angular { .. } | HeadForm::Value)
            && (self.anchor != 0.0 || self.floor.is_some())
        {
            return wrong("angles and values have denominators of their own: leave out anchor and floor".into());
        }
        if !self.anchor.is_finite() || self.floor.is_some_and(|floor| !(floor.is_finite() && floor >= 0.0)) {
            return wrong("anchor must be finite, and its floor finite and at least 0".into());
        }
        self.decoding.check()
    }
}
