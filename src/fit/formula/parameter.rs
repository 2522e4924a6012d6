//! One parameter of a fit: its start, its bounds, and whether it is fixed.

/// A parameter of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name in the formula.
    pub name: String,
    /// Where the search starts; without one a start is looked for.
    pub start: Option<f64>,
    /// Its smallest value, or minus infinity.
    pub low: f64,
    /// Its largest value, or infinity.
    pub high: f64,
    /// Whether it keeps its start.
    pub is_fixed: bool,
}

impl Parameter {
    /// A free parameter without bounds and start.
    pub fn new(name: &str) -> Self {
        let [low, high] = [f64::NEG_INFINITY, f64::INFINITY];
        Self { name: name.to_owned(), start: None, low, high, is_fixed: false }
    }

    /// Whether a value is within the bounds.
    pub fn admits(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}
