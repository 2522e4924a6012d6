//! The scale of the loss: how it moves, what it saves, and updates that overflow.

use super::{INPUTS, data, deep, f16, settings, smooth, with_scale};
use crate::devices::devices;
use meromorph::nn::Spec;
use meromorph::optim::Optimizer;
use meromorph::train::{Checkpoint, Flow, GradientConfig, Half, LossScaling, MixedPrecision, Trainer, TrainerConfig};
use meromorph::{Device, Result};
use pollster::block_on;

/// One step is an epoch, over rows in the same order, so that runs can be compared however many updates were left out.
fn whole_batches(device: &Device, precision: MixedPrecision, optimizer: Optimizer) -> Trainer {
    let config = TrainerConfig { batch: 256, optimizer, epochs: 60, ..settings(Some(precision)) };
    let mut trainer = Trainer::new(device, deep(3, 24), config, data(256, smooth)).expect("a trainer");
    trainer.shuffle_with(|_| (0..256).collect());
    trainer
}

/// The parameters after a number of steps, and the scale of the loss.
fn after(trainer: &mut Trainer, steps: usize) -> (Vec<u32>, Option<f64>) {
    for _ in 0..steps {
        block_on(trainer.epoch(&mut |_| Flow::Continue)).expect("an epoch");
    }
    let bits = block_on(trainer.parameters()).expect("parameters").iter().map(|value| value.to_bits()).collect();
    (bits, trainer.history().last().and_then(|epoch| epoch.gradients?.loss_scale))
}

#[test]
fn an_update_that_overflows_is_left_out_as_if_it_had_never_been() {
    for device in devices(&[1, 2]) {
        // The first scale at which nothing overflows, and so the twice as large one does.
        let found = after(
            &mut whole_batches(
                &device,
                with_scale(LossScaling { initial: 2f64.powi(32), ..LossScaling::default() }),
                Optimizer::adamw(1e-2),
            ),
            40,
        )
        .1;
        let fits = found.expect("a scale");
        assert!(fits < 2f64.powi(30), "{fits}");
        let start = |initial| {
            whole_batches(
                &device,
                with_scale(LossScaling { initial, ..LossScaling::default() }),
                Optimizer::adamw(1e-2),
            )
        };
        let untouched = after(&mut start(fits), 0).0;
        let once = after(&mut start(2.0 * fits), 1);
        assert_eq!(once, (untouched, Some(fits)), "{}: an overflow changes nothing but the scale", device.info().name);
        assert_eq!(after(&mut start(2.0 * fits), 6).0, after(&mut start(fits), 5).0, "{}", device.info().name);
    }
}

#[test]
fn the_scale_grows_after_clean_updates_and_stays_within_its_limits() {
    for device in devices(&[1]) {
        let scale = LossScaling { initial: 16.0, growth: 4.0, interval: 3, most: 200.0, ..LossScaling::default() };
        let mut trainer = whole_batches(&device, with_scale(scale), Optimizer::sgd(0.0).expect("a share"));
        let scales: Vec<f64> = (0..10).filter_map(|_| after(&mut trainer, 1).1).collect();
        assert_eq!(scales, [16.0, 16.0, 64.0, 64.0, 64.0, 200.0, 200.0, 200.0, 200.0, 200.0]);
        let least = 2f64.powi(29);
        let scale = LossScaling { initial: 2f64.powi(32), backoff: 0.25, least, ..LossScaling::default() };
        let mut trainer = whole_batches(&device, with_scale(scale), Optimizer::sgd(0.0).expect("a share"));
        assert_eq!(after(&mut trainer, 1).1, Some(2f64.powi(30)));
        // Not even the smallest scale fits.
        let outcome = block_on(trainer.epoch(&mut |_| Flow::Continue)).expect("an epoch");
        assert_eq!(outcome.map(|outcome| outcome.stop), Some(meromorph::train::Stop::Diverged));
    }
}

#[test]
fn a_scale_that_is_a_power_of_two_changes_no_bit_in_bf16() {
    for device in devices(&[1]) {
        let bits = |scale: Option<LossScaling>| {
            let precision = MixedPrecision { scale, ..MixedPrecision::new(Half::Bf16) };
            after(&mut whole_batches(&device, precision, Optimizer::adamw(1e-2)), 4).0
        };
        assert_eq!(
            bits(Some(LossScaling { initial: 1024.0, ..LossScaling::default() })),
            bits(Some(LossScaling { initial: 256.0, ..LossScaling::default() }))
        );
    }
}

#[test]
fn gradients_too_small_for_16_bits_need_the_scale() {
    // Targets so near to each other that gradients are below the smallest f16, 6e-8.
    let tiny = |x: &[f32]| 1e-6 * smooth(x);
    let device = Device::cpu(1);
    let moved = |scale: Option<LossScaling>| {
        let precision = MixedPrecision { scale, ..f16() };
        let config = TrainerConfig {
            batch: 256,
            lr: 1e5,
            optimizer: Optimizer::sgd(0.0).expect("a share"),
            ..settings(Some(precision))
        };
        let mut spec = deep(2, 16);
        // Small weights on top make the gradients below small.
        let data = data(256, tiny);
        spec.layers.truncate(5);
        let mut trainer =
            Trainer::with_parameters(&device, spec.clone(), config, data, &small(&spec)).expect("a trainer");
        let before = block_on(trainer.parameters()).expect("parameters");
        trainer.advance(1).expect("a step");
        let after = block_on(trainer.parameters()).expect("parameters");
        before[..INPUTS * 16].iter().zip(&after).filter(|(a, b)| a != b).count()
    };
    let (without, with) = (moved(None), moved(Some(LossScaling { initial: 2f64.powi(24), ..LossScaling::default() })));
    assert!(with > 2 * without.max(1), "{without} weights of the first layer moved without a scale, {with} with one");
}

/// Weights of which those of the last layer are tiny.
fn small(spec: &Spec) -> Vec<f32> {
    let layout = meromorph::nn::Layout::of(spec);
    let mut flat = meromorph::nn::initialise(&layout, 1);
    let last = layout.parameters.len() - 2;
    let first = layout.parameters[last].offset;
    flat[first..].iter_mut().for_each(|value| *value *= 1e-6);
    flat
}

#[test]
fn epochs_without_an_update_do_not_count_for_patience() -> Result<()> {
    let device = Device::cpu(1);
    let scale = LossScaling { initial: 2f64.powi(32), ..LossScaling::default() };
    let config = TrainerConfig { batch: 256, epochs: 60, patience: 3, ..settings(Some(with_scale(scale))) };
    let mut trainer = Trainer::new(&device, deep(3, 24), config, data(256, smooth))?;
    block_on(trainer.run(&mut |_| Flow::Continue))?;
    let updates: u64 = trainer.history().iter().filter_map(|epoch| epoch.gradients).map(|one| one.updates).sum();
    assert!(trainer.history().len() > 10 && updates > 5, "{} epochs, {updates} updates", trainer.history().len());
    Ok(())
}

#[test]
fn a_run_goes_on_with_the_same_bits() -> Result<()> {
    let device = Device::cpu(1);
    let scale = LossScaling { interval: 3, ..LossScaling::default() };
    let start = || whole_batches(&device, with_scale(scale), Optimizer::adamw(1e-2));
    let expected = after(&mut start(), 9);
    let mut first = start();
    after(&mut first, 4);
    let bytes = block_on(first.checkpoint())?.save(None)?;
    let (checkpoint, _) = Checkpoint::load(&bytes, "half.ckpt")?;
    let mut second = Trainer::resume(&device, data(256, smooth), checkpoint)?;
    second.shuffle_with(|_| (0..256).collect());
    assert_eq!(after(&mut second, 5), expected);
    Ok(())
}

#[test]
fn gradients_are_reported_without_the_scale() {
    let device = Device::cpu(1);
    let flow = |precision| {
        let gradients = GradientConfig { watches: true, ..GradientConfig::default() };
        let config = TrainerConfig { gradients, ..settings(precision) };
        let mut trainer = Trainer::new(&device, deep(3, 24), config, data(256, smooth)).expect("a trainer");
        trainer.advance(3).expect("steps");
        block_on(trainer.gradient_flow()).expect("gradients")
    };
    for (half, whole) in flow(Some(f16())).iter().zip(&flow(None)) {
        assert!((half.rms / whole.rms - 1.0).abs() < 0.02 && half.issue.is_none(), "{half:?} and {whole:?}");
    }
}
