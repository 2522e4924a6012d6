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

/// Tables are read by the option table of reading.
const READING: Reading = Reading { own: meromorph::model::Model::reading, format: options::format_over, rows };
