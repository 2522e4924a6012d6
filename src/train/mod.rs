//! The loop: batches, fused or recorded step, early stopping with the best weights kept, checkpoints, events. It never prints.

mod batches;
mod checkpoint;
mod course;
mod data;
mod events;
mod lift;
mod metrics;
mod model;
mod monitor;
mod pairs;
mod predictor;
mod profile;
mod recipe;
mod sampling;
mod settings;
mod step;
mod storage;
mod sweep;
mod trainer;

pub use crate::kernels::strict::Decoded;
pub use checkpoint::{Checkpoint, Origin, Progress};
pub use course::{Course, Ramp, Term};
pub use data::{Data, Examples};
pub use events::{EpochReport, Event, Flow, Outcome, PairReport, Stop};
pub use lift::{Label, lift, lift_labels};
pub use metrics::{Metrics, largest};
pub use model::{Model, Prediction};
pub use monitor::{Monitor, Rates, Seen};
pub use predictor::Factor;
pub use profile::LayerShares;
pub use recipe::{Dealt, Norm, Recipe, Run};
pub use sampling::{AdaptiveSampler, CoverageController, LinearRamp};
pub use settings::{CoverageGoal, Settings, StepKind};
pub use storage::Storage;
pub use sweep::{Near, Swept, nearness, sweep};
pub use trainer::Trainer;
