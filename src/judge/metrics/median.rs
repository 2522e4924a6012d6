//! Median absolute error of the values of a model with poles, in target units: robust against a few rows near a pole.

use super::Metric;
use crate::math::median;

pub(super) const METRIC: Metric = Metric {
    label: "median",
    doc: "Median absolute error of the values of a model with poles, in target units: robust against a few rows near a pole",
    of: |scored| {
        let numbers = &scored.pairs()?.numbers;
        median(numbers.iter().map(|[z, y]| (z - y).abs()).collect()).map(|error| error * scored.scale)
    },
};
