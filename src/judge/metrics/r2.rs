//! 1 - Σ(y - z)² / Σ(y - ȳ)²; absent if the targets are constant.

use super::Metric;
use super::scored::mean_of;

pub(super) const METRIC: Metric = Metric {
    label: "R²",
    doc: "1 - Σ(y - z)² / Σ(y - ȳ)²; absent if the targets are constant",
    of: |scored| {
        let numbers = scored.numbers()?;
        let mean = mean_of(numbers, |[_, y]| *y)?;
        let spread = mean_of(numbers, |[_, y]| (y - mean) * (y - mean)).filter(|spread| *spread > 0.0)?;
        Some(1.0 - mean_of(numbers, |[z, y]| (z - y) * (z - y))? / spread)
    },
};
