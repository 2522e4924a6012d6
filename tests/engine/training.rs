//! Training: both steps agree, runs repeat, checkpoints resume bit for bit, plans have the expected cost.

use crate::devices::devices;
use crate::noise::noise;
use meromorph::loss::Loss;
use meromorph::nn::{Activation, ActivationLayer, Dropout, Init, Layer, LayerNorm, Linear, Residual, Spec};
use meromorph::optim::{Optimizer, Plateau, Schedule, ScheduleShape};
use meromorph::train::{Checkpoint, Data, Event, Examples, Flow, StepKind, Stop, Trainer, TrainerConfig};
use meromorph::{Device, Result};
use pollster::block_on;

fn smooth(rows: usize, seed: u32) -> Examples {
    let x = noise(rows * 5, seed);
    let y = x.chunks_exact(5).map(|x| x[0].sin() + 0.5 * x[1].cos() + x[2] * x[3] + 0.3 * x[4]).collect();
    Examples { x, y }
}

fn regression(rows: usize) -> Data {
    let [train, validation, test] = [(rows, 1), (rows / 4, 2), (rows / 4, 3)].map(|(rows, seed)| smooth(rows, seed));
    Data { inputs: 5, targets: 1, train, validation, test }
}

fn classes(rows: usize) -> Data {
    let part = |rows: usize, seed| {
        let x = noise(rows * 4, seed);
        let class = |x: &[f32]| f32::from(u8::from(x[0] + x[1] > 0.0)) + f32::from(u8::from(x[2] > 0.3));
        let y = x.chunks_exact(4).map(class).collect();
        Examples { x, y }
    };
    Data { inputs: 4, targets: 1, train: part(rows, 1), validation: part(rows / 4, 2), test: part(rows / 4, 3) }
}

fn settings() -> TrainerConfig {
    TrainerConfig { epochs: 3, batch: 64, patience: 0, seed: 11, ..TrainerConfig::default() }
}

fn losses(device: &Device, spec: &Spec, settings: &TrainerConfig, data: &Data) -> Vec<f64> {
    let mut trainer = Trainer::new(device, spec.clone(), settings.clone(), data.clone()).expect("a trainer");
    block_on(trainer.run(&mut |_| Flow::Continue)).expect("a run");
    trainer.history().iter().flat_map(|epoch| [Some(epoch.train_loss), epoch.val_loss]).flatten().collect()
}

/// How far losses may drift apart between steps or devices over a few epochs of f32 training.
const BOUND: f64 = 2e-4;

#[test]
fn fused_and_recorded_steps_agree_on_every_device() {
    let losses_and_data = [
        (Loss::mse(), regression(300)),
        (Loss::mae(), regression(300)),
        (Loss::huber(0.3).expect("a delta above 0"), regression(300)),
        (Loss::cross_entropy(0.1), classes(300)),
    ];
    let optimizers = [
        Optimizer::adamw(1e-2),
        Optimizer::adam(1e-3).with("beta2", 0.99).expect("a share"),
        Optimizer::sgd(0.9).and_then(|sgd| sgd.with("nesterov", 1.0)).expect("constants").with_weight_decay(1e-3),
    ];
    let mut failures = Vec::new();
    let cpu = Device::cpu(1);
    for (at, (loss, data)) in losses_and_data.iter().enumerate() {
        let outputs = if loss.is("cross-entropy") { 3 } else { 1 };
        let activation = [
            Activation::silu(),
            Activation::tanh(),
            Activation::parse("gelu").expect("a built-in"),
            Activation::relu(),
        ][at]
            .clone();
        let spec = Spec::mlp(data.inputs, &[20, 12], outputs, activation);
        let weights = if outputs == 3 { vec![1.0, 2.0, 0.5] } else { Vec::new() };
        let base = TrainerConfig {
            loss: loss.clone(),
            optimizer: optimizers[at % 3].clone(),
            class_weights: weights,
            ..settings()
        };
        let step = |step| TrainerConfig { step: Some(step), ..base.clone() };
        let expected = losses(&cpu, &spec, &step(StepKind::Recorded), data);
        for device in devices(&[1, 2]) {
            for kind in [StepKind::Fused, StepKind::Recorded] {
                let got = losses(&device, &spec, &step(kind), data);
                let worst = got.iter().zip(&expected).map(|(a, b)| (a - b).abs() / b.abs()).fold(0.0, f64::max);
                if worst.is_nan() || worst > BOUND || got.len() != expected.len() {
                    failures.push(format!(
                        "{loss:?} {kind:?} on {}: off by {worst:.1e}: {got:?} {expected:?}",
                        device.info().device
                    ));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_same_seed_gives_the_same_bits_for_one_and_two_threads() {
    let (data, spec) = (regression(1000), Spec::mlp(5, &[64, 64, 64], 1, Activation::silu()));
    let runs = [1, 1, 2].map(|threads| losses(&Device::cpu(threads), &spec, &settings(), &data));
    assert_eq!(runs[0], runs[1]);
    assert_eq!(runs[0], runs[2]);
}

#[test]
fn recorded_steps_give_the_same_bits_for_any_number_of_threads() {
    let wide = Spec::mlp(5, &[150, 200], 1, Activation::silu());
    let mut deep = Spec::mlp(5, &[48, 48, 48], 1, Activation::tanh());
    let block = vec![Layer::LayerNorm(LayerNorm { epsilon: 1e-5 }), deep.layers[2].clone(), deep.layers[3].clone()];
    deep.layers.splice(
        2..6,
        [Layer::Residual(Residual { layers: block.clone() }), Layer::Residual(Residual { layers: block })],
    );
    let settings = TrainerConfig { epochs: 2, batch: 200, step: Some(StepKind::Recorded), ..settings() };
    for spec in [wide, deep] {
        let data = regression(640);
        let runs = [1, 2, 3, 8].map(|threads| losses(&Device::cpu(threads), &spec, &settings, &data));
        for run in &runs {
            assert_eq!(run, &runs[0]);
        }
    }
}

#[test]
fn wide_fused_steps_give_the_same_bits_for_as_many_threads_as_documented() {
    let spec = Spec::mlp(5, &[150, 200], 1, Activation::silu());
    // 256 rows of a batch for each thread.
    for (batch, threads) in [(200, &[1, 2][..]), (1024, &[1, 2, 4])] {
        let settings = TrainerConfig { epochs: 2, batch, step: Some(StepKind::Fused), ..settings() };
        let data = regression(1500);
        let runs: Vec<_> =
            threads.iter().map(|&threads| losses(&Device::cpu(threads), &spec, &settings, &data)).collect();
        assert!(runs.iter().all(|run| *run == runs[0]), "batch {batch}: {runs:?}");
    }
}

#[test]
fn a_run_paused_at_every_check_continues_exactly() -> Result<()> {
    let spec = Spec::mlp(5, &[16], 1, Activation::silu());
    let device = Device::cpu(1);
    let mut whole = Trainer::new(&device, spec.clone(), settings(), regression(640))?;
    block_on(whole.run(&mut |_| Flow::Continue))?;
    let mut halting = Trainer::new(&device, spec, settings(), regression(640))?;
    while block_on(halting.run(&mut |_| Flow::Stop))?.stop == Stop::Requested {}
    assert_eq!(whole.history(), halting.history());
    assert_eq!(block_on(whole.parameters())?, block_on(halting.parameters())?);
    Ok(())
}

#[test]
fn training_learns() -> Result<()> {
    let spec = Spec::mlp(5, &[64, 64], 1, Activation::silu());
    let settings = TrainerConfig { epochs: 60, lr: 5e-3, ..settings() };
    let mut trainer = Trainer::new(&Device::cpu(2), spec, settings, regression(1000))?;
    let outcome = block_on(trainer.run(&mut |_| Flow::Continue))?;
    let (_, test) = block_on(trainer.metrics(1.0))?;
    assert_eq!(outcome.stop, Stop::Epochs);
    assert!(test.r2.is_some_and(|r2| r2 > 0.99), "{test:?}");
    Ok(())
}

/// Layers that only the recorded step supports.
fn rich() -> Spec {
    let linear = |outputs| Layer::Linear(Linear { outputs, bias: true, init: Init::Kaiming });
    let silu = Layer::Activation(ActivationLayer { function: Activation::silu() });
    let block = Layer::Residual(Residual {
        layers: vec![Layer::LayerNorm(LayerNorm { epsilon: 1e-5 }), linear(16), silu.clone(), linear(16)],
    });
    Spec { inputs: 5, layers: vec![linear(16), silu, block, Layer::Dropout(Dropout { rate: 0.1 }), linear(1)] }
}

#[test]
fn residual_blocks_layer_norm_and_dropout_train_the_same_everywhere() {
    let data = regression(300);
    let runs: Vec<_> = devices(&[1, 2]).iter().map(|device| losses(device, &rich(), &settings(), &data)).collect();
    for run in &runs {
        let worst = run.iter().zip(&runs[0]).map(|(a, b)| (a - b).abs() / b.abs()).fold(0.0, f64::max);
        assert!(worst < BOUND, "off by {worst:.1e}: {runs:?}");
        assert!(run[run.len() - 1] < run[1], "the validation loss falls: {run:?}");
    }
}

#[test]
fn a_run_cut_anywhere_resumes_bit_for_bit() -> Result<()> {
    for (device, spec) in [(Device::cpu(2), Spec::mlp(5, &[24], 1, Activation::tanh())), (Device::cpu(1), rich())] {
        let schedule =
            Schedule { warmup_steps: 5, shape: ScheduleShape::Plateau(Plateau { patience: 1, factor: 0.5 }) };
        let settings = TrainerConfig { epochs: 6, schedule, lr: 0.05, ..settings() };
        let data = regression(300);
        let mut whole = Trainer::new(&device, spec.clone(), settings.clone(), data.clone())?;
        block_on(whole.run(&mut |_| Flow::Continue))?;

        let mut first = Trainer::new(&device, spec.clone(), settings.clone(), data.clone())?;
        first.advance(2)?;
        let cut = |event: &Event<'_>| match event {
            Event::Epoch(report) if report.epoch == 1 => Flow::Stop,
            _ => Flow::Continue,
        };
        let outcome = block_on(first.run(&mut { cut }))?;
        assert_eq!(outcome.stop, Stop::Requested);
        first.advance(3)?;
        let bytes = block_on(first.checkpoint())?.save(None)?;
        drop(first);
        let (checkpoint, _) = Checkpoint::load(&bytes, "test")?;
        assert_eq!(checkpoint.progress.cursor, 3, "cut in the middle of an epoch");
        let mut second = Trainer::resume(&device, data, checkpoint)?;
        block_on(second.run(&mut |_| Flow::Continue))?;
        assert_eq!(whole.history(), second.history());
        assert_eq!(block_on(whole.parameters())?, block_on(second.parameters())?);
    }
    Ok(())
}

#[test]
fn early_stopping_keeps_the_best_weights() -> Result<()> {
    let settings = TrainerConfig { epochs: 200, patience: 3, lr: 0.1, ..settings() };
    let mut trainer =
        Trainer::new(&Device::cpu(2), Spec::mlp(5, &[16], 1, Activation::tanh()), settings, regression(200))?;
    let outcome = block_on(trainer.run(&mut |_| Flow::Continue))?;
    assert_eq!(outcome.stop, Stop::Patience);
    let best = outcome.best_epoch.expect("some epoch was best");
    assert_eq!(outcome.epochs, best + 1 + 3);
    let (validation, _) = block_on(trainer.metrics(1.0))?;
    let reported = trainer.history()[best].val_loss.expect("there are validation rows");
    assert!((validation.loss / reported - 1.0).abs() < 1e-5, "the weights in use are those of the best epoch");
    Ok(())
}

#[test]
fn divergence_is_reported_and_the_last_good_weights_are_kept() -> Result<()> {
    for device in devices(&[1, 2]) {
        let settings = TrainerConfig { epochs: 20, lr: 1e9, ..settings() };
        let mut trainer = Trainer::new(&device, Spec::mlp(5, &[16], 1, Activation::silu()), settings, regression(200))?;
        let outcome = block_on(trainer.run(&mut |_| Flow::Continue))?;
        assert_eq!(outcome.stop, Stop::Diverged, "on {}", device.info().device);
        assert!(block_on(trainer.parameters())?.iter().all(|value| value.is_finite()));
    }
    Ok(())
}

#[test]
fn without_validation_rows_the_kept_weights_are_finite() -> Result<()> {
    let device = Device::cpu(1);
    let data = Data { validation: Examples::default(), ..regression(200) };
    let optimizer = Optimizer::sgd(0.0)?;
    let settings = TrainerConfig { epochs: 20, lr: 1e6, batch: 200, optimizer, ..settings() };
    let mut trainer = Trainer::new(&device, Spec::mlp(5, &[16], 1, Activation::silu()), settings, data.clone())?;
    let before = block_on(trainer.parameters())?;
    let outcome = block_on(trainer.run(&mut |_| Flow::Continue))?;
    assert_eq!((outcome.stop, outcome.best_epoch), (Stop::Diverged, None), "the first step is the one that explodes");
    assert_eq!(block_on(trainer.parameters())?, before);
    Ok(())
}

#[test]
fn a_batch_may_be_larger_than_any_table() {
    let run = |batch| {
        losses(
            &Device::cpu(2),
            &Spec::mlp(5, &[16], 1, Activation::silu()),
            &TrainerConfig { batch, ..settings() },
            &regression(200),
        )
    };
    assert_eq!(run((1 << 32) + 1), run(200));
}

#[test]
fn a_recorded_layer_is_one_launch_forward() -> Result<()> {
    let device = Device::dry();
    let settings = TrainerConfig { step: Some(StepKind::Recorded), ..settings() };
    let trainer = Trainer::new(&device, Spec::mlp(5, &[64, 64], 1, Activation::silu()), settings, regression(640))?;
    let names: Vec<_> = trainer.step_summary().launches.iter().map(|launch| launch.kernel).collect();
    let forward = names.iter().take_while(|name| **name != "reduce").copied().collect::<Vec<_>>();
    assert_eq!(forward.iter().filter(|name| **name == "matmul").count(), 3, "{names:?}");
    assert!(names.len() <= 18, "{} launches: {names:?}", names.len());
    Ok(())
}

#[test]
fn a_step_is_exactly_two_launches() -> Result<()> {
    let device = Device::dry();
    let spec = Spec::mlp(5, &[64, 64, 64], 1, Activation::silu());
    let mut trainer = Trainer::new(&device, spec, TrainerConfig { batch: 256, ..settings() }, regression(10_240))?;
    assert_eq!(trainer.step_kind(), StepKind::Fused);
    assert_eq!(trainer.step_summary().launches.len(), 2);
    assert_eq!(trainer.step_summary().cost.flops / 1_000_000, 13, "13 Mflop a step, as the work model says");
    trainer.advance(1)?;
    let before = device.counters();
    trainer.advance(30)?;
    let after = device.counters();
    assert_eq!(after.launches - before.launches, 60);
    assert_eq!(after.pipelines, before.pipelines);
    assert_eq!(after.bind_groups, before.bind_groups);
    assert_eq!(after.uploaded_bytes, before.uploaded_bytes);
    assert_eq!(after.readbacks, before.readbacks);
    Ok(())
}

#[test]
fn an_epoch_is_one_upload_and_one_readback() -> Result<()> {
    for device in devices(&[1, 2]) {
        let settings = TrainerConfig { epochs: 2, ..settings() };
        let mut trainer = Trainer::new(&device, Spec::mlp(5, &[16], 1, Activation::silu()), settings, regression(640))?;
        let mut seen = Vec::new();
        let watched = device.clone();
        block_on(trainer.run(&mut |event| {
            if matches!(event, Event::Epoch(_)) {
                seen.push(watched.counters());
            }
            Flow::Continue
        }))?;
        assert_eq!(seen[1].readbacks - seen[0].readbacks, 1);
        assert_eq!(seen[1].uploaded_bytes - seen[0].uploaded_bytes, 4 * (4 * 10 + 640), "table rows and permutation");
        assert_eq!(seen[1].bind_groups, seen[0].bind_groups);
    }
    Ok(())
}

/// Groups of four steps of 32 rows: the last group of an epoch has two steps, the second of 12 rows.
fn grouped(step: StepKind) -> TrainerConfig {
    let optimizer =
        Optimizer::adamw(1e-2).with("beta2", 0.99).and_then(|adamw| adamw.with("epsilon", 1e-6)).expect("constants");
    TrainerConfig { batch: 32, accumulate: 4, optimizer, step: Some(step), ..settings() }
}

#[test]
fn property_49_a_group_of_steps_equals_one_batch_and_the_last_group_has_its_own_weight() -> Result<()> {
    let spec = Spec::mlp(5, &[16], 1, Activation::silu());
    for device in devices(&[1, 2]) {
        for step in [StepKind::Fused, StepKind::Recorded] {
            let run = |settings: TrainerConfig| -> Result<(Vec<f32>, Vec<f64>)> {
                let mut trainer = Trainer::new(&device, spec.clone(), settings, regression(300))?;
                block_on(trainer.run(&mut |_| Flow::Continue))?;
                trainer.restore_best()?;
                let validation = trainer.history().iter().filter_map(|epoch| epoch.val_loss).collect();
                Ok((block_on(trainer.parameters())?, validation))
            };
            let schedule = Schedule { warmup_steps: 5, ..Schedule::COSINE };
            let (got, losses) = run(TrainerConfig { schedule, ..grouped(step) })?;
            let whole = TrainerConfig { batch: 128, accumulate: 1, schedule, ..grouped(step) };
            let (expected, whole_losses) = run(whole.clone())?;
            let worst = got.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(worst < 2e-5, "{step:?} on {}: off by {worst:.1e}", device.info().device);
            assert!(losses.iter().zip(&whole_losses).all(|(a, b)| (a / b - 1.0).abs() < 1e-4), "{losses:?}");
            let (other, _) = run(TrainerConfig { batch: 32, ..whole })?;
            let apart = other.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(apart > 1e-3, "an update for every 32 rows is another run: {apart:.1e}");
        }
    }
    Ok(())
}

#[test]
fn property_49_runs_do_not_share_gradients() -> Result<()> {
    let (device, spec) = (Device::cpu(1), Spec::mlp(5, &[16], 1, Activation::silu()));
    let run = || losses(&device, &spec, &grouped(StepKind::Fused), &regression(300));
    let mut cut = Trainer::new(&device, spec.clone(), grouped(StepKind::Fused), regression(300))?;
    cut.advance(3)?;
    drop(cut);
    assert_eq!(run(), run());
    Ok(())
}

#[test]
fn a_run_cut_inside_a_group_of_steps_resumes_bit_for_bit() -> Result<()> {
    let spec = Spec::mlp(5, &[16], 1, Activation::silu());
    for device in devices(&[1, 2]) {
        for step in [StepKind::Fused, StepKind::Recorded] {
            let mut whole = Trainer::new(&device, spec.clone(), grouped(step), regression(300))?;
            block_on(whole.run(&mut |_| Flow::Continue))?;
            let mut first = Trainer::new(&device, spec.clone(), grouped(step), regression(300))?;
            first.advance(6)?;
            let bytes = block_on(first.checkpoint())?.save(None)?;
            let (checkpoint, _) = Checkpoint::load(&bytes, "test")?;
            let mut second = Trainer::resume(&device, regression(300), checkpoint)?;
            block_on(second.run(&mut |_| Flow::Continue))?;
            assert_eq!(whole.history(), second.history());
            assert_eq!(block_on(whole.parameters())?, block_on(second.parameters())?);
        }
    }
    Ok(())
}

#[test]
fn groups_of_steps_need_one_more_launch_and_no_upload() -> Result<()> {
    let device = Device::dry();
    let spec = Spec::mlp(5, &[64, 64, 64], 1, Activation::silu());
    let settings = TrainerConfig { accumulate: 4, ..settings() };
    let mut trainer = Trainer::new(&device, spec.clone(), settings.clone(), regression(10_240))?;
    trainer.advance(1)?;
    let before = device.counters();
    trainer.advance(30)?;
    let after = device.counters();
    // The third launch of a step sums the gradients of its group.
    assert_eq!((after.launches - before.launches, after.uploaded_bytes - before.uploaded_bytes), (90, 0));
    let none = TrainerConfig { accumulate: 0, ..settings };
    let error = Trainer::new(&device, spec, none, regression(640)).err().expect("no group is empty").to_string();
    assert_eq!(error, "train: accumulate is 0; an update needs the gradients of at least 1 step");
    Ok(())
}
