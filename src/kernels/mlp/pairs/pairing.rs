//! How pairs (P, Q) are made from the features of a row, the last layer's outputs.

use crate::kernels::mlp::params::Params;
use crate::kernels::rational::Basis;

/// Features are one per numerator, then one per denominator; of angles, one per pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pairing {
    /// Pairs per row.
    pub outputs: usize,
    /// What becomes of features.
    pub form: PairForm,
    /// Whether the pairs of a row share one denominator.
    pub is_shared: bool,
    /// Added to every denominator.
    pub shift: f32,
    /// Whether Q = softplus(δ) + shift instead of δ + shift.
    pub is_positive: bool,
    /// What each pair is divided by.
    pub scaling: PairScaling,
    /// First words of the coefficients of degree 0, of numerators and of denominators. The next degree follows at the next multiple
    /// of `COEFFICIENTS_STEP` words.
    pub coefficients: [usize; 2],
}

/// P and Q from features a and b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PairForm {
    /// P = a, Q = b.
    Linear,
    /// P = Σ w_k φ_k(a), Q = Σ v_k φ_k(b).
    Rational {
        /// Degree of P.
        numerator: usize,
        /// Degree of Q.
        denominator: usize,
        /// The φ.
        basis: Basis,
    },
    /// P = cos(scale · a), Q = sin(scale · a).
    Angular {
        /// Radians per unit of the feature.
        scale: f32,
    },
}

/// What a pair is divided by before it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairScaling {
    /// 1.
    Free,
    /// √(P² + Q²), which gradients treat as a constant.
    Detached,
    /// √(P² + Q²), through which gradients flow.
    Attached,
}

/// Each tensor of coefficients starts at a multiple of this many words.
pub const COEFFICIENTS_STEP: usize = 64;

/// The coefficients of one feature: `degree` + 1 words of the parameters, starting at `first`, `step` apart.
#[derive(Clone, Copy)]
pub(crate) struct Polynomial {
    pub first: usize,
    pub step: usize,
    pub degree: usize,
}

impl Pairing {
    /// Number of denominators per row.
    pub(crate) fn denominators(&self) -> usize {
        if self.is_shared { 1 } else { self.outputs }
    }

    /// Number of features per row.
    pub(crate) fn features(&self) -> usize {
        if let PairForm::Angular { .. } = self.form { self.outputs } else { self.outputs + self.denominators() }
    }

    /// The feature's polynomial, if it has one.
    pub(crate) fn polynomial(&self, feature: usize) -> Option<Polynomial> {
        let PairForm::Rational { numerator, denominator, .. } = self.form else { return None };
        let count = self.outputs;
        let part = |at: usize, of: usize, first: usize, degree| Polynomial {
            first: first + at,
            step: of.next_multiple_of(COEFFICIENTS_STEP),
            degree,
        };
        Some(match feature.checked_sub(count) {
            None => part(feature, count, self.coefficients[0], numerator),
            Some(at) => part(at, self.denominators(), self.coefficients[1], denominator),
        })
    }

    /// Quads that a device keeps per sample for the gradients of the coefficients.
    pub(crate) fn kept_quads(&self) -> usize {
        if self.polynomial(0).is_some() { 2 * self.features().div_ceil(4) } else { 0 }
    }

    /// Writes its numbers into the uniform.
    pub(crate) fn fill(&self, params: &mut Params) {
        params.targets = 2 * self.outputs as u32;
        params.shift = self.shift;
        [params.numerator, params.denominator] = self.coefficients.map(|word| word as u32);
        if let PairForm::Angular { scale } = self.form {
            params.scale = scale;
        }
    }
}
