//! Layers of learnt rational functions (Molina et al. 2020).

use crate::autograd::Var;
use crate::error::{Error, Result};
use crate::graph::Init;
use crate::host::number;
use crate::kernels::rational::{MAX_DEGREE, Rational};
use crate::nn::activation::Activation;
use crate::nn::head::Basis;
use crate::nn::kind::{LayerKind, NewParameter, wrong};
use crate::nn::pass::Forward;
use crate::ops;
use crate::record;
use crate::scm::policy::Policy;
use crate::scm::{self, Masked};

/// A learnt rational function of each value. A pole of a layer that is not safe makes the row's prediction ⊥, so the model must
/// end in a projective head.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RationalLayer {
    /// Degree of the numerator.
    pub numerator: usize,
    /// Degree of the denominator.
    pub denominator: usize,
    /// The polynomials.
    pub basis: Basis,
    /// Whether each column has its own coefficients.
    pub is_per_channel: bool,
    /// Whether the denominator is 1 + |…|, which has no poles.
    pub is_safe: bool,
    /// The result is ⊥ where |Q| is not above this.
    pub epsilon: f32,
    /// Gradient policy at ⊥; if absent, that of the scope or of the run's registry (`scm::policy`).
    pub policy: Option<Policy>,
}

record! { RationalLayer { numerator, denominator, basis, is_per_channel, is_safe, epsilon, policy } }

impl RationalLayer {
    /// A layer of these degrees, shared by all columns, with poles where |Q| <= 1e-6 and gradient 0 there.
    pub fn new(numerator: usize, denominator: usize) -> Self {
        let basis = Basis::Monomial;
        Self { numerator, denominator, basis, is_per_channel: false, is_safe: false, epsilon: 1e-6, policy: None }
    }

    /// An activation without poles (Molina et al. 2020).
    pub fn safe(numerator: usize, denominator: usize) -> Self {
        Self { is_per_channel: true, is_safe: true, ..Self::new(numerator, denominator) }
    }

    /// Its function.
    pub fn form(&self) -> Rational {
        let Self { numerator, denominator, basis, is_safe, epsilon, .. } = *self;
        Rational { numerator, denominator, basis, is_safe, epsilon }
    }

    fn check(&self) -> Result<()> {
        let (most, least) = (self.numerator.max(self.denominator), self.epsilon);
        if most > MAX_DEGREE {
            return Err(Error::new(format!("a rational layer's degree: got {most}, expected at most {MAX_DEGREE}")));
        }
        if !(least.is_finite() && least >= 0.0) {
            return Err(Error::new(format!(
                "a rational layer's epsilon: got {}, expected a finite number of at least 0",
                number(least)
            )));
        }
        Ok(())
    }
}

impl LayerKind for RationalLayer {
    fn kind(&self) -> &'static str {
        "rational"
    }

    fn text(&self) -> String {
        format!("rational {}/{}", self.numerator, self.denominator)
    }

    fn check(&self, _width: usize, path: &str) -> Result<()> {
        Self::check(self).map_err(|error| wrong(path, &error.to_string()))
    }

    fn parameters(&self, width: usize) -> Vec<NewParameter> {
        let channels = if self.is_per_channel { width } else { 1 };
        let init = Init::Identity { numerator: self.numerator, channels };
        vec![NewParameter::new("coefficients", [self.form().coefficients(), channels], init, (1, 1))]
    }

    /// Its values; adds its poles to the mask.
    fn forward(&self, pass: &mut Forward<'_>, x: Var, path: &str, _activation: Option<&Activation>) -> Var {
        let policy = pass.policy(self, path);
        let y = scm::rational(&Masked::from(&x), &pass.next(), &self.form(), policy);
        if !self.is_safe {
            let poles = y.bottoms();
            pass.mask = Some(pass.mask.take().map_or(poles.clone(), |before| ops::or(&before, &poles)));
        }
        y.value().clone()
    }

    fn bottoms(&self) -> Option<&'static str> {
        let reason = "a rational layer has poles; end the model in a projective head, which can predict ⊥, or make the layer safe";
        (!self.is_safe).then_some(reason)
    }

    fn gradient_policy(&self) -> Option<(&'static str, Option<Policy>)> {
        Some(("scm_rational", self.policy))
    }
}
