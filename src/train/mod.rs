//! The loop: batches, fused or recorded step, early stopping with the best weights kept, checkpoints, events. It never prints.

mod batches;
mod checkpoint;
mod data;
mod metrics;
mod model;
mod recipe;
mod settings;
mod step;
mod trainer;

pub use checkpoint::{Checkpoint, Origin, Progress};
pub use data::{Data, Examples};
pub use metrics::{Metrics, largest};
pub use model::{Model, Prediction};
pub use recipe::{Dealt, Recipe, Run};
pub use settings::{Settings, StepKind};
pub use trainer::{EpochReport, Event, Flow, Outcome, Stop, Trainer};
