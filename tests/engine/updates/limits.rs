//! Limits of gradients by norm, tensor and value, and the norms that are reported.

use super::{KINDS, advanced, clip, moved, norm, settings, spec, trainer};
use crate::devices::devices;
use meromorph::nn::Layout;
use meromorph::train::{Clip, Flow, GradientConfig, StepKind};
use meromorph::{Device, Result};
use pollster::block_on;

#[test]
fn a_long_gradient_is_shortened_and_a_short_one_is_not() {
    for device in devices(&[1, 2]) {
        for kind in KINDS {
            let free = moved(&advanced(&mut trainer(&device, settings(GradientConfig::default(), kind)), 1));
            let whole = norm(&free) / 0.5;
            for (most, expected) in [(whole * 0.25, whole * 0.25), (whole * 4.0, whole)] {
                let mut limited = trainer(&device, settings(clip(Clip::Norm { most }), kind));
                let step = moved(&advanced(&mut limited, 1));
                assert!(
                    (norm(&step) / 0.5 - expected).abs() < 1e-5 * expected,
                    "{kind:?} {most}: {}",
                    norm(&step) / 0.5
                );
                let cosine = step.iter().zip(&free).map(|(a, b)| a * b).sum::<f64>() / norm(&step) / norm(&free);
                assert!(cosine > 1.0 - 1e-6, "{kind:?}: the direction stays, got {cosine}");
            }
        }
    }
}

#[test]
fn limits_by_tensor_and_by_value_hold() {
    for device in devices(&[2]) {
        for kind in KINDS {
            let free = moved(&advanced(&mut trainer(&device, settings(GradientConfig::default(), kind)), 1));
            let layout = Layout::of(&spec());
            let by_tensor = clip(Clip::Tensor { most: 0.05 });
            let step = moved(&advanced(&mut trainer(&device, settings(by_tensor, kind)), 1));
            for parameter in &layout.parameters {
                let range = parameter.offset..parameter.offset + parameter.shape.len();
                let expected = (norm(&free[range.clone()]) / 0.5).min(0.05);
                let got = norm(&step[range]) / 0.5;
                assert!(
                    (got - expected).abs() < 1e-4 * expected + 1e-7,
                    "{kind:?} {}: {got} {expected}",
                    parameter.name
                );
            }
            let by_value = GradientConfig { clip_value: Some(0.01), ..GradientConfig::default() };
            let step = moved(&advanced(&mut trainer(&device, settings(by_value, kind)), 1));
            for (got, free) in step.iter().zip(&free) {
                assert!((got - free.clamp(-0.005, 0.005)).abs() < 1e-6, "{kind:?}: {got} {free}");
            }
        }
    }
}

#[test]
fn a_limited_step_is_three_launches_and_allocates_nothing() {
    for device in devices(&[1]) {
        let mut limited = trainer(&device, settings(clip(Clip::Norm { most: 1.0 }), StepKind::Fused));
        let names: Vec<&str> = limited.step_summary().launches.iter().map(|launch| launch.kernel).collect();
        assert_eq!(names, ["mlp_step", "fold", "optimise"]);
        limited.advance(3).expect("an epoch");
        let before = device.counters();
        limited.advance(2).expect("steps");
        let after = device.counters();
        assert_eq!(after.live_bytes, before.live_bytes);
        assert_eq!(after.bind_groups, before.bind_groups);
        assert_eq!(after.readbacks, before.readbacks);
    }
}

#[test]
fn norms_are_reported_with_a_limit_from_past_ones() {
    let mut config = settings(clip(Clip::Adaptive { deviations: 2.0, most: 1e6 }), StepKind::Fused);
    config.epochs = 6;
    config.lr = 0.05;
    let device = Device::cpu(1);
    let mut adaptive = trainer(&device, config);
    block_on(adaptive.run(&mut |_| Flow::Continue)).expect("a run");
    let reports: Vec<_> = adaptive.history().iter().filter_map(|epoch| epoch.gradients).collect();
    assert_eq!(reports.len(), 6);
    assert!(reports.iter().all(|report| report.updates == 3 && report.skipped == 0 && report.largest_norm > 0.0));
}

#[test]
fn norms_are_those_of_the_epoch_although_steps_were_made_before() -> Result<()> {
    let mut trainer = trainer(&Device::cpu(1), settings(clip(Clip::Norm { most: 1.0 }), StepKind::Fused));
    trainer.advance(3)?;
    block_on(trainer.run(&mut |_| Flow::Continue))?;
    let updates: Vec<u64> =
        trainer.history().iter().filter_map(|epoch| epoch.gradients).map(|one| one.updates).collect();
    assert_eq!(updates, [3, 3]);
    Ok(())
}
