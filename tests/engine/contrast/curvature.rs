//! R from a tensor of rank 4, worked by hand, and that the diagonal form is the dense one.

use super::oracle::tasks::Task;
use super::scalar::{rule, trainer};
use crate::devices::devices;
use crate::noise::noise;
use meromorph::Result;
use meromorph::autograd::Var;
use meromorph::contrast::{Collapse, Curvature, ScalarRule, collapsed, collapsed_diagonal};
use meromorph::device::Device;
use meromorph::tensor::Tensor;
use pollster::block_on;

fn values(device: &Device, shape: &[usize], values: &[f32]) -> Result<Var> {
    Ok(Var::constant(Tensor::from_f32(device, shape.to_vec(), values)?))
}

fn read(var: &Var) -> Result<Vec<f32>> {
    block_on(var.value().to_f32())
}

#[test]
fn a_collapse_is_the_one_worked_by_hand() -> Result<()> {
    for device in devices(&[1]) {
        // R4[0, 1, 0, 1] = 3 and R4[1, 0, 0, 1] = -8, at 2·(2·(2·0 + 1) + 0) + 1 = 5 and 2·(2·(2·1 + 0) + 0) + 1 = 9.
        let mut tensor = vec![0.0; 16];
        (tensor[5], tensor[9]) = (3.0, -8.0);
        let tensor = values(&device, &[1, 16], &tensor)?;
        let inverse = values(&device, &[2, 2], &[2.0, 0.5, 0.5, 4.0])?;
        // (g00 g11 · 3 - g10 g01 · 8) / 4 = (24 - 2) / 4.
        let r = read(&collapsed(&tensor, &inverse, 0.25))?[0];
        assert!((r - (5.5_f32 + 0.25).sqrt()).abs() < 1e-5, "{r}");
        // Without the other entry: 24 / 4.
        let r = read(&collapsed_diagonal(&tensor, &values(&device, &[2], &[2.0, 4.0])?, 0.25))?;
        assert!((r[0] - 6.25_f32.sqrt()).abs() < 1e-5, "{r:?}");
    }
    Ok(())
}

#[test]
fn the_diagonal_form_is_the_dense_one() -> Result<()> {
    for device in devices(&[1, 2]) {
        let tensor = values(&device, &[3, 8 * 512], &noise(3 * 8 * 512, 5))?;
        let diagonal: Vec<f32> = (0..8_u8).map(|i| 0.3 + f32::from(i)).collect();
        let dense: Vec<f32> = (0..64).map(|at| if at / 8 == at % 8 { diagonal[at / 8] } else { 0.0 }).collect();
        let dense = read(&collapsed(&tensor, &values(&device, &[8, 8], &dense)?, 1e-8))?;
        let short = read(&collapsed_diagonal(&tensor, &values(&device, &[8], &diagonal)?, 1e-8))?;
        assert_eq!(short.len(), 3);
        for (a, b) in dense.iter().zip(&short) {
            assert!((a - b).abs() < 1e-5 * a && *a > 0.0, "{dense:?} {short:?}");
        }
    }
    Ok(())
}

/// With R4[μ, ν, μ, ν] = 1, R = Σ 1/g / n: 1 before the first update, and larger once weights have fallen.
#[test]
fn a_rule_follows_its_metric() -> Result<()> {
    let mut tensor = vec![0.0; 8 * 512];
    (0..64).for_each(|at| tensor[at * 65] = 1.0);
    let curvature = Curvature::Collapse(Collapse { tensor, epsilon: 1e-8 });
    let rule = ScalarRule { rate: 0.1, steps: 4, curvature, ..rule()? };
    let mut trainer = trainer(&Device::cpu(1), &Task::control(1, 64), 20, rule)?;
    let mut expected = 1.0;
    for _ in 0..20 {
        trainer.advance(1)?;
        let r = block_on(trainer.source_blocks())?[0].values[3];
        assert!((r - expected).abs() < 1e-4 * expected, "got {r}, expected {expected}");
        let metric = super::rule::geometry(&trainer)?.metric;
        expected = (metric.iter().map(|g| 1.0 / g).sum::<f64>() / 8.0) as f32;
    }
    assert!(expected > 1.02, "{expected}");
    Ok(())
}

#[test]
fn curvatures_that_do_not_fit_are_errors() -> Result<()> {
    let said = |curvature: Curvature| {
        let rule = ScalarRule { steps: 3, curvature, ..rule()? };
        Ok::<String, meromorph::Error>(rule.network().map(drop).expect_err("it does not fit").to_string())
    };
    let short = said(Curvature::Each(vec![1.0; 2]))?;
    assert_eq!(short, "contrast: curvature: got 2 numbers, expected one for each of 3 steps");
    let small = said(Curvature::Collapse(Collapse { tensor: vec![0.0; 16], epsilon: 1e-8 }))?;
    assert_eq!(small, "contrast: curvature: got a tensor of 16 numbers, expected 4096, 8^4");
    let none = said(Curvature::Constant(f32::NAN))?;
    assert_eq!(none, "contrast: curvature: got NaN, expected a finite number of at least 0");
    Ok(())
}
