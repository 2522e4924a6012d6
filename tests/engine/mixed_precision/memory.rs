//! Half the bytes between the passes, also where results are computed again.

use super::{data, deep, f16, settings, smooth};
use crate::devices::devices;
use meromorph::Device;
use meromorph::device::Recompute;
use meromorph::train::{GradientConfig, Half, MixedPrecision, Trainer, TrainerConfig};
use pollster::block_on;

#[test]
fn steps_keep_half_the_bytes() {
    let device = Device::dry();
    let bytes = |layers: usize, precision: Option<MixedPrecision>| {
        let config = TrainerConfig { batch: 256, ..settings(precision) };
        let mut trainer = Trainer::new(&device, deep(layers, 256), config, data(256, smooth)).expect("a trainer");
        trainer.prepare().expect("plans");
        trainer.step_summary().transient_bytes
    };
    for format in [Half::F16, Half::Bf16] {
        let half = |layers| bytes(layers, Some(MixedPrecision::new(format)));
        // What more layers add is kept between the passes; results at work are in 32 bits.
        assert_eq!(2 * (half(50) - half(24)), bytes(50, None) - bytes(24, None), "{format:?}");
        for layers in [12, 24, 50] {
            let share = half(layers) as f64 / bytes(layers, None) as f64;
            assert!(share < 0.5 + 3.0 / layers as f64, "{layers} layers in {format:?}: {share:.3}");
        }
    }
}

#[test]
fn it_goes_with_recomputation_accumulation_and_limits() {
    for device in devices(&[1]) {
        let bits = |recompute| {
            let gradients =
                GradientConfig { clip: Some(meromorph::train::Clip::Norm { most: 0.1 }), ..GradientConfig::default() };
            let config = TrainerConfig { recompute, accumulate: 2, gradients, ..settings(Some(f16())) };
            let mut trainer = Trainer::new(&device, deep(6, 32), config, data(256, smooth)).expect("a trainer");
            trainer.advance(6).expect("steps");
            block_on(trainer.parameters()).expect("parameters")
        };
        let expected = bits(Recompute::Nothing);
        for recompute in [Recompute::Every(2), Recompute::Root] {
            assert_eq!(bits(recompute), expected, "{}: {recompute:?}", device.info().name);
        }
    }
}

#[test]
fn cheap_launches_are_judged_without_their_packing() {
    let device = Device::dry();
    let again = |precision: Option<MixedPrecision>| {
        let config = TrainerConfig { recompute: Recompute::Cheap(100_000), batch: 256, ..settings(precision) };
        let mut trainer = Trainer::new(&device, deep(6, 64), config, data(256, smooth)).expect("a trainer");
        trainer.prepare().expect("plans");
        trainer.step_summary().recomputed.1.flops
    };
    // Products of 256 rows and 64 units have two million operations.
    assert!(again(None) < 200_000 && again(Some(f16())) < 400_000, "{} and {}", again(None), again(Some(f16())));
}
