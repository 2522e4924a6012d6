//! A line search for the strong Wolfe conditions (Nocedal and Wright 2006, algorithms 3.5 and 3.6): with φ(a) = f(x + a p),
//! φ(a) <= φ(0) + c1 a φ'(0) and |φ'(a)| <= c2 |φ'(0)|. Where φ(a) and φ(0) differ by no more than rounding errors, the first one is decided by slopes
//! (the approximate Wolfe condition of Hager and Zhang 2005): values alone locate a minimum only to the square root of their precision.

use super::dot;
use crate::error::Result;

/// c1 and c2, the values that Nocedal and Wright give for quasi-Newton methods.
const DECREASE: f64 = 1e-4;
const CURVATURE: f64 = 0.9;
/// Most steps that look for an interval, each twice the last, and most that shrink it.
const WIDEN: usize = 40;
const SHRINK: usize = 30;

/// A point with its value and gradient.
#[derive(Clone)]
pub(crate) struct Point {
    pub x: Vec<f64>,
    pub value: f64,
    pub gradient: Vec<f64>,
}

/// A direction from a point, with φ'(0).
pub(crate) struct Line<'a> {
    from: &'a Point,
    direction: Vec<f64>,
    slope: f64,
}

impl<'a> Line<'a> {
    pub(crate) fn new(from: &'a Point, direction: Vec<f64>) -> Self {
        let slope = dot(&from.gradient, &direction);
        Self { from, direction, slope }
    }
}

/// A place on a line: a, φ'(a) and the point, which has φ(a).
#[derive(Clone)]
struct Place {
    step: f64,
    slope: f64,
    point: Point,
}

/// A function, how exact its values are, and how often it was evaluated.
pub(crate) struct Search<'a, F> {
    pub function: &'a mut F,
    pub rounding: f64,
    pub evaluations: usize,
}

impl<F: AsyncFnMut(&[f64]) -> Result<(f64, Vec<f64>)>> Search<'_, F> {
    /// A point on the line that satisfies both conditions, or at least has a smaller value; `None` if there is none. The line must descend.
    pub(crate) async fn along(&mut self, line: &Line<'_>, first: f64) -> Result<Option<Point>> {
        if line.slope >= 0.0 || !line.slope.is_finite() {
            return Ok(None);
        }
        let mut before = Place { step: 0.0, slope: line.slope, point: line.from.clone() };
        let mut step = first;
        for _ in 0..WIDEN {
            let place = self.place(line, step).await?;
            if !self.decreases(line, &place) || self.is_above(line, &place, &before) {
                return self.shrink(line, before, place).await;
            }
            if is_flat(line, &place) {
                return Ok(Some(place.point));
            }
            if place.slope >= 0.0 {
                return self.shrink(line, place, before).await;
            }
            before = place;
            step *= 2.0;
        }
        Ok(Some(before.point))
    }

    /// Narrows the interval between the best place so far and another one.
    async fn shrink(&mut self, line: &Line<'_>, mut best: Place, mut other: Place) -> Result<Option<Point>> {
        for _ in 0..SHRINK {
            let step = between(&best, &other);
            if step == best.step || step == other.step {
                break;
            }
            let place = self.place(line, step).await?;
            if !self.decreases(line, &place) || self.is_above(line, &place, &best) {
                other = place;
                continue;
            }
            if is_flat(line, &place) {
                return Ok(Some(place.point));
            }
            if place.slope * (other.step - best.step) >= 0.0 {
                other = best;
            }
            best = place;
        }
        Ok((best.step > 0.0 && best.point.value < line.from.value).then_some(best.point))
    }

    async fn place(&mut self, line: &Line<'_>, step: f64) -> Result<Place> {
        let x: Vec<f64> = line.from.x.iter().zip(&line.direction).map(|(x, p)| x + step * p).collect();
        let (value, gradient) = (self.function)(&x).await?;
        self.evaluations += 1;
        let slope = dot(&gradient, &line.direction);
        let value = if value.is_finite() && slope.is_finite() { value } else { f64::INFINITY };
        Ok(Place { step, slope, point: Point { x, value, gradient } })
    }

    /// The first condition, or the approximate one where values are equal but for rounding.
    fn decreases(&self, line: &Line<'_>, place: &Place) -> bool {
        let (value, start) = (place.point.value, line.from.value);
        value <= start + DECREASE * place.step * line.slope
            || value <= start + self.noise(line) && place.slope <= (2.0 * DECREASE - 1.0) * line.slope
    }

    fn is_above(&self, line: &Line<'_>, place: &Place, other: &Place) -> bool {
        place.point.value > other.point.value + self.noise(line)
    }

    fn noise(&self, line: &Line<'_>) -> f64 {
        self.rounding * line.from.value.abs()
    }
}

/// The second condition.
fn is_flat(line: &Line<'_>, place: &Place) -> bool {
    place.slope.abs() <= -CURVATURE * line.slope
}

/// The minimum of the cubic through both places and their slopes (equation 3.59), kept a tenth of the interval away from its ends; the middle
/// if the other place has no value.
fn between(best: &Place, other: &Place) -> f64 {
    let (a, b) = (best.step, other.step);
    let middle = 0.5 * (a + b);
    if !other.point.value.is_finite() {
        return middle;
    }
    let one = best.slope + other.slope - 3.0 * (best.point.value - other.point.value) / (a - b);
    let root = (one * one - best.slope * other.slope).sqrt() * (b - a).signum();
    let step = b - (b - a) * (other.slope + root - one) / (other.slope - best.slope + 2.0 * root);
    let (low, high) = (a.min(b), a.max(b));
    let margin = 0.1 * (high - low);
    if step.is_finite() { step.clamp(low + margin, high - margin) } else { middle }
}
