//! Training: one `Trainer` for every model (`Spec`, or a function over `Var`) and every loss (built-in, formula, closure), with early
//! stopping, the best weights kept, checkpoints and events. Nothing here knows tables, and nothing prints.

mod activations;
mod budget;
mod checkpoint;
pub(crate) mod config;
mod criterion;
mod data;
mod epoch;
mod events;
mod first;
mod fits;
mod flow;
mod flow_issues;
mod gap;
pub mod geometry;
mod groups;
mod hook;
mod learner;
mod lift;
mod memory;
pub mod minimise;
mod not_finite;
mod progress;
mod sampling;
mod start;
mod step;

mod trainer;
mod windows;

pub use crate::kernels::halves::Half;
pub use crate::kernels::mlp::Precision;
pub use crate::kernels::strict::Decoded;
pub use crate::model::Examples;
pub use checkpoint::Checkpoint;
pub use config::curriculum::{Curriculum, Ramp, Term};
pub use config::gradients::{Clip, GradientConfig, ParameterGroup};
pub use config::precision::{LossScaling, MixedPrecision};
pub use config::{CoverageGoal, Keep, StepKind, TrainerConfig};
pub use data::Data;
pub use events::{EpochReport, Event, Flow, GradientReport, Outcome, PairReport, Stop};
pub use flow::{GradientIssue, TensorGradient};
pub use flow_issues::{ActivationFlow, FlowIssue, IssueType, Severity, flow_issues};
pub use hook::{GradientHook, Hooked, StepGradients};
pub use lift::{Label, lift, lift_labels};
pub use not_finite::{NotFinite, Stage};
pub use progress::{Progress, Standing};
pub use sampling::{AdaptiveSampler, CoverageController, LinearRamp};
pub use trainer::Trainer;
