//! The options of models with poles.

use super::defaults::BEYOND_TAU;
use super::names::{terms, thresholds};
use super::{TrainOptions, option};
use crate::error::{Error, Result};
use crate::host::{number, parse_number};
use crate::loss::{Loss, PairLoss};
use crate::nn::{Decoding, Head, HeadForm, Threshold};
use crate::options::{Entry, Kind, Range, Value};
use crate::train::{CoverageGoal, LinearRamp, Ramp, Term};

pub(crate) const POLES: &[Entry<TrainOptions>] = &[
    option(
        "policy",
        Kind::Fields { names: None, has_numbers: false, example: ["scm_rational", "clamp"] },
        "Gradients at ⊥ in rational and masked layers: clamp, clamp(LOW..HIGH), project, reject or pass, \
         for scm_rational or scm_norm (all layers of a kind) or for one layer, such as layers.1",
    )
    .default("project; clamp in norms")
    .try_set(|o, v| {
        for (layer, policy) in v.fields() {
            o.policies.push((layer.clone(), policy.text().parse()?));
        }
        Ok(())
    }),
    option("degrees", Kind::Wholes { length: Some(2) }, "Degrees of the rational head's numerator and denominator")
        .needs(has_poles, WITH_HEAD)
        .default("3,2")
        .try_set(|o, v| {
            let Some(Head { form: HeadForm::Rational { numerator, denominator, .. }, .. }) = &mut o.head else {
                return Err(Error::usage("degrees apply only to head \"rational\""));
            };
            [*numerator, *denominator] = [v.items()[0].whole(), v.items()[1].whole()];
            Ok(())
        }),
    option("tau_infer", Kind::Number(Range::Positive), "Distance to a pole below which there is no value")
        .needs(has_poles, WITH_HEAD)
        .default("where values pass the largest training target")
        .set(|o, v| {
            let tau_infer = v.number() as f32;
            o.decoding = Some(Decoding { tau_infer, tau_train: Some(BEYOND_TAU * tau_infer), ..Decoding::default() });
        }),
    option(
        "tau_train",
        Kind::Number(Range::NotNegative),
        "Distance to a pole below which a value is marked as a gap; 0 marks none",
    )
    .needs(|o| o.decoding.is_some(), "{tau_infer}")
    .default_from(|| format!("{} × {{tau_infer}}; without that as wide as the errors near poles", number(BEYOND_TAU)))
    .try_set(|o, v| {
        if let Some(decoding) = &mut o.decoding {
            decoding.tau_train = Some(v.number() as f32).filter(|tau| *tau > 0.0);
            decoding.check()?;
        }
        Ok(())
    }),
    option("threshold", Kind::Name(thresholds), "How the distance to a pole is measured")
        .needs(|o| o.decoding.is_some(), "{tau_infer}")
        .default("angle")
        .set(|o, v| {
            if let Some(decoding) = &mut o.decoding {
                decoding.threshold = if v.text() == "angle" { Threshold::Angle } else { Threshold::Denominator };
            }
        }),
    option(
        "min_coverage",
        Kind::Number(Range::Unit),
        "Stop when fewer validation rows than this share have a value in {coverage_patience} epochs in a row",
    )
    .needs(has_poles, WITH_HEAD)
    .set(|o, v| o.coverage = Some(CoverageGoal { least: v.number(), patience: 3 })),
    option("coverage_patience", Kind::whole(1), "Epochs in a row below {min_coverage} that end the run")
        .default("3")
        .needs(|o| o.coverage.is_some(), "{min_coverage}")
        .set(|o, v| o.coverage.iter_mut().for_each(|goal| goal.patience = v.whole())),
    option(
        "term",
        Kind::Fields { names: Some(terms), has_numbers: true, example: ["decoded", "0.5"] },
        "Weights of the terms of the loss; FROM..TO@FIRST..LAST moves a weight between two epochs",
    )
    .needs(has_poles, WITH_HEAD)
    .default("1 for chordal")
    .try_set(term),
    option(
        "hold_coverage",
        Kind::Number(Range::Unit),
        "Raise the weight of the coverage term while fewer validation rows than this share have a value, \
         and lower it while more have",
    )
    .needs(has_poles, WITH_HEAD)
    .try_set(|o, v| {
        pair_loss(o, PairLoss::default())?;
        o.curriculum.held_coverage = Some(v.number());
        Ok(())
    }),
    option("sample_poles", Kind::Flag, "Draw rows with replacement, more often where the model errs about poles")
        .needs(has_poles, WITH_HEAD)
        .set(|o, v| o.curriculum.draws_poles = v.flag()),
];

/// What options of models with poles need.
const WITH_HEAD: &str = "a head with poles; set {head} to rational, projective or angular";

fn has_poles(options: &TrainOptions) -> bool {
    options.head.is_some()
}

/// The loss of a model with poles, `initial` if no term was set so far.
fn pair_loss(options: &mut TrainOptions, initial: PairLoss) -> Result<&mut PairLoss> {
    match options.loss.get_or_insert(Loss::Pairs(initial)) {
        Loss::Pairs(pairs) => Ok(pairs),
        _ => Err(Error::usage("loss: a head with poles has a loss of its own; set the weights of its terms instead")),
    }
}

fn term(options: &mut TrainOptions, value: &Value) -> Result<()> {
    for (name, value) in value.fields() {
        let Some((_, term)) = Term::ALL.into_iter().find(|(known, _)| known == name) else { continue };
        let ramp = match value {
            Value::Number(weight) => constant(*weight),
            other => ramp(other.text()),
        };
        let Some(weight) = ramp else {
            let got = value.shown();
            let expected = "a finite number of at least 0, or a ramp such as 0..1@10..50";
            return Err(Error::usage(format!("term.{name}: got {got}, expected {expected}")));
        };
        *term.weight(pair_loss(options, PairLoss::none())?) = weight.to as f32;
        if weight.from != weight.to {
            options.curriculum.ramps.push(Ramp { term, weight });
        }
    }
    Ok(())
}

fn constant(weight: f64) -> Option<LinearRamp> {
    let is_weight = (0.0..=f64::from(f32::MAX)).contains(&weight);
    is_weight.then_some(LinearRamp { from: weight, to: weight, epochs: [0, 0] })
}

/// `FROM..TO@FIRST..LAST`.
fn ramp(text: &str) -> Option<LinearRamp> {
    let weight = |text: &str| constant(parse_number(text)?).map(|ramp| ramp.to);
    let (weights, epochs) = text.split_once('@')?;
    let ((from, to), (first, last)) = (weights.split_once("..")?, epochs.split_once("..")?);
    let epochs = [first.parse().ok()?, last.parse().ok()?];
    Some(LinearRamp { from: weight(from)?, to: weight(to)?, epochs }).filter(|_| epochs[0] < epochs[1])
}
