//! A projective head in the fused kernels: how pairs are made from the last layer's features, and its fragments of WGSL.

use super::{Objective, PairLoss, Params};
use crate::kernels::common;
pub use crate::kernels::rational::{Basis, MAX_DEGREE};
use crate::record;

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
pub enum Denominators {
    /// One for all outputs, so they share their poles.
    Shared,
    /// One for each output.
    Each,
}

record! { enum Denominators { Shared, Each } }

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

/// Message for a value head in the fused kernels.
const NOT_TAKEN: &str = "a value head follows rational layers, which need the recorded step";

/// A head over features, the last layer's outputs: one per numerator, then one per denominator; an angular head has one per pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Head {
    /// Pairs per row.
    pub outputs: usize,
    /// How features become pairs.
    pub form: HeadForm,
    /// Whether the outputs of a row share one denominator.
    pub denominators: Denominators,
    /// Added to every denominator.
    pub anchor: f32,
    /// Q = softplus(δ) + floor + anchor, free if absent.
    pub floor: Option<f32>,
    /// The normalisation of pairs before the loss.
    pub normalization: PairNormalization,
    /// First words of the coefficients of degree 0, of numerators and of denominators. The next degree follows at the next multiple
    /// of `STEP` words.
    pub coefficients: [usize; 2],
}

/// Each tensor of coefficients starts at a multiple of this many words.
pub(super) const STEP: usize = 64;

/// The coefficients of one feature: `degree` + 1 words of the parameters, starting at `first`, `step` apart.
#[derive(Clone, Copy)]
pub(super) struct Polynomial {
    pub first: usize,
    pub step: usize,
    pub degree: usize,
}

impl Head {
    /// Number of denominators per row.
    pub(super) fn denominators(&self) -> usize {
        if self.denominators == Denominators::Shared { 1 } else { self.outputs }
    }

    /// Number of features per row.
    pub fn features(&self) -> usize {
        if let HeadForm::Angular { .. } = self.form { self.outputs } else { self.outputs + self.denominators() }
    }

    /// The feature's polynomial, if the head is rational.
    pub(super) fn polynomial(&self, feature: usize) -> Option<Polynomial> {
        let HeadForm::Rational { numerator, denominator, .. } = self.form else { return None };
        let count = self.outputs;
        let part = |at: usize, of: usize, first: usize, degree| Polynomial {
            first: first + at,
            step: of.next_multiple_of(STEP),
            degree,
        };
        Some(match feature.checked_sub(count) {
            None => part(feature, count, self.coefficients[0], numerator),
            Some(at) => part(at, self.denominators(), self.coefficients[1], denominator),
        })
    }

    /// Quads that a device keeps per sample for the gradients of the coefficients.
    pub(super) fn kept_quads(&self) -> usize {
        if self.polynomial(0).is_some() { 2 * self.features().div_ceil(4) } else { 0 }
    }

    /// Writes its numbers into the uniform.
    pub(super) fn fill(&self, params: &mut Params) {
        params.targets = 2 * self.outputs as u32;
        params.shift = self.floor.unwrap_or(0.0) + self.anchor;
        [params.numerator, params.denominator] = self.coefficients.map(|word| word as u32);
        if let HeadForm::Angular { scale } = self.form {
            params.scale = scale;
        }
    }

    /// The fragments that compute pairs, and those that train (with an objective) or output them.
    pub(super) fn wgsl(&self, objective: Option<&Objective>) -> Vec<String> {
        let mut fragments = vec![crate::wgsl!("common/head_word").to_owned()];
        fragments.extend(self.making().into_iter().map(str::to_owned));
        fragments.push(self.constants());
        match objective {
            Some(Objective::Pairs(loss)) => {
                fragments.extend(self.training().into_iter().map(str::to_owned));
                fragments.extend(terms(loss));
            }
            _ => fragments.push(crate::wgsl!("common/output_pairs").to_owned()),
        }
        fragments
    }

    fn making(&self) -> Vec<&'static str> {
        let mut fragments = match self.form {
            HeadForm::Value => unreachable!("{NOT_TAKEN}"),
            HeadForm::Linear => vec![crate::wgsl!("common/head_linear")],
            HeadForm::Rational { basis, .. } => {
                vec![crate::wgsl!("common/head_rational"), basis.wgsl()]
            }
            HeadForm::Angular { .. } => vec![crate::wgsl!("common/head_angular"), common::SCALAR],
        };
        if !matches!(self.form, HeadForm::Angular { .. }) {
            fragments.push(crate::wgsl!("common/head_quotient"));
            let is_free = self.floor.is_none();
            fragments.push(if is_free {
                crate::wgsl!("common/anchor_free")
            } else {
                crate::wgsl!("common/anchor_floor")
            });
        }
        fragments.push(match self.normalization {
            PairNormalization::Free => crate::wgsl!("common/normalization_free"),
            PairNormalization::Unit | PairNormalization::UnitAttached => crate::wgsl!("common/normalization_size"),
        });
        fragments
    }

    fn training(&self) -> Vec<&'static str> {
        let none = crate::wgsl!("common/coefficients_none");
        let quotient = crate::wgsl!("common/loss_quotient");
        let mut fragments = match self.form {
            HeadForm::Value => unreachable!("{NOT_TAKEN}"),
            HeadForm::Linear => vec![quotient, crate::wgsl!("common/coefficients_pass"), none],
            HeadForm::Rational { .. } => {
                vec![quotient, crate::wgsl!("common/coefficients_rational")]
            }
            HeadForm::Angular { .. } => vec![crate::wgsl!("common/loss_angular"), none],
        };
        match self.normalization {
            PairNormalization::Free => {}
            PairNormalization::Unit => fragments.push(crate::wgsl!("common/normalization_unit")),
            PairNormalization::UnitAttached => fragments.push(crate::wgsl!("common/normalization_unit_attached")),
        }
        fragments.push(crate::wgsl!("common/loss_pairs"));
        fragments
    }

    /// Constants for loops and branches, so that compilers can unroll and remove them.
    fn constants(&self) -> String {
        let mut text = format!("const SHARED: bool = {};\n", self.denominators() < self.outputs);
        if let HeadForm::Rational { numerator, denominator, .. } = self.form {
            text += &format!("const NUMERATOR: u32 = {numerator}u;\nconst DENOMINATOR: u32 = {denominator}u;\n");
        }
        text
    }
}

impl Basis {
    fn wgsl(self) -> &'static str {
        match self {
            Self::Monomial => crate::wgsl!("common/basis_monomial"),
            Self::Chebyshev => crate::wgsl!("common/basis_chebyshev"),
        }
    }
}

/// The terms with a non-zero weight, and `pair_loss`, their weighted sum.
fn terms(loss: &PairLoss) -> Vec<String> {
    let implicit = if loss.is_detached {
        crate::wgsl!("common/pair_implicit_detached")
    } else {
        crate::wgsl!("common/pair_implicit")
    };
    let all = [
        (loss.implicit, implicit, "params.implicit * implicit_term(pair, expected)"),
        (loss.chordal, crate::wgsl!("common/pair_chordal"), "params.chordal * chordal_term(pair, expected)"),
        (loss.decoded, crate::wgsl!("common/pair_decoded"), "params.decoded * decoded_term(pair, expected, tau)"),
        (loss.margin, crate::wgsl!("common/pair_margin"), "params.margin * margin_term(pair, expected, tau)"),
        (loss.sign, crate::wgsl!("common/pair_sign"), "params.sign * sign_term(pair, expected)"),
    ];
    let weighted: Vec<_> = all.iter().filter(|(weight, ..)| *weight != 0.0).collect();
    let sum = weighted.iter().map(|(.., term)| *term).collect::<Vec<_>>().join("\n        + ");
    let head = "fn pair_loss(pair: vec2<f32>, expected: vec2<f32>, tau: f32) -> vec3<f32> {";
    let mut fragments: Vec<String> = weighted.iter().map(|(_, fragment, _)| (*fragment).to_owned()).collect();
    fragments.push(format!("{head}\n    return {sum};\n}}"));
    if loss.is_drawn() {
        fragments.push(common::THREEFRY.to_owned());
        fragments.push(crate::wgsl!("common/tau_drawn").to_owned());
    } else {
        fragments.push(crate::wgsl!("common/tau_fixed").to_owned());
    }
    fragments
}
