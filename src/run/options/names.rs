//! Names that options accept, each with one line about it.

use crate::error::{Result, unknown_name};
use crate::nn::{NORMS, activation};
use crate::optim::{self, Schedule, ScheduleShape};
use crate::train::Term;
use crate::{host, loss};

pub(crate) fn tasks() -> Vec<(&'static str, &'static str)> {
    vec![("regression", "A number"), ("classification", "One of several classes")]
}

pub(crate) fn missing() -> Vec<(&'static str, &'static str)> {
    vec![
        ("impute", "Fill in the mean of a number and tell the model so; a missing category is one of its own"),
        ("drop", "Leave them out"),
    ]
}

pub(crate) fn date_orders() -> Vec<(&'static str, &'static str)> {
    vec![("dmy", "31.12.2024"), ("mdy", "12/31/2024"), ("ymd", "2024-12-31")]
}

/// A cubic over a quadratic, with coefficients for each channel.
pub(crate) const RATIONAL: [(&str, &str); 2] = [
    ("rational", "A learned quotient of polynomials without poles"),
    ("rational-poles", "The same with poles, for a head that can report ⊥"),
];

pub(crate) fn activations() -> Vec<(&'static str, &'static str)> {
    activation::ALL.iter().map(|built_in| (built_in.name, built_in.doc)).chain(RATIONAL).collect()
}

pub(crate) fn losses() -> Vec<(&'static str, &'static str)> {
    loss::names().collect()
}

pub(crate) fn optimizers() -> Vec<(&'static str, &'static str)> {
    optim::ALL.iter().map(|method| (method.name, method.doc)).collect()
}

pub(crate) fn norms() -> Vec<(&'static str, &'static str)> {
    NORMS.iter().map(|norm| (norm.name, norm.doc)).collect()
}

pub(crate) fn class_weights() -> Vec<(&'static str, &'static str)> {
    vec![("balanced", "Rows / (classes · rows of the class)")]
}

/// A schedule: its name, its description in one line, and its shape in a run of so many epochs.
type NamedShape = (&'static str, &'static str, fn(usize) -> ScheduleShape);

const SCHEDULES: [NamedShape; 9] = [
    ("constant", "No change", |_| ScheduleShape::Constant),
    ("cosine", "Half a cosine down to zero", |_| Schedule::COSINE.shape),
    ("step", "A tenth after each third of the epochs", |epochs| ScheduleShape::Step {
        every: epochs.div_ceil(3),
        factor: 0.1,
    }),
    ("plateau", "Half after 5 epochs without improvement", |_| ScheduleShape::Plateau { patience: 5, factor: 0.5 }),
    ("exponential", "The same share less after each epoch, down to a hundredth", |epochs| ScheduleShape::Exponential {
        factor: host::pow(0.01, 1.0 / epochs as f64),
    }),
    ("linear", "A straight line down to zero", |_| ScheduleShape::Polynomial { power: 1.0, floor: 0.0 }),
    ("one-cycle", "Up from a 25th over three tenths of the updates, then down to nearly zero", |_| {
        ScheduleShape::OneCycle { rise: 0.3, first: 0.04, last: 4e-6 }
    }),
    ("restarts", "Cosines down to zero over a seventh, two sevenths and four sevenths of the epochs", |epochs| {
        ScheduleShape::Restarts { period: epochs.div_ceil(7), growth: 2.0, floor: 0.0 }
    }),
    ("stable", "No change, but down to zero over the last fifth of the updates", |_| ScheduleShape::Stable {
        decay: 0.2,
    }),
];

pub(crate) fn schedules() -> Vec<(&'static str, &'static str)> {
    SCHEDULES.map(|(name, doc, _)| (name, doc)).into()
}

/// The shape of a schedule by its name, in a run of so many epochs.
pub(crate) fn schedule(name: &str, epochs: usize) -> Result<ScheduleShape> {
    match SCHEDULES.iter().find(|(known, _, _)| *known == name) {
        Some((_, _, shape)) => Ok(shape(epochs)),
        None => Err(unknown_name("schedule", name, &SCHEDULES.map(|(name, _, _)| name), "")),
    }
}

pub(crate) fn steps() -> Vec<(&'static str, &'static str)> {
    vec![("fused", "Two launches per step"), ("recorded", "The model's operations, recorded once and replayed")]
}

pub(crate) fn decays() -> Vec<(&'static str, &'static str)> {
    vec![("all", "All parameters"), ("weights", "All but biases and the scales of norms")]
}

pub(crate) fn heads() -> Vec<(&'static str, &'static str)> {
    vec![
        ("linear", "A number; no poles"),
        ("rational", "A polynomial of the features over another"),
        ("projective", "Numerator and denominator straight from the features"),
        ("angular", "The cotangent of an angle"),
    ]
}

pub(crate) fn thresholds() -> Vec<(&'static str, &'static str)> {
    vec![("angle", "|Q| / √(P² + Q²), which does not depend on the scale of the pair"), ("denominator", "|Q| alone")]
}

pub(crate) fn terms() -> Vec<(&'static str, &'static str)> {
    Term::ALL.map(|(name, _)| (name, "")).into()
}
