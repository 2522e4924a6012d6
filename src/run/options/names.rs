//! Names that options accept, each with one line about it.

use crate::error::{Result, unknown_name};
use crate::loss;
use crate::nn::{NORMS, activation};
use crate::optim::{self, SHAPES, ScheduleShape};
use crate::train::Term;

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

pub(crate) fn schedules() -> Vec<(&'static str, &'static str)> {
    SHAPES.iter().map(|(name, doc, _)| (*name, *doc)).collect()
}

/// The shape of a schedule by its name, in a run of so many epochs.
pub(crate) fn schedule(name: &str, epochs: usize) -> Result<ScheduleShape> {
    if let Some((_, _, shape)) = SHAPES.iter().find(|(known, _, _)| *known == name) {
        return Ok(shape(epochs));
    }
    let names: Vec<&str> = SHAPES.iter().map(|(name, _, _)| *name).collect();
    Err(unknown_name("schedule", name, &names, ""))
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
