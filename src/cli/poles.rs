//! Flags for models that may divide by zero.

use std::str::FromStr;

use clap::{Args, ValueEnum};

use super::{Answer, Failure};
use crate::loss::{Loss, PairLoss};
use crate::nn::{Decoding, Head, HeadForm, Threshold};
use crate::train::{CoverageGoal, Curriculum, LinearRamp, Ramp, Term};

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
    /// Weight of a term of the loss: implicit, chordal (1 if no term is given), decoded, margin, sign, bottom, finite or coverage; as
    /// FROM..TO@FIRST..LAST it moves between two epochs
    #[arg(long, value_name = "NAME=WEIGHT")]
    term: Vec<Weight>,
    /// Raise the weight of the coverage term while fewer validation rows than this share get a value, and lower it while more do
    #[arg(long, value_name = "SHARE")]
    hold_coverage: Option<f64>,
    /// Draw rows, with replacement, the more often the more the model errs about their poles
    #[arg(long)]
    sample_poles: bool,
}

/// A term of the loss and its weight, which may move.
#[derive(Clone, Copy, Debug)]
struct Weight {
    term: Term,
    weight: LinearRamp,
}

impl FromStr for Weight {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = || Term::ALL.map(|(name, _)| name).join(", ");
        let (name, value) = text.split_once('=').ok_or("wanted a term and its weight, like decoded=0.5")?;
        let found = Term::ALL.iter().find(|(known, _)| *known == name);
        let (_, term) = found.ok_or_else(|| format!("\"{name}\" is no term; there are {}", names()))?;
        let weight = ramp(value).ok_or_else(|| {
            format!("\"{value}\" is no weight; wanted a number of at least 0, or two and epochs, like 0..1@10..50")
        })?;
        Ok(Self { term: *term, weight })
    }
}

/// `W`, or `FROM..TO@FIRST..LAST`.
fn ramp(text: &str) -> Option<LinearRamp> {
    let number = |text: &str| text.parse::<f64>().ok().filter(|weight| weight.is_finite() && *weight >= 0.0);
    let Some((weights, epochs)) = text.split_once('@') else {
        return number(text).map(|weight| LinearRamp { from: weight, to: weight, epochs: [0, 0] });
    };
    let ((from, to), (first, last)) = (weights.split_once("..")?, epochs.split_once("..")?);
    let epochs = [first.parse().ok()?, last.parse().ok()?];
    Some(LinearRamp { from: number(from)?, to: number(to)?, epochs }).filter(|_| epochs[0] < epochs[1])
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
            let (HeadForm::Rational { numerator, denominator, .. }, [n, d]) = (&mut head.form, &degrees[..]) else {
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

    /// The loss, if terms of it were given: their weights as they are in the end.
    pub(super) fn loss(&self) -> Option<Loss> {
        if self.term.is_empty() && self.hold_coverage.is_none() {
            return None;
        }
        let mut loss = if self.term.is_empty() { PairLoss::default() } else { PairLoss::none() };
        for Weight { term, weight } in &self.term {
            *term.weight(&mut loss) = weight.to as f32;
        }
        Some(Loss::Pairs(loss))
    }

    /// What changes from epoch to epoch.
    pub(super) fn curriculum(&self) -> Curriculum {
        let moving = self.term.iter().filter(|weight| weight.weight.from != weight.weight.to);
        Curriculum {
            ramps: moving.map(|Weight { term, weight }| Ramp { term: *term, weight: *weight }).collect(),
            held_coverage: self.hold_coverage,
            draws_poles: self.sample_poles,
        }
    }

    fn without_head(&self) -> Answer<Option<Head>> {
        let idle = [
            ("degrees", self.degrees.is_some()),
            ("tau-infer", self.tau_infer.is_some()),
            ("tau-train", self.tau_train.is_some()),
            ("threshold", self.threshold.is_some()),
            ("min-coverage", self.min_coverage.is_some()),
            ("term", !self.term.is_empty()),
            ("hold-coverage", self.hold_coverage.is_some()),
            ("sample-poles", self.sample_poles),
        ];
        match idle.into_iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => {
                Err(Failure::usage(format!("{name}: only a model with poles has a use for it; try --head rational")))
            }
            None => Ok(None),
        }
    }
}
