//! CMA-ES, an evolution strategy that adapts the covariance of its draws (Hansen 2016, "The CMA Evolution Strategy: A Tutorial", figure 6): a global
//! search for models with many local minima.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use super::draws::Random;

/// Runs, each with twice the draws of the one before (Auger and Hansen 2005): more draws see more of the minima.
const RUNS: u32 = 4;

/// Where the best of all draws is; each run ends after so many generations or as soon as draws no longer differ.
pub(crate) fn minimise(
    cost: &mut dyn FnMut(&DVector<f64>) -> f64,
    start: &DVector<f64>,
    spread: f64,
    generations: usize,
    random: &mut Random,
) -> DVector<f64> {
    let runs = (0..RUNS).map(|run| self::run(cost, start, spread, generations, 1 << run, random));
    let best = runs.min_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or_else(|| start.clone(), |(_, x)| x)
}

/// The best cost and point of one run with `factor` times the usual number of draws.
fn run(
    cost: &mut dyn FnMut(&DVector<f64>) -> f64,
    start: &DVector<f64>,
    spread: f64,
    generations: usize,
    factor: usize,
    random: &mut Random,
) -> (f64, DVector<f64>) {
    let count = start.len();
    let n = count as f64;
    let drawn = factor * (4 + (3.0 * n.ln()).floor() as usize);
    let kept = drawn / 2;
    let raw: Vec<f64> = (1..=kept).map(|rank| (drawn as f64 / 2.0 + 0.5).ln() - (rank as f64).ln()).collect();
    let total: f64 = raw.iter().sum();
    let weights: Vec<f64> = raw.iter().map(|weight| weight / total).collect();
    let mass = 1.0 / weights.iter().map(|weight| weight * weight).sum::<f64>();
    let path_rate = (4.0 + mass / n) / (n + 4.0 + 2.0 * mass / n);
    let size_rate = (mass + 2.0) / (n + mass + 5.0);
    let one_rate = 2.0 / ((n + 1.3).powi(2) + mass);
    let rest_rate = (1.0 - one_rate).min(2.0 * (mass - 2.0 + 1.0 / mass) / ((n + 2.0).powi(2) + mass));
    let damping = 1.0 + 2.0 * (((mass - 1.0) / (n + 1.0)).sqrt() - 1.0).max(0.0) + size_rate;
    let length = n.sqrt() * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n));

    let (mut mean, mut size) = (start.clone(), spread);
    let mut covariance = DMatrix::<f64>::identity(count, count);
    let (mut path, mut size_path) = (DVector::zeros(count), DVector::zeros(count));
    let mut best = (cost(start), start.clone());
    for generation in 1..=generations {
        let SymmetricEigen { eigenvalues, eigenvectors } = SymmetricEigen::new(covariance.clone());
        let axes = eigenvalues.map(|value| value.max(1e-300).sqrt());
        let mut draws: Vec<(f64, DVector<f64>)> = (0..drawn)
            .map(|_| {
                let z = DVector::from_fn(count, |_, _| random.normal());
                let step = &eigenvectors * axes.component_mul(&z);
                (cost(&(&mean + size * &step)), step)
            })
            .collect();
        draws.sort_by(|a, b| a.0.total_cmp(&b.0));
        if draws[0].0 < best.0 {
            best = (draws[0].0, &mean + size * &draws[0].1);
        }
        let mut step = DVector::zeros(count);
        draws.iter().zip(&weights).for_each(|((_, own), weight)| step += *weight * own);
        mean += size * &step;
        let whitened = &eigenvectors * (eigenvectors.tr_mul(&step)).component_div(&axes);
        size_path = (1.0 - size_rate) * size_path + (size_rate * (2.0 - size_rate) * mass).sqrt() * whitened;
        let decay = 1.0 - (1.0 - size_rate).powi(2 * generation as i32);
        let is_short = size_path.norm() / decay.sqrt() < (1.4 + 2.0 / (n + 1.0)) * length;
        let share = if is_short { (path_rate * (2.0 - path_rate) * mass).sqrt() } else { 0.0 };
        path = (1.0 - path_rate) * path + share * step;
        let lost = if is_short { 0.0 } else { path_rate * (2.0 - path_rate) };
        covariance = (1.0 - one_rate - rest_rate + one_rate * lost) * covariance + one_rate * &path * path.transpose();
        for ((_, own), weight) in draws.iter().zip(&weights) {
            covariance += (rest_rate * weight) * own * own.transpose();
        }
        size *= ((size_rate / damping) * (size_path.norm() / length - 1.0)).exp();
        let is_flat = draws[drawn - 1].0 - draws[0].0 <= 1e-12 * draws[0].0.abs();
        if is_flat || !size.is_finite() || size * axes.amax() < 1e-12 * spread {
            break;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curved_valley_is_followed() {
        // Rosenbrock's function in four variables.
        let mut cost = |x: &DVector<f64>| -> f64 {
            (0..3).map(|at| 100.0 * (x[at + 1] - x[at] * x[at]).powi(2) + (1.0 - x[at]).powi(2)).sum()
        };
        let found = minimise(&mut cost, &DVector::from_element(4, -1.0), 0.5, 2_000, &mut Random(3));
        assert!((found - DVector::from_element(4, 1.0)).amax() < 1e-4);
    }

    #[test]
    fn a_minimum_among_others_is_found() {
        // A parabola with waves on it.
        let mut cost = |x: &DVector<f64>| -> f64 { x.iter().map(|x| x * x + 3.0 - 3.0 * (4.0 * x).cos()).sum() };
        let found = minimise(&mut cost, &DVector::from_element(3, 2.5), 2.0, 500, &mut Random(1));
        assert!(found.amax() < 1e-4, "{found}");
    }
}
