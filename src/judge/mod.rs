//! How good a model is: metrics, curves, importance of columns, intervals, thresholds.

mod bottom_shares;
mod curves;
mod evaluate;
#[cfg(test)]
pub(crate) mod examined;
mod importance;
mod intervals;
mod measure;
mod metrics;
mod monitor;
pub(crate) mod pairs;
mod partial;
mod sweep;

pub use bottom_shares::LayerShares;
pub use curves::{Reliability, reliability, roc};
pub use evaluate::Evaluation;
pub use importance::{ExamineOptions, Importance, ImportanceReport, importance, main_metric};
pub use intervals::{Calibration, ResidualGroup, Residuals};
pub use metrics::{ClassCount, Classes, Figure, Metric, Metrics, Numbers, Pair, Pairs, Predicted, Scored, Shares};
pub use monitor::{Monitor, MonitorState, Rates};
pub use partial::{Partial, PartialCurve, partial};
pub use sweep::{NearPole, ThresholdRow, nearness, sweep};
