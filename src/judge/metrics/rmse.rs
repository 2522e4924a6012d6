//! Root of the mean squared error, in target units.

use super::{Metric, mse};

pub(super) const METRIC: Metric = Metric {
    label: "rmse",
    doc: "Root of the mean squared error, in target units",
    of: |scored| (mse::METRIC.of)(scored).map(f64::sqrt),
};
