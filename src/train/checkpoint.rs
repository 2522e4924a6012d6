//! A run interrupted at any step: everything that is needed to continue bit for bit.

use super::config::TrainerConfig;
use super::data::Data;
use super::progress::Progress;
use crate::json::Json;
use crate::model::SourceState;
use crate::nn::Spec;

/// The complete state of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The model.
    pub spec: Spec,
    /// Whether its loss is a closure, which the program that goes on has to give.
    pub has_own_loss: bool,
    /// The source of its gradients, if they are not the model's own; the program that goes on has to give the source.
    pub source: Option<SourceState>,
    /// The configuration.
    pub settings: TrainerConfig,
    /// Flat parameters.
    pub parameters: Vec<f32>,
    /// Flat moments, and the state of limits.
    pub moments: Vec<f32>,
    /// The gradients accumulated for the next update; empty if a step makes one.
    pub sums: Vec<f32>,
    /// Step counters.
    pub control: Vec<u32>,
    /// Flat best parameters.
    pub best: Vec<f32>,
    /// The progress.
    pub progress: Progress,
    /// Identifies the training rows.
    pub fingerprint: u64,
    /// Identifies the validation and the test rows, in this order; empty in files of earlier versions.
    pub held: Vec<u64>,
    /// Where they came from, in the words of whoever read them: the loop carries it along.
    pub origin: Option<Json>,
}

impl Checkpoint {
    /// The part of the data that is not the checkpoint's, of validation and test rows.
    pub fn other_part(&self, data: &Data) -> Option<&'static str> {
        let parts = data.held_fingerprints().into_iter().zip(&self.held);
        parts.filter(|((_, hash), own)| hash != *own).map(|((part, _), _)| part).next()
    }
}
