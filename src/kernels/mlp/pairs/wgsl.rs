//! Fragments of WGSL for pairs: how they are made, and what a row of them adds to the sum that a step minimises.

use super::pairing::{PairForm, PairScaling, Pairing};
use super::rule::PairRule;
use crate::kernels::common;
use crate::kernels::rational::Basis;

impl Pairing {
    /// The fragments that compute pairs, and those that train (with a rule) or output them.
    pub(crate) fn wgsl(&self, rule: Option<&PairRule>) -> Vec<String> {
        let mut fragments = vec![crate::wgsl!("common/head_word").to_owned()];
        fragments.extend(self.making().into_iter().map(str::to_owned));
        fragments.push(self.constants());
        if let Some(rule) = rule {
            fragments.extend(self.training().into_iter().map(str::to_owned));
            fragments.extend(terms(rule));
        } else {
            fragments.push(crate::wgsl!("common/output_pairs").to_owned());
        }
        fragments
    }

    fn making(&self) -> Vec<&'static str> {
        let mut fragments = match self.form {
            PairForm::Linear => vec![crate::wgsl!("common/head_linear")],
            PairForm::Rational { basis, .. } => {
                vec![crate::wgsl!("common/head_rational"), basis.wgsl()]
            }
            PairForm::Angular { .. } => vec![crate::wgsl!("common/head_angular"), common::SCALAR],
        };
        if !matches!(self.form, PairForm::Angular { .. }) {
            fragments.push(crate::wgsl!("common/head_quotient"));
            fragments.push(if self.is_positive {
                crate::wgsl!("common/anchor_floor")
            } else {
                crate::wgsl!("common/anchor_free")
            });
        }
        fragments.push(match self.scaling {
            PairScaling::Free => crate::wgsl!("common/normalization_free"),
            PairScaling::Detached | PairScaling::Attached => crate::wgsl!("common/normalization_size"),
        });
        fragments
    }

    fn training(&self) -> Vec<&'static str> {
        let none = crate::wgsl!("common/coefficients_none");
        let quotient = crate::wgsl!("common/loss_quotient");
        let mut fragments = match self.form {
            PairForm::Linear => vec![quotient, crate::wgsl!("common/coefficients_pass"), none],
            PairForm::Rational { .. } => {
                vec![quotient, crate::wgsl!("common/coefficients_rational")]
            }
            PairForm::Angular { .. } => vec![crate::wgsl!("common/loss_angular"), none],
        };
        match self.scaling {
            PairScaling::Free => {}
            PairScaling::Detached => fragments.push(crate::wgsl!("common/normalization_unit")),
            PairScaling::Attached => fragments.push(crate::wgsl!("common/normalization_unit_attached")),
        }
        fragments.push(crate::wgsl!("common/loss_pairs"));
        fragments
    }

    /// Constants for loops and branches, so that compilers can unroll and remove them.
    fn constants(&self) -> String {
        let mut text = format!("const SHARED: bool = {};\n", self.denominators() < self.outputs);
        if let PairForm::Rational { numerator, denominator, .. } = self.form {
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
fn terms(rule: &PairRule) -> Vec<String> {
    let implicit = if rule.is_detached {
        crate::wgsl!("common/pair_implicit_detached")
    } else {
        crate::wgsl!("common/pair_implicit")
    };
    let all = [
        (rule.implicit, implicit, "params.implicit * implicit_term(pair, expected)"),
        (rule.chordal, crate::wgsl!("common/pair_chordal"), "params.chordal * chordal_term(pair, expected)"),
        (rule.decoded, crate::wgsl!("common/pair_decoded"), "params.decoded * decoded_term(pair, expected, tau)"),
        (rule.margin, crate::wgsl!("common/pair_margin"), "params.margin * margin_term(pair, expected, tau)"),
        (rule.sign, crate::wgsl!("common/pair_sign"), "params.sign * sign_term(pair, expected)"),
    ];
    let weighted: Vec<_> = all.iter().filter(|(weight, ..)| *weight != 0.0).collect();
    let sum = weighted.iter().map(|(.., term)| *term).collect::<Vec<_>>().join("\n        + ");
    let head = "fn pair_loss(pair: vec2<f32>, expected: vec2<f32>, tau: f32) -> vec3<f32> {";
    let mut fragments: Vec<String> = weighted.iter().map(|(_, fragment, _)| (*fragment).to_owned()).collect();
    fragments.push(format!("{head}\n    return {sum};\n}}"));
    if rule.is_drawn() {
        fragments.push(common::THREEFRY.to_owned());
        fragments.push(crate::wgsl!("common/tau_drawn").to_owned());
    } else {
        fragments.push(crate::wgsl!("common/tau_fixed").to_owned());
    }
    fragments
}
