//! What happens between the gradients of a step and its update: limits, updates that are left out, groups of parameters, means of weights, a look at
//! sharper places, optimisers that move tensor by tensor.

mod flow;

use crate::devices::devices;
use crate::rows::rows;
use meromorph::nn::{Activation, Layer, Layout, MaskedNorm, Spec};
use meromorph::optim::{Optimizer, Schedule};
use meromorph::train::{
    Checkpoint, Clip, Data, Flow, GradientConfig, ParameterGroup, StepKind, Stop, Trainer, TrainerConfig,
};
use meromorph::{Device, Result};
use pollster::block_on;

fn data(count: usize) -> Data {
    rows(3, [count, count / 2], |x| 2.0 * x[0] - x[1] * x[2])
}

fn spec() -> Spec {
    Spec::mlp(3, &[12, 8], 1, Activation::tanh())
}

/// Plain descent, so that a step is the gradient times the rate.
fn settings(gradients: GradientConfig, step: StepKind) -> TrainerConfig {
    TrainerConfig {
        optimizer: Optimizer::sgd(0.0).expect("a share"),
        schedule: Schedule::CONSTANT,
        lr: 0.5,
        epochs: 2,
        batch: 64,
        patience: 0,
        step: Some(step),
        gradients,
        ..TrainerConfig::default()
    }
}

fn trainer(device: &Device, settings: TrainerConfig) -> Trainer {
    Trainer::new(device, spec(), settings, data(192)).expect("a trainer")
}

/// The parameters before and after a number of steps.
fn advanced(trainer: &mut Trainer, steps: usize) -> [Vec<f32>; 2] {
    let before = block_on(trainer.parameters()).expect("parameters");
    trainer.advance(steps).expect("steps");
    [before, block_on(trainer.parameters()).expect("parameters")]
}

fn moved([before, after]: &[Vec<f32>; 2]) -> Vec<f64> {
    before.iter().zip(after).map(|(before, after)| f64::from(*after) - f64::from(*before)).collect()
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

const KINDS: [StepKind; 2] = [StepKind::Fused, StepKind::Recorded];

fn clip(clip: Clip) -> GradientConfig {
    GradientConfig { clip: Some(clip), ..GradientConfig::default() }
}

#[test]
fn a_long_gradient_is_shortened_and_a_short_one_is_not() {
    for device in devices(&[1, 2]) {
        for kind in KINDS {
            let free = moved(&advanced(&mut trainer(&device, settings(GradientConfig::default(), kind)), 1));
            let whole = norm(&free) / 0.5;
            for (most, wanted) in [(whole * 0.25, whole * 0.25), (whole * 4.0, whole)] {
                let mut limited = trainer(&device, settings(clip(Clip::Norm { most }), kind));
                let step = moved(&advanced(&mut limited, 1));
                assert!((norm(&step) / 0.5 - wanted).abs() < 1e-5 * wanted, "{kind:?} {most}: {}", norm(&step) / 0.5);
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
                let wanted = (norm(&free[range.clone()]) / 0.5).min(0.05);
                let got = norm(&step[range]) / 0.5;
                assert!((got - wanted).abs() < 1e-4 * wanted + 1e-7, "{kind:?} {}: {got} {wanted}", parameter.name);
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

/// Rows whose loss is not finite in the second batch.
fn with_a_bad_batch() -> Data {
    let mut data = data(192);
    data.train.y[64..128].fill(3e38);
    data
}

#[test]
fn an_update_that_is_not_finite_is_left_out_as_if_it_had_never_been() {
    for device in devices(&[1, 2]) {
        for kind in KINDS {
            let gradients = GradientConfig { skips_overflow: true, ..GradientConfig::default() };
            let mut config = settings(gradients, kind);
            config.optimizer = Optimizer::adamw(1e-2);
            config.lr = 1e-2;
            let run = |data: Data, rows: u32, steps| {
                let mut trainer = Trainer::new(&device, spec(), config.clone(), data).expect("a trainer");
                trainer.shuffle_with(move |_| (0..rows).collect());
                trainer.advance(steps).expect("an epoch");
                block_on(trainer.parameters()).expect("parameters")
            };
            let mut never = data(192);
            never.train.x.drain(64 * 3..128 * 3);
            never.train.y.drain(64..128);
            let (got, wanted) = (run(with_a_bad_batch(), 192, 3), run(never, 128, 2));
            assert_eq!(got, wanted, "{kind:?} on {}", device.info().device);
            let mut whole = Trainer::new(&device, spec(), config.clone(), with_a_bad_batch()).expect("a trainer");
            whole.shuffle_with(|_| (0..192).collect());
            let outcome = block_on(whole.run(&mut |_| Flow::Continue)).expect("a run");
            assert_eq!(outcome.stop, Stop::Epochs);
            let report = whole.history()[1].gradients.expect("a report");
            assert_eq!((report.updates, report.skipped), (2, 1), "{kind:?} on {}", device.info().device);
        }
    }
}

#[test]
fn a_resumed_run_remembers_the_updates_that_were_left_out() -> Result<()> {
    // Of three steps the second is left out: an epoch has updates 0 and 1, the next 2 and 3, the last 4 and 5. The rate rises over six of them.
    let device = Device::cpu(1);
    let epoch = |trainer: &mut Trainer| block_on(trainer.epoch(&mut |_| Flow::Continue)).map(drop);
    for kind in KINDS {
        let gradients = GradientConfig { skips_overflow: true, ..GradientConfig::default() };
        let schedule = Schedule { warmup_steps: 6, ..Schedule::CONSTANT };
        let config = TrainerConfig { schedule, lr: 0.06, epochs: 3, ..settings(gradients, kind) };
        let mut first = Trainer::new(&device, spec(), config, with_a_bad_batch())?;
        first.shuffle_with(|_| (0..192).collect());
        epoch(&mut first)?;
        let (checkpoint, _) = Checkpoint::load(&block_on(first.checkpoint())?.save(None)?, "left_out.ckpt")?;
        assert_eq!(checkpoint.progress.standings[0].skipped, 1);
        let mut second = Trainer::resume(&device, with_a_bad_batch(), checkpoint)?;
        second.shuffle_with(|_| (0..192).collect());
        for trainer in [&mut first, &mut second] {
            (1..3).try_for_each(|_| epoch(trainer))?;
        }
        let rates: Vec<f64> = second.history().iter().map(|epoch| epoch.lr).collect();
        let is_near = rates.iter().zip([0.02, 0.04, 0.06]).all(|(rate, wanted)| (rate - wanted).abs() < 1e-12);
        assert!(is_near && rates.len() == 3, "{kind:?}: {rates:?}");
        assert_eq!(block_on(second.parameters())?, block_on(first.parameters())?, "{kind:?}");
    }
    Ok(())
}

#[test]
fn without_that_setting_it_ends_the_run() {
    let config = settings(GradientConfig::default(), StepKind::Fused);
    let mut trainer = Trainer::new(&Device::cpu(1), spec(), config, with_a_bad_batch()).expect("a trainer");
    assert_eq!(block_on(trainer.run(&mut |_| Flow::Continue)).expect("a run").stop, Stop::Diverged);
}

#[test]
fn frozen_parameters_keep_their_bits_and_the_others_train() {
    for device in devices(&[2]) {
        for kind in KINDS {
            let groups = vec![ParameterGroup::frozen(&["layers.0", "layers.2.bias"])];
            let frozen = GradientConfig { groups, ..GradientConfig::default() };
            let both = advanced(&mut trainer(&device, settings(frozen, kind)), 5);
            for parameter in &Layout::of(&spec()).parameters {
                let range = parameter.offset..parameter.offset + parameter.shape.len();
                let is_same = both[0][range.clone()] == both[1][range];
                let is_frozen = parameter.name.starts_with("layers.0") || parameter.name == "layers.2.bias";
                assert_eq!(is_same, is_frozen, "{kind:?} {}", parameter.name);
            }
        }
    }
}

#[test]
fn groups_have_rates_of_their_own_and_vectors_may_not_decay() {
    for device in devices(&[2]) {
        for kind in KINDS {
            let free = moved(&advanced(&mut trainer(&device, settings(GradientConfig::default(), kind)), 1));
            let groups = vec![ParameterGroup {
                parameters: vec!["layers.2.weight".into()],
                rate: 0.25,
                ..ParameterGroup::frozen(&[])
            }];
            let groups = groups.into_iter().map(|group| ParameterGroup { is_frozen: false, ..group }).collect();
            let grouped = GradientConfig { groups, decays_vectors: false, ..GradientConfig::default() };
            let mut config = settings(grouped, kind);
            config.optimizer = config.optimizer.with_weight_decay(0.1);
            let both = advanced(&mut trainer(&device, config), 1);
            let step = moved(&both);
            for parameter in &Layout::of(&spec()).parameters {
                let rate = if parameter.name == "layers.2.weight" { 0.25 } else { 1.0 };
                let decay = if parameter.shape.rank() < 2 { 0.0 } else { 0.1 };
                for at in parameter.offset..parameter.offset + parameter.shape.len() {
                    let wanted = rate * (free[at] - 0.5 * decay * f64::from(both[0][at]));
                    assert!((step[at] - wanted).abs() < 1e-6, "{kind:?} {}: {} {wanted}", parameter.name, step[at]);
                }
            }
        }
    }
}

#[test]
fn the_decay_of_a_group_holds_for_vectors_that_would_not_decay() {
    // At a rate of 1/2, a parameter of 1/2 with decay d moves by d / 4 towards 0.
    let layout = Layout::of(&spec());
    let mut parameters = vec![0.0; layout.total];
    layout.parameters.iter().for_each(|one| parameters[one.offset..one.offset + one.shape.len()].fill(0.5));
    let group = |weight_decay| ParameterGroup {
        parameters: vec!["layers.0.bias".into()],
        rate: 1.0,
        weight_decay: Some(weight_decay),
        is_frozen: false,
    };
    for device in devices(&[2]) {
        for kind in KINDS {
            let step = |decay: f32, groups| {
                let gradients = GradientConfig { groups, decays_vectors: false, ..GradientConfig::default() };
                let mut config = settings(gradients, kind);
                config.optimizer = config.optimizer.with_weight_decay(decay);
                let trainer = Trainer::with_parameters(&device, spec(), config, data(192), &parameters);
                moved(&advanced(&mut trainer.expect("a trainer"), 1))
            };
            let (free, decayed) = (step(0.0, Vec::new()), step(0.2, vec![group(0.1)]));
            for parameter in &layout.parameters {
                let wanted = match parameter.name.as_str() {
                    "layers.0.bias" => -0.025,
                    name if name.ends_with("weight") => -0.05,
                    _ => 0.0,
                };
                for at in parameter.offset..parameter.offset + parameter.shape.len() {
                    let got = decayed[at] - free[at];
                    assert!((got - wanted).abs() < 1e-6, "{kind:?} {}: got {got}, wanted {wanted}", parameter.name);
                }
            }
        }
    }
}

#[test]
fn a_mean_of_weights_is_evaluated_and_kept() {
    for device in devices(&[1]) {
        for kind in KINDS {
            let decay = 0.75;
            let mut plain = trainer(&device, settings(GradientConfig::default(), kind));
            let mut mean: Vec<f64> = advanced(&mut plain, 0)[1].iter().map(|&p| f64::from(p)).collect();
            for _ in 0..6 {
                let [_, after] = advanced(&mut plain, 1);
                mean.iter_mut().zip(after).for_each(|(mean, p)| *mean = decay * *mean + (1.0 - decay) * f64::from(p));
            }
            let config = GradientConfig { mean_decay: Some(decay), ..GradientConfig::default() };
            let mut averaged = trainer(&device, settings(config, kind));
            let [_, got] = advanced(&mut averaged, 6);
            let worst = got.iter().zip(&mean).map(|(got, mean)| (f64::from(*got) - mean).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-6, "{kind:?}: {worst:e}");
        }
    }
}

#[test]
fn a_sharp_place_is_looked_for_along_the_gradient() -> Result<()> {
    for device in devices(&[1, 2]) {
        for kind in KINDS {
            let distance = 0.05;
            let free = advanced(&mut trainer(&device, settings(GradientConfig::default(), kind)), 1);
            let step = moved(&free);
            // The gradient at the weights moved by the distance along the gradient.
            let scale = distance / norm(&step);
            let shifted: Vec<f32> =
                free[0].iter().zip(&step).map(|(p, step)| (f64::from(*p) - scale * step) as f32).collect();
            let config = settings(GradientConfig::default(), kind);
            let mut there = Trainer::with_parameters(&device, spec(), config, data(192), &shifted)?;
            let wanted = moved(&advanced(&mut there, 1));
            let config = GradientConfig { sharpness: Some(distance), ..GradientConfig::default() };
            let mut aware = trainer(&device, settings(config, kind));
            let got = moved(&advanced(&mut aware, 1));
            let apart: Vec<f64> = got.iter().zip(&wanted).map(|(got, wanted)| got - wanted).collect();
            assert!(norm(&apart) < 1e-4 * norm(&wanted), "{kind:?}: {:e}", norm(&apart) / norm(&wanted));
            // The loss that is reported is that of the weights.
            let losses = block_on(aware.batch_losses())?;
            let mut plain = trainer(&device, settings(GradientConfig::default(), kind));
            plain.advance(1)?;
            assert!((losses[0] - block_on(plain.batch_losses())?[0]).abs() < 1e-6);
        }
    }
    Ok(())
}

/// Statistics of a batch norm are set by a step: neither decay nor a mean of weights changes them.
#[test]
fn running_statistics_are_not_updated_like_weights() -> Result<()> {
    let mut spec = spec();
    spec.layers.insert(2, Layer::MaskedNorm(MaskedNorm { epsilon: 1e-5, policy: None }));
    let layout = Layout::of(&spec);
    let statistics = |mean_decay, decay: f32| -> Result<Vec<f32>> {
        // Weights that stay as they are give the same statistics.
        let parameters = vec!["weight".to_owned(), "bias".to_owned()];
        let groups = vec![ParameterGroup { parameters, rate: 1.0, weight_decay: Some(0.0), is_frozen: false }];
        let gradients = GradientConfig { mean_decay, groups, ..GradientConfig::default() };
        let mut config = settings(gradients, StepKind::Recorded);
        config.lr = 1e-30;
        config.optimizer = Optimizer::sgd(0.0)?.with_weight_decay(decay);
        let mut trainer = Trainer::new(&Device::cpu(1), spec.clone(), config, data(192))?;
        let [_, after] = advanced(&mut trainer, 6);
        let own = layout.parameters.iter().filter(|parameter| parameter.is_statistic);
        Ok(own.flat_map(|parameter| after[parameter.offset..][..parameter.shape.len()].to_vec()).collect())
    };
    let wanted = statistics(None, 0.0)?;
    assert!(wanted.iter().any(|value| *value > 0.0));
    assert_eq!(statistics(None, 1e29)?, wanted);
    assert_eq!(statistics(Some(0.9), 1e29)?, wanted);
    Ok(())
}

#[test]
fn lamb_moves_each_tensor_in_proportion_to_its_norm() {
    for device in devices(&[1, 2]) {
        for kind in KINDS {
            let mut config = settings(GradientConfig::default(), kind);
            config.optimizer = Optimizer::parse("lamb").expect("an optimizer").with_weight_decay(0.1);
            config.lr = 0.02;
            // The directions of a first step are those of Adam: the sign of the gradient, and the decay.
            let free = moved(&advanced(&mut trainer(&device, settings(GradientConfig::default(), kind)), 1));
            let both = advanced(&mut trainer(&device, config), 1);
            let step = moved(&both);
            for parameter in &Layout::of(&spec()).parameters {
                let range = parameter.offset..parameter.offset + parameter.shape.len();
                let own: Vec<f64> = both[0][range.clone()].iter().map(|&p| f64::from(p)).collect();
                let g = free[range.clone()].iter().map(|step| -step / 0.5);
                let u: Vec<f64> = g.zip(&own).map(|(g, p)| g / (g.abs() + 1e-8) + 0.1 * p).collect();
                let trust = if norm(&own) > 0.0 { norm(&own) / norm(&u) } else { 1.0 };
                for (got, u) in step[range].iter().zip(&u) {
                    let wanted = -0.02 * trust * u;
                    assert!(
                        (got - wanted).abs() < 2e-4 * wanted.abs() + 1e-6,
                        "{kind:?} {}: {got} {wanted}",
                        parameter.name
                    );
                }
            }
        }
    }
}

#[test]
fn training_without_a_schedule_lowers_the_loss() {
    for device in devices(&[1]) {
        let mut config = settings(GradientConfig::default(), StepKind::Fused);
        config.optimizer = Optimizer::parse("schedule-free").expect("an optimizer").with_weight_decay(0.05);
        config.lr = 0.01;
        let mut trainer = trainer(&device, config);
        block_on(trainer.run(&mut |_| Flow::Continue)).expect("a run");
        let losses: Vec<f64> = trainer.history().iter().map(|epoch| epoch.train_loss).collect();
        assert!(losses[1] < losses[0], "{losses:?}");
    }
}

#[test]
fn wrong_settings_are_errors() {
    let refused = |gradients: GradientConfig, change: fn(&mut TrainerConfig)| {
        let mut config = settings(gradients, StepKind::Fused);
        change(&mut config);
        Trainer::new(&Device::cpu(1), spec(), config, data(64)).map(|_| ()).expect_err("wrong").to_string()
    };
    let none = GradientConfig::default;
    let keep = |_: &mut TrainerConfig| {};
    let cases = [
        (refused(clip(Clip::Norm { most: 0.0 }), keep), "train: clip: got 0, expected a finite number above 0"),
        (
            refused(GradientConfig { clip_value: Some(-1.0), ..none() }, keep),
            "train: clip_value: got -1, expected a finite number above 0",
        ),
        (
            refused(GradientConfig { mean_decay: Some(1.0), ..none() }, keep),
            "train: mean_decay: got 1, expected a number from 0 to below 1",
        ),
        (
            refused(GradientConfig { sharpness: Some(0.1), ..none() }, |config| config.accumulate = 2),
            "train: sharpness: got 2 steps for an update (accumulate), expected 1",
        ),
        (
            refused(GradientConfig { groups: vec![ParameterGroup::frozen(&["layer.0"])], ..none() }, keep),
            "train: \"layer.0\" names no parameter: expected one of \"layers.0.weight\", \"layers.0.bias\", \"layers.2.weight\", \"layers.2.bias\", \"layers.4.weight\", \"layers.4.bias\", or a part of it such as \"layers.0\" or \"bias\"",
        ),
        (
            refused(GradientConfig { groups: vec![ParameterGroup::frozen(&["weight", "bias"])], ..none() }, keep),
            "train: every parameter is frozen: expected at least one to train",
        ),
        (
            refused(GradientConfig { mean_decay: Some(0.9), ..none() }, |config| {
                config.optimizer = Optimizer::parse("lamb").expect("an optimizer");
            }),
            "train: mean_decay: the optimizer lamb keeps no mean of the weights",
        ),
        (
            refused(
                GradientConfig {
                    groups: vec![ParameterGroup::frozen(&["layers.0"])],
                    ..clip(Clip::Norm { most: 1.0 })
                },
                keep,
            ),
            "train: freeze: the fused step takes norms over frozen parameters as well: expected the recorded step",
        ),
        (
            refused(GradientConfig { mean_decay: Some(0.9), ..none() }, |config| {
                config.optimizer = Optimizer::parse("schedule-free").expect("an optimizer");
            }),
            "train: mean_decay: the optimizer schedule-free keeps a mean of its own",
        ),
    ];
    for (got, wanted) in cases {
        assert_eq!(got, wanted);
    }
}

#[test]
fn a_run_of_lamb_goes_on_with_the_same_bits() -> Result<()> {
    let device = Device::cpu(1);
    let mut config = settings(GradientConfig::default(), StepKind::Fused);
    (config.optimizer, config.schedule) = (Optimizer::parse("lamb")?, Schedule::COSINE);
    let mut whole = trainer(&device, config.clone());
    whole.advance(3)?;
    let mut cut = trainer(&device, config);
    cut.advance(2)?;
    let checkpoint = block_on(cut.checkpoint())?;
    let mut resumed = Trainer::resume(&device, data(192), checkpoint)?;
    resumed.advance(1)?;
    assert_eq!(block_on(resumed.parameters())?, block_on(whole.parameters())?);
    Ok(())
}

#[test]
fn a_checkpoint_of_the_first_version_is_read() -> Result<()> {
    let device = Device::cpu(1);
    let mut trainer = trainer(&device, settings(GradientConfig::default(), StepKind::Fused));
    trainer.advance(1)?;
    let checkpoint = block_on(trainer.checkpoint())?;
    let total = checkpoint.parameters.len();
    let old = Checkpoint { moments: checkpoint.moments[..2 * total].to_vec(), ..checkpoint.clone() };
    let (read, _) = Checkpoint::load(&old.save(None)?, "old")?;
    assert_eq!(read, checkpoint);
    Ok(())
}
