//! A model file: spec, weights, preparation of its table; what it predicts.

mod examples;
mod initial;
mod network;
mod predict;
mod prediction;
pub(crate) mod predictor;
mod ready;
mod storage;
mod trained;

pub use examples::Examples;
pub use initial::Initial;
pub use network::{Batch, Network, Outputs, Parameters};
pub use prediction::{Follow, Noted, PredictOptions, Prediction};
pub use predictor::Factor;
pub use ready::Ready;
pub use storage::Storage;
pub use trained::Model;
