//! A domain as its parts: how data are drawn, the table of methods, how predictions are measured.

use serde_json::Value;

use super::description::{Description, Remark, Role, Size};
use super::net::Net;
use super::report::MethodReport;
use meromorph::error::Result;
use meromorph::train::{Examples, TrainerConfig};

/// A domain with data `D` and predictions `P`.
pub(super) struct Subject<D, P> {
    pub facts: &'static Description,
    pub methods: Vec<Method<P>>,
    /// The sizes of the data, for the report.
    pub sizes: fn(Size) -> Vec<(&'static str, usize)>,
    pub draw: fn(Size, u64) -> D,
    /// The training rows.
    pub train: fn(&D) -> &Examples,
    pub notation: Notation<D, P>,
    pub config: fn(Size) -> TrainerConfig,
    /// The score that chooses the best epoch; without one the last epoch is kept.
    pub epoch_score: Option<EpochScore<D, P>>,
    /// The inputs to predict, in groups.
    pub probes: fn(&D) -> Vec<Vec<f32>>,
    pub measure: fn(&D, &[P]) -> MethodResult,
    pub remarks: fn(&[MethodReport]) -> Vec<Remark>,
}

/// The columns of a domain's tables.
pub(super) struct Notation<D, P> {
    /// Names of the columns of inputs, targets and predictions.
    pub inputs: &'static [&'static str],
    pub targets: &'static [&'static str],
    pub predictions: &'static [&'static str],
    pub validation: Option<fn(&D) -> &Examples>,
    /// Predictions from rows of their columns.
    pub read: fn(&[f32]) -> Result<P>,
}

/// A score of a model after an epoch; the smallest is the best.
pub(super) struct EpochScore<D, P> {
    /// The inputs that are predicted.
    pub x: fn(&D) -> &[f32],
    /// The score of the predictions.
    pub score: fn(&D, &P) -> f64,
}

/// The result of a method on a seed: values in the order of the metrics.
pub(super) struct MethodResult {
    pub values: Vec<Option<f64>>,
    pub curves: Vec<Curve>,
    pub more: Value,
}

/// A method's curve in a chart.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curve {
    pub chart: usize,
    pub points: Vec<[f64; 2]>,
}

/// A method, whose predictions are `P`.
pub(super) struct Method<P> {
    pub name: &'static str,
    pub about: &'static str,
    pub role: Role,
    pub kind: Kind<P>,
}

impl<P> Method<P> {
    pub(super) const fn learnt(
        name: &'static str,
        about: &'static str,
        role: Role,
        nets: fn() -> Vec<Net>,
        decode: Decode<P>,
    ) -> Self {
        Self { name, about, role, kind: Kind::Learnt { nets, decode } }
    }
}

/// How a method makes its predictions.
pub(super) enum Kind<P> {
    /// From the inputs alone.
    Known(fn(&[f32]) -> P),
    /// By models trained one after the other.
    Learnt { nets: fn() -> Vec<Net>, decode: Decode<P> },
}

/// Computes predictions from outputs: by model, then by output, each row-major.
pub(super) type Decode<P> = fn(&[Vec<Vec<f32>>]) -> P;
