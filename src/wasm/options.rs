//! The options of a training run, from JavaScript's names to a [`TrainOptions`].

use wasm_bindgen::JsValue;

use super::fields::Options;
use crate::error::{Error, Result, listed};
use crate::io::{Choice, Fractions, Missing, Task};
use crate::loss::{Loss, PairLoss};
use crate::nn::{Activation, Decoding, Head, Policy, RationalLayer};
use crate::optim::{Optimizer, Schedule, ScheduleShape};
use crate::train::{Curriculum, Norm, StepKind, Term, TrainOptions};

const KNOWN: [&str; 36] = [
    "target",
    "task",
    "features",
    "ignore",
    "categorical",
    "numeric",
    "missing",
    "validation",
    "test",
    "hidden",
    "activation",
    "dropout",
    "loss",
    "delta",
    "smoothing",
    "classWeights",
    "epochs",
    "batch",
    "accumulate",
    "lr",
    "weightDecay",
    "patience",
    "seed",
    "optimizer",
    "momentum",
    "schedule",
    "warmup",
    "step",
    "head",
    "tauInfer",
    "tauTrain",
    "norm",
    "policy",
    "term",
    "holdCoverage",
    "samplePoles",
];

/// Reads the options of `train`; `target` stands in where none is given.
pub(super) fn recipe(options: &JsValue, target: Option<&str>) -> Result<TrainOptions> {
    let options = Options::of("train", options, &KNOWN)?;
    let part = Fractions::default();
    let head = options.one_of(
        "head",
        &[
            ("linear", None),
            ("rational", Some(Head::rational(1))),
            ("projective", Some(Head::linear(1))),
            ("angular", Some(Head::angular(1))),
        ],
    )?;
    let head = head.flatten();
    let (activation, rational) = between(&options)?;
    let curriculum = Curriculum {
        held_coverage: options.number("holdCoverage")?,
        draws_poles: options.flag("samplePoles")?,
        ..Curriculum::default()
    };
    let terms = terms(&options, curriculum.held_coverage.is_some())?;
    if head.is_none() && (terms.is_some() || curriculum.draws_poles || curriculum.held_coverage.is_some()) {
        let what = "term, holdCoverage and samplePoles belong to a head with poles; give head: \"rational\"";
        return Err(Error::new(format!("train: {what}")));
    }
    Ok(TrainOptions {
        choice: choice(&options, target, head.is_some())?,
        fractions: Fractions {
            validation: options.number("validation")?.unwrap_or(part.validation),
            test: options.number("test")?.unwrap_or(part.test),
        },
        hidden: options.wholes("hidden")?,
        activation,
        rational,
        norm: options.one_of("norm", &[("batch", Norm::Batch), ("layer", Norm::Layer)])?,
        dropout: options.number("dropout")?.unwrap_or(0.0) as f32,
        loss: loss(&options)?.or(terms),
        smoothing: options.number("smoothing")?.map(|share| share as f32),
        optimizer: optimizer(&options)?,
        weight_decay: options.number("weightDecay")?.map(|decay| decay as f32),
        schedule: schedule(&options)?,
        lr: options.number("lr")?,
        epochs: options.whole("epochs")?,
        batch: options.whole("batch")?,
        accumulate: options.whole("accumulate")?,
        patience: options.whole("patience")?,
        seed: options.seed("seed")?.unwrap_or(0),
        step: options.one_of("step", &[("fused", StepKind::Fused), ("recorded", StepKind::Recorded)])?,
        is_balanced: options.one_of("classWeights", &[("balanced", true)])?.unwrap_or(false),
        head,
        decoding: decoding(&options, head.is_some())?,
        coverage: None,
        policies: policies(&options)?,
        curriculum,
    })
}

/// What stands between linear layers: a function of a fixed shape, or a learnt one.
fn between(options: &Options<'_>) -> Result<(Option<Activation>, Option<RationalLayer>)> {
    let safe = RationalLayer::safe(3, 2);
    match options.text("activation")?.as_deref() {
        Some("rational") => Ok((None, Some(safe))),
        Some("rational-poles") => Ok((None, Some(RationalLayer { is_safe: false, ..safe }))),
        _ => Ok((options.parsed("activation", Activation::parse)?, None)),
    }
}

/// What becomes of gradients at ⊥, by layer.
fn policies(options: &Options<'_>) -> Result<Vec<(String, Policy)>> {
    let mut policies = Vec::new();
    for (layer, place, value) in options.named("policy", "an object like { scm_norm: \"clamp\" }")? {
        let text = value.as_string().ok_or_else(|| options.refused(&place, &value, "a string"))?;
        policies.push((layer, text.parse().map_err(|error: Error| error.within("train"))?));
    }
    Ok(policies)
}

/// The loss of pairs, if terms of it were given or its coverage is held.
fn terms(options: &Options<'_>, is_held: bool) -> Result<Option<Loss>> {
    let given = options.named("term", "an object like { decoded: 0.5 }")?;
    let mut loss = if given.is_empty() { PairLoss::default() } else { PairLoss::none() };
    for (name, place, value) in &given {
        let Some((_, term)) = Term::ALL.iter().find(|(known, _)| known == name) else {
            let known = listed(&Term::ALL.map(|(name, _)| name));
            return Err(Error::new(format!("train: {place} is no term; there are {known}")));
        };
        let weight = value.as_f64().filter(|weight| (0.0..=f64::from(f32::MAX)).contains(weight));
        let weight = weight.ok_or_else(|| options.refused(place, value, "a finite number of at least 0"))?;
        *term.weight(&mut loss) = weight as f32;
    }
    Ok((is_held || !given.is_empty()).then_some(Loss::Pairs(loss)))
}

/// Where a head with poles gives no value, if that was asked for.
fn decoding(options: &Options<'_>, has_head: bool) -> Result<Option<Decoding>> {
    let [infer, train] =
        [options.number("tauInfer")?, options.number("tauTrain")?].map(|tau| tau.map(|tau| tau as f32));
    if (infer.is_some() || train.is_some()) && !has_head {
        return Err(Error::new("train: tauInfer and tauTrain belong to a head with poles; give head: \"rational\""));
    }
    let Some(tau_infer) = infer else {
        return match train {
            Some(_) => Err(Error::new("train: tauTrain goes with tauInfer")),
            None => Ok(None),
        };
    };
    let decoding = Decoding { tau_infer, tau_train: train.or(Some(3.0 * tau_infer)), ..Decoding::default() };
    decoding.check().map_err(|error| error.within("train"))?;
    Ok(Some(decoding))
}

fn choice(options: &Options<'_>, target: Option<&str>, has_poles: bool) -> Result<Choice> {
    let given = options.text("target")?.or_else(|| target.map(str::to_owned));
    Ok(Choice {
        target: given.ok_or_else(|| Error::new("train: target is undefined, wanted the name of a column"))?,
        features: options.texts("features")?,
        ignore: options.texts("ignore")?.unwrap_or_default(),
        categorical: options.texts("categorical")?.unwrap_or_default(),
        numeric: options.texts("numeric")?.unwrap_or_default(),
        task: options
            .one_of("task", &[("regression", Task::Regression), ("classification", Task::Classification)])?
            .or(has_poles.then_some(Task::Regression)),
        missing: options
            .one_of("missing", &[("drop", Missing::Drop), ("impute", Missing::Impute)])?
            .unwrap_or_default(),
        has_poles,
    })
}

fn loss(options: &Options<'_>) -> Result<Option<Loss>> {
    let loss = options.parsed("loss", Loss::parse)?;
    let Some(delta) = options.number("delta")? else { return Ok(loss) };
    let set = loss.unwrap_or_else(Loss::mse).with("delta", delta as f32);
    set.map(Some).map_err(|error| error.within("train"))
}

fn optimizer(options: &Options<'_>) -> Result<Option<Optimizer>> {
    let optimizer = options.parsed("optimizer", Optimizer::parse)?;
    let Some(momentum) = options.number("momentum")? else { return Ok(optimizer) };
    let set = optimizer.unwrap_or_else(|| Optimizer::adamw(0.0)).with("momentum", momentum as f32);
    set.map(Some).map_err(|error| error.within("train"))
}

fn schedule(options: &Options<'_>) -> Result<Option<Schedule>> {
    let warmup_steps = options.whole("warmup")?.unwrap_or(0) as u64;
    let shape = options.one_of(
        "schedule",
        &[
            ("constant", ScheduleShape::Constant),
            ("cosine", ScheduleShape::Cosine { floor: 0.0 }),
            ("plateau", ScheduleShape::Plateau { patience: 5, factor: 0.5 }),
        ],
    )?;
    Ok(Some(Schedule { warmup_steps, shape: shape.unwrap_or(ScheduleShape::Cosine { floor: 0.0 }) }))
}
