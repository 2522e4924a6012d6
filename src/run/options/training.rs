//! The options of the loss, the updates and their number.

use std::sync::LazyLock;

use super::defaults::{DECAY_OF_POLES, Defaults, PATIENCE_OF_POLES, SMALL};
use super::names::{class_weights, losses, optimizers, schedule, schedules, steps};
use super::{TrainOptions, option};
use crate::host::{Number, number};
use crate::loss::{self, Loss};
use crate::optim::{self, Method, Optimizer, Schedule};
use crate::options::{Entry, Kind, Range};
use crate::train::{StepKind, TrainerConfig};

/// More models at once are a mistake rather than a wish.
const MOST_MEMBERS: u64 = 1000;

pub(crate) fn training() -> &'static [Entry<TrainOptions>] {
    static ALL: LazyLock<Vec<Entry<TrainOptions>>> =
        LazyLock::new(|| [LOSS].into_iter().chain(constants()).chain(others()).collect());
    &ALL
}

const LOSS: Entry<TrainOptions> = option(
    "loss",
    Kind::Formula(losses),
    "Loss function: a name, or a formula of prediction p and target y such as \"log(cosh(p - y))\", \
         both in standard deviations of the target; losses of counts and amounts take them as they are",
)
.aliases(&["loss_function"])
.default("mse; cross-entropy for classes")
.try_set(|o, v| {
    o.loss = Some(Loss::parse(v.text())?);
    o.choice = o.fitted_choice();
    Ok(())
});

/// The constants of losses, whose records declare them; smoothing has a default that depends on the rows.
fn constants() -> impl Iterator<Item = Entry<TrainOptions>> {
    let all = loss::ALL.iter().flat_map(|loss| loss.constants).filter(|constant| constant.name != "smoothing");
    all.map(|constant| {
        let range = Range::Of { is_valid: constant.is_valid, expected: constant.expected };
        option(constant.name, Kind::Number(range), constant.doc).default_number(constant.default).set_by_name(
            |o, name, v| {
                o.loss = Some(o.loss.take().unwrap_or_else(Loss::mse).with(name, v.number() as f32)?);
                Ok(())
            },
        )
    })
}

fn others() -> Vec<Entry<TrainOptions>> {
    vec![
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
            .default_from(|| {
                let usual = TrainerConfig::default().lr;
                let own = own_of_methods(|method| Some(method.usual_rate).filter(|rate| *rate != usual));
                format!("{}; {own}", figure(usual))
            })
            .set(|o, v| o.lr = Some(v.number())),
        option("weight_decay", Kind::Number(Range::NotNegative), "Decay of the weights per unit of learning rate")
            .default_from(|| {
                let [usual, poles] = [by_rows(|defaults| figure(defaults.weight_decay)), figure(DECAY_OF_POLES)];
                let own = own_of_methods(|method| Optimizer::new(method).usual_decay());
                format!("{usual}; {poles} for a head with poles; {own}")
            })
            .set(|o, v| o.weight_decay = Some(v.number() as f32)),
        option("patience", Kind::whole(0), "Epochs without improvement before stopping; 0 never stops early")
            .aliases(&["early_stopping_patience"])
            .default_from(|| {
                format!("{}; {PATIENCE_OF_POLES} for a head with poles", TrainerConfig::default().patience)
            })
            .set(|o, v| o.patience = Some(v.whole())),
        option("seed", Kind::EXACT, "Seed of split, weights, order and dropout")
            .aliases(&["random_seed", "random_state"])
            .default("0")
            .set(|o, v| o.seed = v.number() as u64),
        option(
            "members",
            Kind::Whole { least: 1, most: MOST_MEMBERS },
            "Models that are trained at once, each from the next seed; predictions are the mean of theirs, with their standard deviation",
        )
        .default_from(|| TrainerConfig::default().members.to_string())
        .set(|o, v| o.members = Some(v.whole())),
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
    ]
}

/// The figures of optimisers that have one of their own.
fn own_of_methods(of: impl Fn(&'static Method) -> Option<f64>) -> String {
    let own =
        optim::ALL.iter().filter_map(|method| Some(format!("{} for {}", number(of(method)? as f32), method.name)));
    own.collect::<Vec<_>>().join(", ")
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
