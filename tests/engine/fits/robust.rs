//! Robust losses: outliers, starts among them, and no likelihood.

use super::{DECAY, decay, fitted, problem};
use meromorph::fit::{RobustLoss, SavedFit, report};

#[test]
fn robust_losses_ignore_outliers() {
    let [x, mut y] = decay(300);
    y.iter_mut().step_by(15).for_each(|y| *y += 4.0);
    let data = [x, y];
    let far = |loss| {
        let fit = fitted(&problem(DECAY, &data).unwrap().loss(loss, 0.1).unwrap());
        (fit.value("c").unwrap() - 0.5).abs()
    };
    assert!(far(RobustLoss::Linear) > 0.2);
    for loss in [RobustLoss::SoftL1, RobustLoss::Huber, RobustLoss::Cauchy, RobustLoss::Arctan] {
        assert!(far(loss) < 0.05, "{}: {}", loss.name(), far(loss));
    }
}

#[test]
fn robust_losses_have_no_likelihood() {
    let data = decay(100);
    let problem = problem(DECAY, &data).unwrap().loss(RobustLoss::Cauchy, 0.01).unwrap();
    let fit = fitted(&problem);
    assert!(fit.statistics.aic.is_nan() && fit.statistics.rmse > 0.02 && fit.statistics.r_squared < 0.999);
    let saved = SavedFit::parse(&report(&problem, &fit, "y", 0.0).to_string(), "fit.json").unwrap();
    assert!(saved.predict(&[&[1.0]], 1, 0.95).unwrap().prediction.is_empty());
}

#[test]
fn a_robust_loss_finds_a_start_among_outliers() {
    let [x, mut y] = decay(60);
    y[3] = 5e4;
    let data = [x, y];
    let fit = fitted(&problem(DECAY, &data).unwrap().loss(RobustLoss::Cauchy, 0.1).unwrap());
    assert!((fit.value("a").unwrap() - 3.0).abs() < 0.2, "{:?}", fit.parameters);
}

/// How often intervals of 95 % hold the true slope of a line with normal errors, of which one in eight is eight times as large: 200 draws of 60 rows, or as
/// many as `MERO_COVERAGE` says, within four standard errors of the share, and of 95 % ± 1 % with many.
#[test]
fn robust_intervals_cover_what_they_say() {
    let draws: u32 = std::env::var("MERO_COVERAGE").ok().and_then(|text| text.parse().ok()).unwrap_or(200);
    let x: Vec<f64> = (0..60).map(|row| f64::from(row) / 10.0).collect();
    for loss in [RobustLoss::SoftL1, RobustLoss::Huber, RobustLoss::Cauchy] {
        let mut state = 1_u64;
        let mut unit = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
        };
        let mut held = 0;
        for _ in 0..draws {
            let mut error = || {
                let normal = (-2.0 * unit().ln()).sqrt() * (std::f64::consts::TAU * unit()).cos();
                if unit() < 0.125 { 8.0 * normal } else { normal }
            };
            let y: Vec<f64> = x.iter().map(|x| 1.0 + 2.0 * x + 0.3 * error()).collect();
            let data = [x.clone(), y];
            let fit = fitted(&problem("a + b*x", &data).unwrap().loss(loss, 0.4).unwrap());
            let b = fit.parameters.iter().find(|one| one.name == "b").unwrap();
            let [low, high] = b.interval.unwrap();
            held += u32::from(low <= 2.0 && 2.0 <= high);
        }
        let share = f64::from(held) / f64::from(draws);
        let reach = 0.01 + 4.0 * (0.95 * 0.05 / f64::from(draws)).sqrt();
        assert!((share - 0.95).abs() <= reach, "{}: {share}", loss.name());
    }
}
