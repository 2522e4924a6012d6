//! The options of a training run. To add one: a field of [`TrainOptions`] and an entry here; flags, help, the JavaScript reader, TypeScript
//! types and the tables in the READMEs follow (`bash tests/run` says how to write the generated files anew).

use super::gradients::GRADIENTS;
use super::memory::MEMORY;
use super::names::{
    RATIONAL, activations, class_weights, heads, losses, missing, norms, optimizers, schedule, schedules, steps, tasks,
    terms, thresholds,
};
use super::precision::PRECISION;
use super::resolve::{BEYOND_TAU, DECAY_OF_POLES, Defaults, HIDDEN, PATIENCE_OF_POLES, SMALL};
use super::{Norm, TrainOptions};
use crate::error::{Error, Result};
use crate::host::{Number, number, parse_number};
use crate::loss::{Loss, PairLoss};
use crate::nn::{Activation, Decoding, Head, HeadForm, RationalLayer, Threshold};
use crate::optim::{Optimizer, Schedule};
use crate::options::{Entry, Group, Kind, Range, Table, Value};
use crate::table::{Fractions, Missing, Task};
use crate::train::{CoverageGoal, LinearRamp, Ramp, StepKind, Term, TrainerConfig};

/// The options of a training run.
pub static TABLE: Table<TrainOptions> = Table {
    groups: &[
        Group { title: "Columns and rows", entries: COLUMNS },
        Group { title: "Model", entries: MODEL },
        Group { title: "Training", entries: TRAINING },
        Group { title: "Gradients", entries: GRADIENTS },
        Group { title: "Memory", entries: MEMORY },
        Group { title: "Precision", entries: PRECISION },
        Group { title: "Poles", entries: POLES },
    ],
};

const fn option(name: &'static str, kind: Kind, doc: &'static str) -> Entry<TrainOptions> {
    Entry::new(name, kind, doc)
}

const COLUMNS: &[Entry<TrainOptions>] = &[
    option("target", Kind::Text("the name of a column"), "Column to predict")
        .aliases(&["label"])
        .set(|o, v| o.choice.target = v.text().into()),
    option("more_targets", Kind::Texts, "Columns that hold, with {target}, the shares of classes, for loss kl")
        .set(|o, v| o.choice.more_targets = v.texts()),
    option("task", Kind::Name(tasks), "What is learned").default("decided by the target").set(|o, v| {
        o.choice.task = Some(if v.text() == "regression" { Task::Regression } else { Task::Classification });
    }),
    option("features", Kind::Texts, "Columns to learn from; put a name with a comma in double quotes")
        .default("all but the target")
        .set(|o, v| o.choice.features = Some(v.texts())),
    option("ignore", Kind::Texts, "Columns to leave out").set(|o, v| o.choice.ignore = v.texts()),
    option("categorical", Kind::Texts, "Columns of numbers to read as categories; the target among them is a class")
        .set(|o, v| o.choice.categorical = v.texts()),
    option("numeric", Kind::Texts, "Columns that must be numbers: a text in one is an error")
        .set(|o, v| o.choice.numeric = v.texts()),
    option("missing", Kind::Name(missing), "How rows with empty cells are treated")
        .default("impute; drop for a head with poles")
        .set(|o, v| o.choice.missing = if v.text() == "drop" { Missing::Drop } else { Missing::Impute }),
    option(
        "bins",
        Kind::whole(0),
        "Inputs per column of numbers that show where between its quantiles a value is; 0 for none",
    )
    .default("16; fewer for large tables, 0 for a head with poles")
    .set(|o, v| o.choice.bins = Some(v.whole())),
    option(
        "group",
        Kind::Text("the name of a column"),
        "Column whose equal values stay in the same part of the split; no feature",
    )
    .set(|o, v| o.choice.group = Some(v.text().into())),
    option(
        "time",
        Kind::Text("the name of a column"),
        "Column by whose order the rows are split, the last for testing; no feature",
    )
    .set(|o, v| o.choice.time = Some(v.text().into())),
    option("split_seed", Kind::Whole { least: 0, most: 1 << 53 }, "Seed of the split of the rows alone")
        .default("that of the run")
        .set(|o, v| o.choice.split_seed = Some(v.whole() as u64)),
    option("validation", Kind::Number(Range::Share), "Share of the rows that decides when to stop")
        .aliases(&["validation_split"])
        .default_from(|| number(Fractions::default().validation).to_string())
        .set(|o, v| o.fractions.validation = v.number()),
    option("test", Kind::Number(Range::Share), "Share of the rows that the report is about")
        .aliases(&["test_split", "test_size"])
        .default_from(|| number(Fractions::default().test).to_string())
        .set(|o, v| o.fractions.test = v.number()),
];

const MODEL: &[Entry<TrainOptions>] = &[
    option("hidden", Kind::Wholes { length: None }, "Widths of the hidden layers; none makes a linear model")
        .aliases(&["hidden_layers"])
        .default_from(|| HIDDEN.map(|width| width.to_string()).join(","))
        .set(|o, v| o.hidden = Some(v.items().iter().map(Value::whole).collect())),
    option(
        "activation",
        Kind::Formula(activations),
        "Function between layers: a name, or a formula of x such as \"x*tanh(softplus(x))\"",
    )
    .default("silu")
    .try_set(|o, v| {
        match RATIONAL.iter().position(|(name, _)| *name == v.text()) {
            Some(at) => o.rational = Some(RationalLayer { is_safe: at == 0, ..RationalLayer::safe(3, 2) }),
            None => o.activation = Some(Activation::parse(v.text())?),
        }
        Ok(())
    }),
    option("norm", Kind::Name(norms), "Normalise the values between layers to mean 0 and variance 1")
        .default("none")
        .set(|o, v| o.norm = Some(if v.text() == "batch" { Norm::Batch } else { Norm::Layer })),
    option("dropout", Kind::Number(Range::Share), "Share of the hidden values set to zero while training")
        .default("0")
        .set(|o, v| o.dropout = v.number() as f32),
    option(
        "head",
        Kind::Name(heads),
        "How the last hidden layer becomes the prediction; all but linear can have poles and report ⊥ \
         (no value)",
    )
    .default("linear")
    .set(|o, v| {
        o.head = match v.text() {
            "rational" => Some(Head::rational(1)),
            "projective" => Some(Head::linear(1)),
            "angular" => Some(Head::angular(1)),
            _ => None,
        };
        o.choice.has_poles = o.head.is_some();
        // A model with poles predicts a number.
        o.choice.task = o.choice.task.or(o.head.map(|_| Task::Regression));
    }),
];

const TRAINING: &[Entry<TrainOptions>] = &[
    option(
        "loss",
        Kind::Formula(losses),
        "Loss function: a name, or a formula of prediction p and target y such as \"log(cosh(p - y))\", \
         both in standard deviations of the target; poisson takes counts as they are",
    )
    .aliases(&["loss_function"])
    .default("mse; cross-entropy for classes")
    .try_set(|o, v| {
        o.loss = Some(Loss::parse(v.text())?);
        o.choice = o.fitted_choice();
        Ok(())
    }),
    option(
        "delta",
        Kind::Number(Range::Positive),
        "Where huber turns from square to linear, in standard deviations of the target",
    )
    .default("1")
    .try_set(|o, v| loss_constant(o, "delta", v.number())),
    option(
        "quantile",
        Kind::Number(Range::Share),
        "Share of the targets that the quantile loss leaves below the prediction",
    )
    .default("0.5")
    .try_set(|o, v| loss_constant(o, "quantile", v.number())),
    option("gamma", Kind::Number(Range::NotNegative), "How much less rows that are certain count for the focal loss")
        .default("2")
        .try_set(|o, v| loss_constant(o, "gamma", v.number())),
    option("smoothing", Kind::Number(Range::Share), "Share of a class label spread over all classes")
        .aliases(&["label_smoothing"])
        .default_from(|| by_rows(|defaults| number(defaults.smoothing).to_string()))
        .set(|o, v| o.smoothing = Some(v.number() as f32)),
    option("class_weights", Kind::Name(class_weights), "Weights of the classes")
        .aliases(&["class_weight"])
        .default("all 1")
        .set(|o, _| o.is_balanced = true),
    option("epochs", Kind::whole(1), "Maximum number of passes over the training rows")
        .aliases(&["max_epochs"])
        .default_from(|| TrainerConfig::default().epochs.to_string())
        .set(|o, v| o.epochs = Some(v.whole())),
    option("batch", Kind::whole(1), "Rows per step")
        .aliases(&["batch_size"])
        .default_from(|| by_rows(|defaults| defaults.batch.to_string()))
        .set(|o, v| o.batch = Some(v.whole())),
    option("accumulate", Kind::whole(1), "Steps whose gradients make one update, as if their rows were one batch")
        .aliases(&["accumulation_steps"])
        .default_from(|| TrainerConfig::default().accumulate.to_string())
        .set(|o, v| o.accumulate = Some(v.whole())),
    option("lr", Kind::Number(Range::Positive), "Learning rate")
        .aliases(&["learning_rate"])
        .default_from(|| format!("{}; 0.01 for adafactor, 0.0001 for lion", figure(TrainerConfig::default().lr)))
        .set(|o, v| o.lr = Some(v.number())),
    option("weight_decay", Kind::Number(Range::NotNegative), "Decay of the weights per unit of learning rate")
        .default_from(|| {
            let [usual, poles] = [by_rows(|defaults| figure(defaults.weight_decay)), figure(DECAY_OF_POLES)];
            format!("{usual}; {poles} for a head with poles; 0.1 for muon, 0 for adafactor")
        })
        .set(|o, v| o.weight_decay = Some(v.number() as f32)),
    option("patience", Kind::whole(0), "Epochs without improvement before stopping; 0 never stops early")
        .aliases(&["early_stopping_patience"])
        .default_from(|| format!("{}; {PATIENCE_OF_POLES} for a head with poles", TrainerConfig::default().patience))
        .set(|o, v| o.patience = Some(v.whole())),
    option("seed", Kind::EXACT, "Seed of split, weights, order and dropout")
        .aliases(&["random_seed", "random_state"])
        .default("0")
        .set(|o, v| o.seed = v.number() as u64),
    option("optimizer", Kind::Name(optimizers), "Update rule").aliases(&["optimiser"]).default("adamw").try_set(
        |o, v| {
            o.optimizer = Some(Optimizer::parse(v.text())?);
            Ok(())
        },
    ),
    option("momentum", Kind::Number(Range::Share), "Momentum of sgd, rmsprop and muon")
        .default("0.9; 0 for rmsprop, 0.95 for muon")
        .try_set(|o, v| {
            let optimizer = o.optimizer.take().unwrap_or_else(|| Optimizer::adamw(0.0));
            o.optimizer = Some(optimizer.with("momentum", v.number() as f32)?);
            Ok(())
        }),
    option("schedule", Kind::Name(schedules), "How the learning rate changes")
        .aliases(&["lr_schedule", "scheduler"])
        .default("cosine")
        .try_set(|o, v| {
            let epochs = o.epochs.unwrap_or(TrainerConfig::default().epochs);
            o.schedule.get_or_insert(Schedule::COSINE).shape = schedule(v.text(), epochs)?;
            Ok(())
        }),
    option("warmup", Kind::whole(0), "Updates over which the learning rate rises")
        .aliases(&["warmup_steps"])
        .default("0")
        .set(|o, v| o.schedule.get_or_insert(Schedule::COSINE).warmup_steps = v.whole() as u64),
    option("step", Kind::Name(steps), "How a training step runs")
        .default("fused where the model allows it")
        .set(|o, v| o.step = Some(if v.text() == "fused" { StepKind::Fused } else { StepKind::Recorded })),
];

const POLES: &[Entry<TrainOptions>] = &[
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
        "Stop when fewer validation rows than this share have a value in three epochs in a row",
    )
    .needs(has_poles, WITH_HEAD)
    .set(|o, v| o.coverage = Some(CoverageGoal { least: v.number(), patience: COVERAGE_PATIENCE })),
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

/// Epochs of too little coverage that end a run.
const COVERAGE_PATIENCE: usize = 3;
/// What options of models with poles need.
const WITH_HEAD: &str = "a head with poles; set {head} to rational, projective or angular";

fn has_poles(options: &TrainOptions) -> bool {
    options.head.is_some()
}

/// Sets a constant of the loss.
fn loss_constant(options: &mut TrainOptions, name: &str, value: f64) -> Result<()> {
    options.loss = Some(options.loss.take().unwrap_or_else(Loss::mse).with(name, value as f32)?);
    Ok(())
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

/// A default that depends on the number of training rows.
fn by_rows(default: fn(&Defaults) -> String) -> String {
    let [few, many] = [0, SMALL].map(|rows| default(&Defaults::of(rows)));
    format!("{many}; {few} below {} training rows", thousands(SMALL))
}

/// A number as people write it: small ones with an exponent.
fn figure(x: impl Into<Number> + Into<f64> + Copy) -> String {
    let size: f64 = x.into();
    if size != 0.0 && size < 0.01 { format!("{:e}", number(x)) } else { number(x).to_string() }
}

fn thousands(count: usize) -> String {
    if count < 1000 { count.to_string() } else { format!("{},{:03}", count / 1000, count % 1000) }
}
