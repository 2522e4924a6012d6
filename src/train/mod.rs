//! Training: one `Trainer` for every model (`Spec`, or a function over `Var`) and every loss (built-in, formula, closure), with early
//! stopping, the best weights kept, checkpoints and events. Nothing here knows tables, and nothing prints.

mod batches;
mod budget;
mod checkpoint;
mod config;
mod curriculum;
mod data;
mod epoch;
mod events;
mod first;
mod flow;
mod gap;
pub mod geometry;
mod gradients;
mod layers;
mod lift;
mod mean;
mod memory;
pub mod minimise;
mod not_finite;
mod precision;
mod sampling;
mod setup;
mod step;
mod trained;
mod trainer;
mod update;
mod validation;

pub use crate::kernels::halves::Half;
pub use crate::kernels::mlp::Precision;
pub use crate::kernels::strict::Decoded;
pub use checkpoint::{Checkpoint, Origin, Progress};
pub use config::{CoverageGoal, StepKind, TrainerConfig};
pub use curriculum::{Curriculum, Ramp, Term};
pub use data::{Data, Examples};
pub use events::{EpochReport, Event, Flow, GradientReport, Outcome, PairReport, Stop};
pub use flow::{GradientIssue, TensorGradient};
pub use gradients::{Clip, GradientConfig, ParameterGroup};
pub use lift::{Label, lift, lift_labels};
pub use not_finite::{NotFinite, Stage};
pub use precision::{LossScaling, MixedPrecision};
pub use sampling::{AdaptiveSampler, CoverageController, LinearRamp};
pub use trainer::Trainer;
