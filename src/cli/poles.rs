//! Flags for models that may divide by zero.

use clap::{Args, ValueEnum};

use super::{Answer, Failure};
use crate::nn::{Decoding, Form, Head, Threshold};
use crate::train::CoverageGoal;

/// How the model ends, and where it says ⊥ (no value) instead of a number.
#[derive(Args)]
#[command(next_help_heading = "Poles")]
pub(super) struct Poles {
    /// What makes the prediction from the last hidden layer; all but linear can have poles and say ⊥ [default: linear]
    #[arg(long, value_name = "NAME")]
    head: Option<HeadName>,
    /// Degrees of the rational head's numerator and denominator [default: 3,2]
    #[arg(long, value_name = "N,D", value_delimiter = ',', num_args = 1)]
    degrees: Option<Vec<usize>>,
    /// Nearer to a pole than this there is no value [default: where values pass the largest training target]
    #[arg(long, value_name = "X")]
    tau_infer: Option<f32>,
    /// Nearer than this a value is marked as a gap; 0 = no such band [default: 3 tau-infer]
    #[arg(long, value_name = "X")]
    tau_train: Option<f32>,
    /// How the distance to a pole is measured [default: angle]
    #[arg(long)]
    threshold: Option<ThresholdName>,
    /// Stop when fewer validation rows than this share get a value, three epochs running
    #[arg(long, value_name = "SHARE")]
    min_coverage: Option<f64>,
}

/// A head by name.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum HeadName {
    /// A number; no poles
    Linear,
    /// Polynomials of the features, one over the other
    Rational,
    /// A numerator and a denominator straight from the features
    Projective,
    /// The cotangent of an angle
    Angular,
}

impl HeadName {
    /// The head for one output; `None` where the last layer's output is the prediction.
    pub(super) fn head(self) -> Option<Head> {
        match self {
            Self::Linear => None,
            Self::Rational => Some(Head::rational(1)),
            Self::Projective => Some(Head::linear(1)),
            Self::Angular => Some(Head::angular(1)),
        }
    }

    /// The name, as the flag takes it.
    pub(super) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// A threshold by name.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ThresholdName {
    /// |Q| / √(P² + Q²), whatever the pair is scaled by
    Angle,
    /// |Q| alone
    Denominator,
}

/// Epochs of too little coverage that end a run.
const COVERAGE_PATIENCE: usize = 3;

impl Poles {
    /// The head asked for, its outputs still to be settled. Refuses flags that would do nothing.
    pub(super) fn head(&self) -> Answer<Option<Head>> {
        let Some(mut head) = self.head.and_then(HeadName::head) else { return self.without_head() };
        if let Some(degrees) = &self.degrees {
            let (Form::Rational { numerator, denominator, .. }, [n, d]) = (&mut head.form, &degrees[..]) else {
                return Err(Failure::usage("degrees: two whole numbers, like 3,2, for the rational head alone"));
            };
            (*numerator, *denominator) = (*n, *d);
        }
        Ok(Some(head))
    }

    /// Where there is no value, if that was asked for.
    pub(super) fn decoding(&self) -> Answer<Option<Decoding>> {
        let Some(tau_infer) = self.tau_infer else {
            let idle = [("tau-train", self.tau_train.is_some()), ("threshold", self.threshold.is_some())];
            return match idle.into_iter().find(|(_, is_given)| *is_given) {
                Some((name, _)) => Err(Failure::usage(format!("{name}: it goes with --tau-infer"))),
                None => Ok(None),
            };
        };
        let tau_train = match self.tau_train {
            Some(0.0) => None,
            given => given.or(Some(3.0 * tau_infer)),
        };
        let threshold = match self.threshold {
            Some(ThresholdName::Denominator) => Threshold::Denominator,
            _ => Threshold::Angle,
        };
        let decoding = Decoding { threshold, tau_infer, tau_train };
        decoding.check().map_err(|error| Failure::usage(error.to_string()))?;
        Ok(Some(decoding))
    }

    /// When too little coverage ends a run.
    pub(super) fn coverage(&self) -> Option<CoverageGoal> {
        self.min_coverage.map(|least| CoverageGoal { least, patience: COVERAGE_PATIENCE })
    }

    fn without_head(&self) -> Answer<Option<Head>> {
        let idle = [
            ("degrees", self.degrees.is_some()),
            ("tau-infer", self.tau_infer.is_some()),
            ("tau-train", self.tau_train.is_some()),
            ("threshold", self.threshold.is_some()),
            ("min-coverage", self.min_coverage.is_some()),
        ];
        match idle.into_iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => {
                Err(Failure::usage(format!("{name}: only a model with poles has a use for it; try --head rational")))
            }
            None => Ok(None),
        }
    }
}
