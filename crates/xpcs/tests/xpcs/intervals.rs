//! Derivatives by hand, and how often intervals cover the truth.

use crate::{CONVENTIONS, at_truth, pairs, small};
use meromorph::fit::{Fit, SolveOptions};
use meromorph::internal::host::in_threads;
use meromorph_xpcs::{Experiment, Fitting, Flow, Model, SincArgument, Synthetic};
use nalgebra::{DMatrix, SVD};

/// The derivatives of g2 by the parameters, by hand, for one pair of times: those of the integrals times those of g2 by the integrals.
fn slopes(made: &Synthetic, experiment: &Experiment, [angle, i, j]: [usize; 3]) -> Vec<(&'static str, f64)> {
    let value = |name: &str| made.value(name);
    let dt = experiment.dt;
    let integral = |f: &dyn Fn(f64) -> f64| -> f64 {
        let steps = experiment.t[i..=j].windows(2);
        steps.map(|t| 0.5 * (t[1] - t[0]) * (f(t[0].max(dt / 2.0)) + f(t[1].max(dt / 2.0)))).sum()
    };
    let [contrast, d0, alpha, offset] = ["contrast", "D0", "alpha", "D_offset"].map(value);
    let square = experiment.q * experiment.q;
    let diffusion = integral(&|t| d0 * t.powf(alpha) + offset);
    let e = (-square * diffusion).exp();
    let (sinc, sinc_slope, power, factor) = if made.model.flow == Flow::Laminar {
        let [start, beta, offset, phi0] = ["gamma_dot_0", "beta", "gamma_dot_offset", "phi0"].map(value);
        let delta = (phi0 - experiment.phi[angle]).to_radians();
        let b = experiment.q * experiment.gap.unwrap()
            / if made.model.convention.argument == SincArgument::Half { 2.0 } else { std::f64::consts::TAU };
        let x = b * delta.cos() * integral(&|t| start * t.powf(beta) + offset);
        (x.sin() / x, (x * x.cos() - x.sin()) / (x * x), 2 * made.model.convention.power as i32, b)
    } else {
        (1.0, 0.0, 1, 0.0)
    };
    let w = e * sinc.powi(power);
    let mut all = vec![
        ("contrast", w),
        ("offset", 1.0),
        ("D0", -contrast * square * w * integral(&|t| t.powf(alpha))),
        ("alpha", -contrast * square * w * integral(&|t| d0 * t.powf(alpha) * t.ln())),
        ("D_offset", -contrast * square * w * integral(&|_| 1.0)),
    ];
    if made.model.flow == Flow::Laminar {
        let [start, beta, offset, phi0] = ["gamma_dot_0", "beta", "gamma_dot_offset", "phi0"].map(value);
        let delta = (phi0 - experiment.phi[angle]).to_radians();
        let outer = contrast * e * f64::from(power) * sinc.powi(power - 1) * sinc_slope * factor;
        let shear = integral(&|t| start * t.powf(beta) + offset);
        all.extend([
            ("gamma_dot_0", outer * delta.cos() * integral(&|t| t.powf(beta))),
            ("beta", outer * delta.cos() * integral(&|t| start * t.powf(beta) * t.ln())),
            ("gamma_dot_offset", outer * delta.cos() * integral(&|_| 1.0)),
            ("phi0", -outer * delta.sin() * 1.0_f64.to_radians() * shear),
        ]);
    }
    all
}

#[test]
fn the_covariance_is_that_of_derivatives_by_hand() {
    for (flow, convention) in [Flow::Static, Flow::Laminar].into_iter().flat_map(|flow| CONVENTIONS.map(|c| (flow, c)))
    {
        let made = small(flow, 0.001);
        let made = Synthetic { model: Model { convention, ..made.model }, ..made };
        let experiment = made.experiment().unwrap();
        let fit = at_truth(&made).solve(&experiment).unwrap().fit;
        // The derivatives where the fit ended.
        let truth = made.truth.iter().map(|(name, _)| (*name, fit.value(name).unwrap())).collect();
        let found = Synthetic { truth, ..made };
        let rows = pairs(&experiment);
        let slopes: Vec<Vec<(&str, f64)>> = rows.iter().map(|at| slopes(&found, &experiment, *at)).collect();
        let column = |row: usize, at: usize| slopes[row].iter().find(|(name, _)| *name == fit.free[at]).unwrap().1;
        let free = fit.free.len();
        let scales: Vec<f64> =
            (0..free).map(|at| (0..rows.len()).map(|row| column(row, at).powi(2)).sum::<f64>().sqrt()).collect();
        let jacobian = DMatrix::from_fn(rows.len(), free, |row, at| column(row, at) / scales[at]);
        let svd = SVD::new(jacobian, false, true);
        let v_t = svd.v_t.unwrap();
        let variance = 2.0 * fit.cost / fit.dof as f64;
        for i in 0..free {
            for j in 0..free {
                let sum: f64 = (0..free).map(|k| v_t[(k, i)] * v_t[(k, j)] / svd.singular_values[k].powi(2)).sum();
                let expected = variance * sum / (scales[i] * scales[j]);
                let size = (fit.covariance[i][i] * fit.covariance[j][j]).sqrt();
                let apart = (fit.covariance[i][j] - expected).abs() / size;
                assert!(apart < 1e-8, "{flow:?} {convention:?} {} {}: {apart:e}", fit.free[i], fit.free[j]);
            }
        }
    }
}

/// For each parameter the share of fits whose interval, made longer by a factor, covers the truth.
fn coverage(fits: &[Fit], truth: &Synthetic, factor: f64) -> Vec<(String, f64)> {
    let share = |at: usize| {
        let is_covered = |fit: &&Fit| {
            let one = &fit.parameters[at];
            let [low, high] = one.interval.expect("an interval");
            (one.value - truth.value(&one.name)).abs() <= factor * 0.5 * (high - low)
        };
        fits.iter().filter(is_covered).count() as f64 / fits.len() as f64
    };
    fits[0].parameters.iter().enumerate().map(|(at, one)| (one.name.clone(), share(at))).collect()
}

/// Sets of data of each flow. The coverage of 2,000 has a standard error of half a percent, so that one of 14 parameters would be outside of 94 to
/// 96 % by chance; with 8,000 it is a quarter.
const SETS: u64 = 8_000;

#[test]
#[cfg_attr(debug_assertions, ignore = "minutes without optimisation, seconds with it")]
fn intervals_cover_the_truth_as_often_as_they_say() {
    for flow in [Flow::Static, Flow::Laminar] {
        let made = Synthetic { phi: vec![0.0, 30.0, 75.0, 120.0], times: 12, dt: 0.5, ..small(flow, 2e-4) };
        let seeds: Vec<u64> = (0..SETS).collect();
        let fits: Vec<Fit> = in_threads(&seeds, |seed| {
            let made = Synthetic { seed: *seed, ..made.clone() };
            let options = SolveOptions { threads: 1, ..SolveOptions::default() };
            let fitting = Fitting { options, ..at_truth(&made) };
            fitting.solve(&made.experiment().unwrap()).unwrap().fit
        });
        assert!(fits.iter().all(|fit| fit.stop.is_converged()));
        let shares = coverage(&fits, &made, 1.0);
        assert!(shares.iter().all(|(_, share)| (0.94..=0.96).contains(share)), "{flow:?}: {shares:?}");
        // Intervals that are a tenth too short or too long would be noticed, for every parameter.
        for factor in [0.9, 1.1] {
            for (name, share) in coverage(&fits, &made, factor) {
                assert!(!(0.94..=0.96).contains(&share), "{flow:?} {name}: {share} with {factor}");
            }
        }
        // Σ r² / σ² is distributed as χ².
        let mean = fits.iter().map(|fit| 2.0 * fit.cost / made.noise.powi(2)).sum::<f64>() / SETS as f64;
        let dof = fits[0].dof as f64;
        assert!((mean - dof).abs() < 4.0 * (2.0 * dof / SETS as f64).sqrt(), "{mean} {dof}");
    }
}
