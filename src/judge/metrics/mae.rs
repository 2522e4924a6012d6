//! Mean absolute error, in target units; of shares of classes, their mean distance.

use super::scored::mean_of;
use super::{Metric, Predicted};

pub(super) const METRIC: Metric = Metric {
    label: "mae",
    doc: "Mean absolute error, in target units; of shares of classes, their mean distance",
    of: |scored| match &scored.predicted {
        Predicted::Shares(shares) => Some(shares.distance()),
        _ => mean_of(scored.numbers()?, |[z, y]| (z - y).abs()).map(|mae| mae * scored.scale),
    },
};
