//! An axis as data.

/// An axis: its label, its scale, and its range if the data does not decide it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    pub(super) label: String,
    pub(super) is_log: bool,
    pub(super) range: Option<[f64; 2]>,
    pub(super) names: Vec<String>,
}

impl Axis {
    /// With equal steps for equal differences.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// With equal steps for equal ratios; values that are not positive have no place.
    pub fn log(label: impl Into<String>) -> Self {
        Self { is_log: true, ..Self::linear(label) }
    }

    /// With a name at each of 0, 1, 2, …: from the left, or from the top.
    pub fn names<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        Self { names: names.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// With fixed ends; what lies outside is cut off. Ignored unless `low < high` and both have a place on the axis.
    #[must_use]
    pub fn within(mut self, low: f64, high: f64) -> Self {
        self.range = (low < high && self.holds(low) && self.holds(high)).then_some([low, high]);
        self
    }

    /// Whether a value has a place on it.
    pub(super) fn holds(&self, value: f64) -> bool {
        value.is_finite() && (!self.is_log || value > 0.0)
    }
}
