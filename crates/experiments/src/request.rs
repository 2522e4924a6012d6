//! The request for an experiment.

use super::description::Size;

/// The request for an experiment.
#[derive(Clone, Debug)]
pub struct Request {
    /// The size.
    pub mode: Size,
    /// The seeds, in order.
    pub seeds: Vec<u64>,
    /// Methods by name; all if empty.
    pub methods: Vec<String>,
    /// Passes over the training rows; by default those of the size.
    pub epochs: Option<usize>,
    /// Methods of other programs on the same rows; measured like the others.
    pub elsewhere: Vec<ExternalMethod>,
}

/// A method of another program, given by its predictions.
#[derive(Clone, Debug)]
pub struct ExternalMethod {
    /// 1 to 20 letters, digits, "-", "_" or ".".
    pub name: String,
    /// Predictions by seed, in the order of the request: one row per row of `predict`, with the prediction columns of the domain; NaN
    /// where the method predicts no value.
    pub predictions: Vec<Vec<f32>>,
}
