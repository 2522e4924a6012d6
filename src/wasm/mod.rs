//! The JavaScript interface: objects for training and prediction. Values from JavaScript are checked here, and every failure is an
//! `Error` with the engine's message. Its typed interface is `web/src/serve`.

mod engine;
mod evaluate;
mod metrics;
mod model;
mod options;
mod panic;
mod profile;
mod rows;
mod training;
mod values;

pub use engine::{Engine, describe, open};
pub use model::Model;
pub use panic::on_panic;
pub use training::Training;

use options::format_of;
use rows::rows;
