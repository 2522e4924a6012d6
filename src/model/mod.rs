//! A model file: spec, weights, preparation of its table; what it predicts.

mod closures;
mod examples;
mod hidden;
mod initial;
mod network;
mod predict;
mod prediction;
pub(crate) mod predictor;
mod ready;
mod source;
mod storage;
mod trained;

pub use crate::graph::{Input, InputKind};
pub use closures::{Batch, Inputs, LossValue, Outputs, Parameters};
pub use examples::Examples;
pub use initial::Initial;
pub use network::Network;
pub use prediction::{Follow, Noted, PredictOptions, Prediction};
pub use predictor::Factor;
pub use ready::Ready;
pub use source::{Direction, GradientSource, SourceState, SourceStep, Sourced, StateBlock};
pub use storage::Storage;
pub use trained::Model;
