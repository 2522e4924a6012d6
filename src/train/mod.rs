//! Training: one `Trainer` for every model (`Spec`, or a function over `Var`) and every loss (built-in, formula, closure), with early
//! stopping, the best weights kept, checkpoints and events; the model file and its predictions. Nothing here prints.

mod batches;
mod checkpoint;
mod class_metrics;
mod config;
mod curriculum;
mod data;
mod epoch;
mod events;
mod initial;
mod lift;
mod memory;
mod metrics;
mod model;
mod monitor;
mod network;
mod options;
mod pairs;
mod predictor;
mod profile;

mod sampling;
mod step;
mod storage;
mod sweep;
mod trainer;
mod validation;

pub use crate::kernels::mlp::Precision;
pub use crate::kernels::strict::Decoded;
pub use checkpoint::{Checkpoint, Origin, Progress};
pub use config::{CoverageGoal, StepKind, TrainerConfig};
pub use curriculum::{Curriculum, Ramp, Term};
pub use data::{Data, Examples};
pub use events::{EpochReport, Event, Flow, Outcome, PairReport, Stop};
pub use initial::Initial;
pub use lift::{Label, lift, lift_labels};
pub use metrics::{Metrics, largest};
pub use model::{Model, Noted, PredictOptions, Prediction};
pub use monitor::{Monitor, MonitorState, Rates};
pub use network::{Batch, Network, Outputs, Parameters};
pub use options::{Norm, READING, Run, SplitTable, TABLE as OPTIONS, TrainOptions};
pub use predictor::Factor;
pub use profile::LayerShares;
pub use sampling::{AdaptiveSampler, CoverageController, LinearRamp};
pub use storage::Storage;
pub use sweep::{NearPole, ThresholdRow, nearness, sweep};
pub use trainer::Trainer;
