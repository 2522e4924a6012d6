//! Trust-region reflective search (Branch, Coleman and Li 1999; Moré 1978 for the step) from the cost, its gradient and JᵀJ alone: no object as
//! long as the data is needed. Points stay strictly within the bounds.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use super::arrow::{Factors, Pattern};
use super::bounds::Bounds;
use super::stop::{Found, Limits, Stop};
use crate::fit::pass::{Bad, Normal, Objective};

/// Relative error of the radius of a step.
const RADIUS_TOLERANCE: f64 = 0.01;
/// A component of the gradient below this share of its largest possible size is a rounding error.
const ZERO_GRADIENT: f64 = 3e-15;

/// Searches from `start`, which is within the bounds.
pub(crate) fn search(
    sums: &dyn Objective,
    (pattern, bounds): (&Pattern, &Bounds),
    start: &DVector<f64>,
    limits: &Limits,
) -> Result<Found, Bad> {
    let mut x = bounds.inside(start, 1e-10);
    let mut normal = sums.normal(x.as_slice())?;
    let (mut evaluations, mut history) = (1, vec![normal.cost]);
    let mut inverse_scale = scales(&normal, None);
    let (space, _) = Space::at(&x, &normal, &inverse_scale, (pattern, bounds));
    let mut radius = x.component_div(&space.stretch).norm();
    if radius == 0.0 {
        radius = 1.0;
    }
    let mut alpha = 0.0;
    let stop = 'search: loop {
        let (space, optimality) = Space::at(&x, &normal, &inverse_scale, (pattern, bounds));
        if optimality == 0.0 {
            break Stop::Gradient;
        }
        if limits.is_shift_small(space.decrement(), normal.cost) {
            break Stop::Shift;
        }
        let theta = (1.0 - optimality).max(0.995);
        loop {
            if evaluations >= limits.evaluations {
                break 'search Stop::Evaluations;
            }
            let step = space.step(&x, radius, &mut alpha, theta, bounds);
            let is_step = step.reduction > limits.noise * normal.cost && step.scaled.norm() > 0.0;
            if !is_step {
                break 'search Stop::Cost;
            }
            let trial = bounds.inside(&(&x + &step.step), 0.0);
            evaluations += 1;
            let length = step.scaled.norm();
            let next = match sums.normal(trial.as_slice()) {
                Ok(next) => next,
                Err(Bad::Rows { .. }) => {
                    radius = 0.25 * length;
                    continue;
                }
                Err(bad) => return Err(bad),
            };
            let actual = normal.cost - next.cost;
            let ratio = actual / step.reduction;
            let before = radius;
            if ratio < 0.25 {
                radius = 0.25 * length;
            } else if ratio > 0.75 && length > 0.95 * radius {
                radius *= 2.0;
            }
            alpha *= before / radius;
            let is_flat = actual.abs() < limits.cost * normal.cost && ratio > 0.25;
            let is_short = step.step.norm() < limits.step * (limits.step + x.norm());
            if actual > 0.0 {
                (x, normal) = (trial, next);
                history.push(normal.cost);
                inverse_scale = scales(&normal, Some(&inverse_scale));
            }
            if is_flat || is_short {
                break 'search if is_flat { Stop::Cost } else { Stop::Step };
            }
            if actual > 0.0 {
                break;
            }
        }
    };
    Ok(Found { x, normal, evaluations, stop, history })
}

/// The norms of the columns of J, the largest so far; 1 for a column of zeros.
fn scales(normal: &Normal, before: Option<&DVector<f64>>) -> DVector<f64> {
    let norms = normal.hessian.diagonal().map(f64::sqrt);
    match before {
        None => norms.map(|norm| if norm == 0.0 { 1.0 } else { norm }),
        Some(before) => norms.zip_map(before, f64::max),
    }
}

/// The problem around a point in scaled variables, x = stretch · x_scaled.
struct Space<'p> {
    stretch: DVector<f64>,
    gradient: DVector<f64>,
    hessian: DMatrix<f64>,
    damped: Damped<'p>,
    /// The minimum of the quadratic model; `None` if H is singular along a direction in which the cost falls.
    whole: Option<Minimum>,
}

/// Where gᵀp + ½ pᵀ(H + α)p is smallest.
struct Minimum {
    step: DVector<f64>,
    length: f64,
    /// pᵀ (H + α)⁻¹ p.
    bent: f64,
}

/// How the minima for different dampings α are found.
enum Damped<'p> {
    /// By the eigenvalues of H, which serve every α and also a singular H.
    Spectrum {
        values: DVector<f64>,
        vectors: DMatrix<f64>,
        /// The gradient in the basis of the eigenvectors.
        turned: DVector<f64>,
    },
    /// By elimination for each α: where H has a pattern, eigenvalues cost far more.
    Elimination(&'p Pattern),
}

struct Step {
    step: DVector<f64>,
    scaled: DVector<f64>,
    /// What the quadratic model predicts.
    reduction: f64,
}

impl<'p> Space<'p> {
    /// Also returns the optimality: the largest component of the gradient times the distance to the bound that it points away from.
    fn at(
        x: &DVector<f64>,
        normal: &Normal,
        inverse_scale: &DVector<f64>,
        (pattern, bounds): (&'p Pattern, &Bounds),
    ) -> (Self, f64) {
        let gradient = &normal.gradient;
        let (distance, slope) = bounds.distances(x, gradient);
        let optimality = gradient.component_mul(&distance).amax();
        let count = x.len();
        let stretch = DVector::from_fn(count, |at, _| {
            let distance = if slope[at] == 0.0 { distance[at] } else { distance[at] * inverse_scale[at] };
            distance.sqrt() / inverse_scale[at]
        });
        let mut hessian = DMatrix::from_fn(count, count, |i, j| stretch[i] * normal.hessian[(i, j)] * stretch[j]);
        for at in 0..count {
            hessian[(at, at)] += gradient[at] * slope[at] / inverse_scale[at];
        }
        let gradient = gradient.component_mul(&stretch);
        let (damped, is_regular) = if pattern.is_dense() {
            let SymmetricEigen { eigenvalues, eigenvectors } = SymmetricEigen::new(hessian.clone());
            let values = eigenvalues.map(|value| value.max(0.0));
            let mut turned = eigenvectors.tr_mul(&gradient);
            let least = 10.0 * count as f64 * f64::EPSILON * values.max();
            // The gradient along a direction that changes no residual is a rounding error.
            let zero = ZERO_GRADIENT * (2.0 * normal.cost * values.max()).sqrt();
            let singular = turned.iter_mut().zip(&values).filter(|(_, value)| **value <= least);
            singular.filter(|(turned, _)| turned.abs() <= zero).for_each(|(turned, _)| *turned = 0.0);
            let is_regular = turned.iter().zip(&values).all(|(turned, value)| *value > least || *turned == 0.0);
            (Damped::Spectrum { values, vectors: eigenvectors, turned }, is_regular)
        } else {
            (Damped::Elimination(pattern), true)
        };
        let mut space = Self { stretch, gradient, hessian, damped, whole: None };
        space.whole = if is_regular { space.minimum(0.0) } else { None };
        (space, optimality)
    }

    /// gᵀ H⁻¹ g, infinite if there is no minimum.
    fn decrement(&self) -> f64 {
        match (&self.whole, &self.damped) {
            (None, _) => f64::INFINITY,
            (Some(_), Damped::Spectrum { values, turned, .. }) => {
                let moving = turned.iter().zip(values).filter(|(turned, _)| **turned != 0.0);
                moving.map(|(turned, value)| turned * turned / value).sum()
            }
            (Some(whole), Damped::Elimination(_)) => -self.gradient.dot(&whole.step),
        }
    }

    /// The minimum with a damping; `None` if H + α is singular.
    fn minimum(&self, alpha: f64) -> Option<Minimum> {
        match &self.damped {
            Damped::Spectrum { values, vectors, turned } => {
                let part = |turned: f64, value: f64| if turned == 0.0 { 0.0 } else { -turned / (value + alpha) };
                let parts = turned.zip_map(values, part);
                let moving = parts.iter().zip(values).filter(|(part, _)| **part != 0.0);
                let bent = moving.map(|(part, value)| part * part / (value + alpha)).sum();
                Some(Minimum { length: parts.norm(), step: vectors * parts, bent })
            }
            Damped::Elimination(pattern) => {
                let factors = Factors::of(pattern, &self.hessian, |_| alpha)?;
                let step = -factors.solve(&self.gradient);
                let bent = step.dot(&factors.solve(&step));
                Some(Minimum { length: step.norm(), step, bent })
            }
        }
    }

    /// gᵀp + ½ pᵀHp.
    fn model(&self, scaled: &DVector<f64>) -> f64 {
        self.gradient.dot(scaled) + 0.5 * scaled.dot(&(&self.hessian * scaled))
    }

    /// The minimum of the quadratic model within the radius; `alpha` is the damping, kept from step to step.
    fn within(&self, radius: f64, alpha: &mut f64) -> DVector<f64> {
        let mut lower = 0.0;
        if let Some(whole) = &self.whole {
            if whole.length <= radius {
                *alpha = 0.0;
                return whole.step.clone();
            }
            // The excess of the length over the radius, over its derivative.
            lower = (whole.length - radius) / (whole.bent / whole.length);
        }
        let mut upper = self.gradient.norm() / radius;
        let restart = |lower: f64, upper: f64| (0.001 * upper).max((lower * upper).sqrt());
        if *alpha == 0.0 {
            *alpha = restart(lower, upper);
        }
        for _ in 0..10 {
            if !(lower..=upper).contains(alpha) {
                *alpha = restart(lower, upper);
            }
            let Some(minimum) = self.minimum(*alpha) else {
                lower = *alpha;
                *alpha = restart(lower, upper);
                continue;
            };
            let over = minimum.length - radius;
            if over < 0.0 {
                upper = *alpha;
            }
            let newton = over / (-minimum.bent / minimum.length);
            lower = lower.max(*alpha - newton);
            *alpha -= (over + radius) * newton / radius;
            if over.abs() < RADIUS_TOLERANCE * radius {
                break;
            }
        }
        match self.minimum(*alpha) {
            Some(Minimum { step, length, .. }) => step * (radius / length),
            None => -&self.gradient * (radius / self.gradient.norm()),
        }
    }

    /// The best of three steps: along the trust region's to the first bound, reflected there, and against the gradient.
    fn step(&self, x: &DVector<f64>, radius: f64, alpha: &mut f64, theta: f64, bounds: &Bounds) -> Step {
        let scaled = self.within(radius, alpha);
        let step = scaled.component_mul(&self.stretch);
        if bounds.hold(&(x + &step)) {
            let reduction = -self.model(&scaled);
            return Step { step, scaled, reduction };
        }
        let (stride, hits) = bounds.stride(x, &step);
        let to_bound = &scaled * stride;
        let candidates = [
            Some(&to_bound * theta),
            self.reflected((x, &step), (&scaled, stride, &hits), radius, theta, bounds),
            Some(self.steepest(x, radius, theta, bounds)),
        ];
        let valued = candidates.into_iter().flatten().map(|scaled| (self.model(&scaled), scaled));
        let finite = valued.filter(|(value, _)| value.is_finite());
        let none = || (0.0, DVector::zeros(x.len()));
        let (value, scaled) = finite.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_else(none);
        Step { step: scaled.component_mul(&self.stretch), scaled, reduction: -value }
    }

    fn reflected(
        &self,
        (x, step): (&DVector<f64>, &DVector<f64>),
        (scaled, stride, hits): (&DVector<f64>, f64, &[bool]),
        radius: f64,
        theta: f64,
        bounds: &Bounds,
    ) -> Option<DVector<f64>> {
        let turned = DVector::from_fn(scaled.len(), |at, _| if hits[at] { -scaled[at] } else { scaled[at] });
        let reached = scaled * stride;
        let to_radius = distance_to_radius(&reached, &turned, radius)?;
        let (to_bound, _) = bounds.stride(&(x + step * stride), &turned.component_mul(&self.stretch));
        let longest = to_bound.min(to_radius);
        if longest.is_nan() || longest <= 0.0 {
            return None;
        }
        let low = (1.0 - theta) * stride / longest;
        let high = if longest == to_bound { theta * to_bound } else { to_radius };
        (low <= high).then(|| &reached + &turned * self.best_along(&reached, &turned, low, high))
    }

    fn steepest(&self, x: &DVector<f64>, radius: f64, theta: f64, bounds: &Bounds) -> DVector<f64> {
        let against = -&self.gradient;
        let to_radius = radius / against.norm();
        let (to_bound, _) = bounds.stride(x, &against.component_mul(&self.stretch));
        let high = if to_bound < to_radius { theta * to_bound } else { to_radius };
        let none = DVector::zeros(x.len());
        &against * self.best_along(&none, &against, 0.0, high)
    }

    /// The length in [low, high] at which the model along `direction` from `from` is smallest.
    fn best_along(&self, from: &DVector<f64>, direction: &DVector<f64>, low: f64, high: f64) -> f64 {
        let bent = &self.hessian * direction;
        let (curvature, slope) = (direction.dot(&bent), self.gradient.dot(direction) + from.dot(&bent));
        let value = |t: f64| t * (slope + 0.5 * t * curvature);
        // Sizes near the ends of the range make a number infinite or NaN.
        if high.is_nan() || high <= low {
            return low;
        }
        let lowest = if curvature > 0.0 { (-slope / curvature).clamp(low, high) } else { high };
        [low, high, lowest].into_iter().min_by(|a, b| value(*a).total_cmp(&value(*b))).unwrap_or(low)
    }
}

/// How far along `direction` from `from`, which is within the radius, the radius is reached.
fn distance_to_radius(from: &DVector<f64>, direction: &DVector<f64>, radius: f64) -> Option<f64> {
    let (a, b, c) = (direction.norm_squared(), from.dot(direction), from.norm_squared() - radius * radius);
    let root = (b * b - a * c).max(0.0).sqrt();
    // The root without cancellation.
    let q = -(b + root.copysign(b));
    let [one, other] = [q / a, if q == 0.0 { 0.0 } else { c / q }];
    (a > 0.0).then(|| one.max(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::{Formula, Problem, SolveOptions, solve};

    /// Only a d is determined: the other parameters, and the cost, are those of the model with one parameter for it.
    #[test]
    fn a_direction_without_effect_does_not_end_the_search() {
        let x: Vec<f64> = (0..50).map(|row| f64::from(row) * 0.08).collect();
        let y: Vec<f64> = x.iter().map(|x| 2.5 * (-1.3 * x).exp() + 0.5 + 0.2 * (37.0 * x * x).sin()).collect();
        let solved = |text: &str| {
            let formula = Formula::parse(text, &["x"]).unwrap();
            let problem = Problem::new(formula.clone(), &[("x", &x)], &y).unwrap();
            let problem = formula.parameters().iter().fold(problem, |problem, name| problem.start(name, 1.0).unwrap());
            solve(&problem, &SolveOptions::default()).unwrap()
        };
        let (twice, once) = (solved("a*d*exp(-b*x) + c"), solved("a*exp(-b*x) + c"));
        let near = |a: f64, b: f64| (a - b).abs() < 1e-6 * b.abs();
        assert!(near(twice.value("a").unwrap() * twice.value("d").unwrap(), once.value("a").unwrap()));
        assert!(["b", "c"].iter().all(|name| near(twice.value(name).unwrap(), once.value(name).unwrap())));
        assert_eq!(twice.undetermined, ["a and d separately"]);
    }

    /// With the distance d to the bound that −g points to and the norm n of the column, x = √(d n) / n · x_scaled, and g d' / n is added to the
    /// diagonal, which is positive: d' = 1 and g > 0 at a lower bound, d' = -1 and g < 0 at an upper one. Without a bound, x = x_scaled / n alone.
    #[test]
    fn a_bound_ahead_adds_the_term_of_coleman_and_li() {
        let vector = |values: &[f64]| DVector::from_column_slice(values);
        let (low, high) = (vector(&[0.0, f64::NEG_INFINITY, -1.0]), vector(&[f64::INFINITY, 5.0, f64::INFINITY]));
        let bounds = Bounds { low, high };
        let hessian = DMatrix::from_row_slice(3, 3, &[4.0, 1.0, 0.5, 1.0, 9.0, 3.0, 0.5, 3.0, 4.0]);
        let gradient = vector(&[4.0, -6.0, -5.0]);
        let normal = Normal { gradient, hessian, ..Normal::zeros(3) };
        // d = 8, 3 and none; n = 2, 3, 2.
        let x = vector(&[8.0, 2.0, 0.0]);
        let pattern = Pattern::dense(3);
        let (space, optimality) = Space::at(&x, &normal, &scales(&normal, None), (&pattern, &bounds));
        assert_eq!(optimality, 32.0);
        assert_eq!(space.stretch, vector(&[2.0, 1.0, 0.5]));
        assert_eq!(space.gradient, vector(&[8.0, -6.0, -2.5]));
        // 4·2² + 4/2, 9·1² + 6/3 and 4·½².
        let expected = [18.0, 2.0, 0.5, 2.0, 11.0, 1.5, 0.5, 1.5, 1.0];
        assert_eq!(space.hessian, DMatrix::from_row_slice(3, 3, &expected));
    }
}
