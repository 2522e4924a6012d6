//! Mean squared error, in squared target units.

use super::Metric;
use super::scored::mean_of;

pub(super) const METRIC: Metric = Metric {
    label: "mse",
    doc: "Mean squared error, in squared target units",
    of: |scored| mean_of(scored.numbers()?, |[z, y]| (z - y) * (z - y)).map(|mse| mse * scored.scale * scored.scale),
};
