//! Bounds of the free parameters, and distances to them.

use nalgebra::DVector;

/// Lower and upper bounds, which may be infinite.
#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    pub low: DVector<f64>,
    pub high: DVector<f64>,
}

impl Bounds {
    /// Whether any bound is finite.
    pub(crate) fn are_finite(&self) -> bool {
        self.low.iter().chain(&self.high).any(|bound| bound.is_finite())
    }

    /// Whether a point is within all bounds.
    pub(crate) fn hold(&self, x: &DVector<f64>) -> bool {
        (0..x.len()).all(|at| self.low[at] <= x[at] && x[at] <= self.high[at])
    }

    /// The point moved strictly within its bounds: by `share` of their size, or if that is 0, to the next number.
    pub(crate) fn inside(&self, x: &DVector<f64>, share: f64) -> DVector<f64> {
        let moved = |at: usize| {
            let (low, high, x) = (self.low[at], self.high[at], x[at]);
            let margin = |bound: f64| share * bound.abs().max(1.0);
            let inner = match x {
                _ if x <= low + margin(low) => (low + margin(low)).max(low.next_up()),
                _ if x >= high - margin(high) => (high - margin(high)).min(high.next_down()),
                _ => x,
            };
            if low < inner && inner < high { inner } else { 0.5 * (low + high) }
        };
        DVector::from_fn(
            x.len(),
            |at, _| if self.low[at].is_finite() || self.high[at].is_finite() { moved(at) } else { x[at] },
        )
    }

    /// The distance of each variable to the bound that −gradient points to, 1 if it is infinite, and the derivative of that distance by the
    /// variable: −1, 0 or 1.
    pub(crate) fn distances(&self, x: &DVector<f64>, gradient: &DVector<f64>) -> (DVector<f64>, DVector<f64>) {
        let pairs = (0..x.len()).map(|at| {
            let (low, high) = (self.low[at], self.high[at]);
            match gradient[at] {
                g if g < 0.0 && high.is_finite() => (high - x[at], -1.0),
                g if g > 0.0 && low.is_finite() => (x[at] - low, 1.0),
                _ => (1.0, 0.0),
            }
        });
        let (distances, slopes): (Vec<f64>, Vec<f64>) = pairs.unzip();
        (DVector::from_vec(distances), DVector::from_vec(slopes))
    }

    /// The variables that are not at a bound to which the gradient pushes them.
    pub(crate) fn inner(&self, x: &DVector<f64>, gradient: &DVector<f64>) -> Vec<usize> {
        let is_held = |at: usize| {
            (x[at] <= self.low[at] && gradient[at] >= 0.0) || (x[at] >= self.high[at] && gradient[at] <= 0.0)
        };
        (0..x.len()).filter(|&at| !is_held(at)).collect()
    }

    /// How many times `step` fits between `x` and the first bound, and which variables reach theirs there.
    pub(crate) fn stride(&self, x: &DVector<f64>, step: &DVector<f64>) -> (f64, Vec<bool>) {
        let room = |at: usize| match step[at] {
            s if s > 0.0 => (self.high[at] - x[at]) / s,
            s if s < 0.0 => (self.low[at] - x[at]) / s,
            _ => f64::INFINITY,
        };
        let rooms: Vec<f64> = (0..x.len()).map(room).collect();
        let shortest = rooms.iter().copied().fold(f64::INFINITY, f64::min);
        (shortest, rooms.into_iter().map(|room| room == shortest).collect())
    }
}
