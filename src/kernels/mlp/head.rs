//! A projective head as the fused kernels see it: what makes pairs of the last layer's features, and its fragments of WGSL.

use serde::{Deserialize, Serialize};

use super::{Loss, PairLoss, Params};
use crate::kernels::common;
pub use crate::kernels::rational::{Basis, MAX_DEGREE};

/// How features become a numerator and a denominator.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// P = a, Q = b, straight from the features.
    Linear,
    /// P = Σ w_k φ_k(a), Q = Σ v_k φ_k(b) with coefficients of the head's own.
    Rational {
        /// Degree of P.
        numerator: usize,
        /// Degree of Q.
        denominator: usize,
        /// The φ.
        basis: Basis,
    },
    /// P = a, Q = 1: for a model whose poles are those of its rational layers. The fused kernels do not take it.
    Value,
    /// P = cos(scale · a), Q = sin(scale · a): of length 1 by construction.
    Angular {
        /// Radians per unit of the feature.
        scale: f32,
    },
}

/// Denominators of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Denominators {
    /// One for all outputs: they have their poles together.
    Shared,
    /// One for each output.
    Each,
}

/// Which of the pairs (kP, kQ) that mean the same value is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gauge {
    /// The pair as it comes.
    Free,
    /// Divided by √(P² + Q²), which gradients take for a constant.
    Unit,
    /// Divided by √(P² + Q²), through which gradients flow.
    UnitAttached,
}

/// Where a head of values cannot be.
const NOT_TAKEN: &str = "a head of values stands over rational layers, which take the recorded step";

/// A head over the last layer's outputs, its features: one per numerator, then one per denominator; an angle makes both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Head {
    /// Pairs per row.
    pub outputs: usize,
    /// How features become pairs.
    pub form: Form,
    /// Whether the outputs of a row share one denominator.
    pub denominators: Denominators,
    /// Added to every denominator.
    pub anchor: f32,
    /// Q = softplus(δ) + floor + anchor, free if absent.
    pub floor: Option<f32>,
    /// The representative of a pair that losses see.
    pub gauge: Gauge,
    /// Words of the coefficients of degree 0, of numerators and of denominators. Those of the next degree follow at the next
    /// multiple of `STEP` words.
    pub coefficients: [usize; 2],
}

/// Each tensor of coefficients starts at a multiple of so many words.
pub(super) const STEP: usize = 64;

/// The coefficients of one feature: `degree` + 1 words of the parameters, `step` apart from `first` on.
#[derive(Clone, Copy)]
pub(super) struct Polynomial {
    pub first: usize,
    pub step: usize,
    pub degree: usize,
}

impl Head {
    /// Denominators of a row.
    pub(super) fn denominators(&self) -> usize {
        if self.denominators == Denominators::Shared { 1 } else { self.outputs }
    }

    /// Features of a row.
    pub fn features(&self) -> usize {
        if let Form::Angular { .. } = self.form { self.outputs } else { self.outputs + self.denominators() }
    }

    /// The feature's polynomial, where the head is rational.
    pub(super) fn polynomial(&self, feature: usize) -> Option<Polynomial> {
        let Form::Rational { numerator, denominator, .. } = self.form else { return None };
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

    /// Quads that a sample keeps on a device for the gradients of the coefficients.
    pub(super) fn kept_quads(&self) -> usize {
        if self.polynomial(0).is_some() { 2 * self.features().div_ceil(4) } else { 0 }
    }

    /// Its numbers in the uniform.
    pub(super) fn fill(&self, params: &mut Params) {
        params.targets = 2 * self.outputs as u32;
        params.shift = self.floor.unwrap_or(0.0) + self.anchor;
        [params.numerator, params.denominator] = self.coefficients.map(|word| word as u32);
        if let Form::Angular { scale } = self.form {
            params.scale = scale;
        }
    }

    /// The fragments that make pairs, and those that train or give them.
    pub(super) fn wgsl(&self, loss: Option<Loss>) -> Vec<String> {
        let mut fragments = vec![include_str!("../../../shaders/common/head_word.wgsl").to_owned()];
        fragments.extend(self.making().into_iter().map(str::to_owned));
        fragments.push(self.constants());
        match loss {
            Some(Loss::Pairs(loss)) => {
                fragments.extend(self.training().into_iter().map(str::to_owned));
                fragments.extend(terms(&loss));
            }
            _ => fragments.push(include_str!("../../../shaders/common/output_pairs.wgsl").to_owned()),
        }
        fragments
    }

    fn making(&self) -> Vec<&'static str> {
        let mut fragments = match self.form {
            Form::Value => unreachable!("{NOT_TAKEN}"),
            Form::Linear => vec![include_str!("../../../shaders/common/head_linear.wgsl")],
            Form::Rational { basis, .. } => {
                vec![include_str!("../../../shaders/common/head_rational.wgsl"), basis.wgsl()]
            }
            Form::Angular { .. } => vec![include_str!("../../../shaders/common/head_angular.wgsl"), common::SCALAR],
        };
        if !matches!(self.form, Form::Angular { .. }) {
            fragments.push(include_str!("../../../shaders/common/head_quotient.wgsl"));
            fragments.push(match self.floor {
                None => include_str!("../../../shaders/common/anchor_free.wgsl"),
                Some(_) => include_str!("../../../shaders/common/anchor_floor.wgsl"),
            });
        }
        fragments.push(match self.gauge {
            Gauge::Free => include_str!("../../../shaders/common/gauge_free.wgsl"),
            Gauge::Unit | Gauge::UnitAttached => include_str!("../../../shaders/common/gauge_size.wgsl"),
        });
        fragments
    }

    fn training(&self) -> Vec<&'static str> {
        let none = include_str!("../../../shaders/common/coefficients_none.wgsl");
        let quotient = include_str!("../../../shaders/common/loss_quotient.wgsl");
        let mut fragments = match self.form {
            Form::Value => unreachable!("{NOT_TAKEN}"),
            Form::Linear => vec![quotient, include_str!("../../../shaders/common/coefficients_pass.wgsl"), none],
            Form::Rational { .. } => {
                vec![quotient, include_str!("../../../shaders/common/coefficients_rational.wgsl")]
            }
            Form::Angular { .. } => vec![include_str!("../../../shaders/common/loss_angular.wgsl"), none],
        };
        match self.gauge {
            Gauge::Free => {}
            Gauge::Unit => fragments.push(include_str!("../../../shaders/common/gauge_unit.wgsl")),
            Gauge::UnitAttached => fragments.push(include_str!("../../../shaders/common/gauge_unit_attached.wgsl")),
        }
        fragments.push(include_str!("../../../shaders/common/loss_pairs.wgsl"));
        fragments
    }

    /// What loops and branches depend on, so that compilers see it.
    fn constants(&self) -> String {
        let mut text = format!("const SHARED: bool = {};\n", self.denominators() < self.outputs);
        if let Form::Rational { numerator, denominator, .. } = self.form {
            text += &format!("const NUMERATOR: u32 = {numerator}u;\nconst DENOMINATOR: u32 = {denominator}u;\n");
        }
        text
    }
}

impl Basis {
    fn wgsl(self) -> &'static str {
        match self {
            Self::Monomial => include_str!("../../../shaders/common/basis_monomial.wgsl"),
            Self::Chebyshev => include_str!("../../../shaders/common/basis_chebyshev.wgsl"),
        }
    }
}

/// The terms that have a weight, and `pair_loss`, their weighted sum.
fn terms(loss: &PairLoss) -> Vec<String> {
    let implicit = if loss.is_detached {
        include_str!("../../../shaders/common/pair_implicit_detached.wgsl")
    } else {
        include_str!("../../../shaders/common/pair_implicit.wgsl")
    };
    let all = [
        (loss.implicit, implicit, "params.implicit * implicit_term(pair, wanted)"),
        (
            loss.chordal,
            include_str!("../../../shaders/common/pair_chordal.wgsl"),
            "params.chordal * chordal_term(pair, wanted)",
        ),
        (
            loss.decoded,
            include_str!("../../../shaders/common/pair_decoded.wgsl"),
            "params.decoded * decoded_term(pair, wanted, tau)",
        ),
        (
            loss.margin,
            include_str!("../../../shaders/common/pair_margin.wgsl"),
            "params.margin * margin_term(pair, wanted, tau)",
        ),
        (loss.sign, include_str!("../../../shaders/common/pair_sign.wgsl"), "params.sign * sign_term(pair, wanted)"),
    ];
    let weighted: Vec<_> = all.iter().filter(|(weight, ..)| *weight != 0.0).collect();
    let sum = weighted.iter().map(|(.., term)| *term).collect::<Vec<_>>().join("\n        + ");
    let head = "fn pair_loss(pair: vec2<f32>, wanted: vec2<f32>, tau: f32) -> vec3<f32> {";
    let mut fragments: Vec<String> = weighted.iter().map(|(_, fragment, _)| (*fragment).to_owned()).collect();
    fragments.push(format!("{head}\n    return {sum};\n}}"));
    if loss.is_drawn() {
        fragments.push(common::THREEFRY.to_owned());
        fragments.push(include_str!("../../../shaders/common/tau_drawn.wgsl").to_owned());
    } else {
        fragments.push(include_str!("../../../shaders/common/tau_fixed.wgsl").to_owned());
    }
    fragments
}
