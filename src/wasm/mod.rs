//! The browser's leaf: task-level objects for JavaScript. Values from there are checked here, and whatever goes wrong is an
//! `Error` with the engine's message. Its typed face is `web/src/serve`.

mod engine;
mod model;
mod options;
mod panic;
mod rows;
mod training;
mod values;

pub use engine::{Engine, describe, open};
pub use model::Model;
pub use panic::on_panic;
pub use training::Training;

use rows::rows;
