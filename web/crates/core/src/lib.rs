//! The JavaScript interface: objects for training and prediction. Values from JavaScript are checked here, and every failure is an
//! `Error` with the engine's message. Its typed interface is `web/src/serve`.
#![cfg(target_arch = "wasm32")]

mod engine;
mod evaluate;
mod metrics;
mod options;
mod profile;
mod training;

pub use engine::{Engine, describe, open};
pub use evaluate::evaluate;
pub use meromorph_web_model::Model;
pub use meromorph_web_values::on_panic;
pub use training::Training;

use meromorph_web_model::Reading;
use meromorph_web_values::rows::rows;

/// Tables and options are read by the tables of options.
const READING: Reading = Reading {
    own: meromorph::model::Model::reading,
    format: options::format_over,
    rows,
    predicting: options::predicting,
    intervals: Some(|model, device, table, how| Box::pin(model.intervals(device, table, how))),
};
