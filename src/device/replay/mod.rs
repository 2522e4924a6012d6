//! Recordings made replayable: what is captured becomes a plan, which runs in order with what is read and written.

mod capture;
mod plan;
mod summary;
mod transfer;

pub use plan::Plan;
pub use summary::{Code, Launch, Summary};
