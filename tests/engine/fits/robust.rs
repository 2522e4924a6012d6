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
