//! Decisions of a run between its steps: best weights, early stopping, learning rates, and checkpoints of this state. The models
//! have one input and start from given weights, so every expected number is computed by hand.

use crate::devices::devices;
use meromorph::loss::{Loss, PairLoss};
use meromorph::model::Model;
use meromorph::nn::{Activation, Decoding, Head, Spec};
use meromorph::optim::{Optimizer, Plateau, Schedule, ScheduleShape, Step};
use meromorph::options::{Naming, Value};
use meromorph::run::{OPTIONS, TrainOptions};
use meromorph::train::{
    Checkpoint, CoverageGoal, Data, Event, Examples, Flow, Outcome, StepKind, Stop, Trainer, TrainerConfig,
};
use meromorph::{Device, Result};
use pollster::block_on;

fn sgd(momentum: f32, weight_decay: f32) -> Optimizer {
    Optimizer::sgd(momentum).expect("a share").with_weight_decay(weight_decay)
}

fn plateau(patience: usize) -> Schedule {
    Schedule { warmup_steps: 0, shape: ScheduleShape::Plateau(Plateau { patience, factor: 0.5 }) }
}

/// One training row (`x`, `y`), repeated `times` times, and one validation row.
fn rows(times: usize, [x, y]: [f32; 2], [watched_x, watched_y]: [f32; 2]) -> Data {
    let examples = |x: f32, y: f32, times: usize| Examples { x: vec![x; times], y: vec![y; times] };
    let (train, validation) = (examples(x, y, times), examples(watched_x, watched_y, 1));
    Data { inputs: 1, targets: 1, train, validation, ..Data::default() }
}

/// z = w x + b, and its parameters in the flat buffer: w at 0, b at the next multiple of 64 words.
fn line(w: f32, b: f32) -> (Spec, Vec<f32>) {
    let mut parameters = vec![0.0; 128];
    (parameters[0], parameters[64]) = (w, b);
    (Spec::mlp(1, &[], 1, Activation::identity()), parameters)
}

/// With w = b = z/2 and the row (1, 1) the loss is (z - 1)², and a step subtracts 4 lr (z - 1) from z: at this rate the distance to
/// 1 halves with every step. From z = 0 it is 1/2, 1/4, 1/8, … after epochs 0, 1, 2, ….
fn halving() -> TrainerConfig {
    let (optimizer, schedule) = (sgd(0.0, 0.0), Schedule::CONSTANT);
    TrainerConfig {
        optimizer,
        schedule,
        lr: 0.125,
        epochs: 6,
        batch: 1,
        patience: 0,
        min_delta: 0.0,
        ..TrainerConfig::default()
    }
}

/// With the validation target 3/4, the losses are 1/16, 0, 1/64, (3/16)², …: epoch 1 is the best.
const PASSES_THREE_QUARTERS: ([f32; 2], [f32; 2]) = ([1.0, 1.0], [1.0, 0.75]);

fn start(device: &Device, settings: TrainerConfig, (row, watched): ([f32; 2], [f32; 2])) -> Result<Trainer> {
    let (spec, parameters) = line(0.0, 0.0);
    Trainer::with_parameters(device, spec, settings, rows(1, row, watched), &parameters)
}

fn finish(trainer: &mut Trainer) -> Result<Outcome> {
    block_on(trainer.run(&mut |_| Flow::Continue))
}

/// Runs `epochs` epochs and keeps the weights of the last one.
fn run_epochs(trainer: &mut Trainer, epochs: usize) -> Result<()> {
    let mut watch = |event: &Event<'_>| match event {
        Event::Epoch(report) if report.epoch + 1 == epochs => Flow::Stop,
        _ => Flow::Continue,
    };
    assert_eq!(block_on(trainer.run(&mut watch))?.stop, Stop::Requested, "stopped after {epochs} epochs");
    Ok(())
}

/// The file of a run stopped after `epochs` epochs.
fn cut_after(trainer: &mut Trainer, epochs: usize) -> Result<Vec<u8>> {
    run_epochs(trainer, epochs)?;
    block_on(trainer.checkpoint())?.save(None)
}

fn resumed(device: &Device, bytes: &[u8], data: Data) -> Result<Trainer> {
    Trainer::resume(device, data, Checkpoint::load(bytes, "test")?.0)
}

fn output(trainer: &Trainer, x: f32) -> Result<f32> {
    Ok(block_on(trainer.predict(&[x]))?[0])
}

fn learning_rates(trainer: &Trainer) -> Vec<f64> {
    trainer.history().iter().map(|report| report.lr).collect()
}

fn improvements(trainer: &Trainer) -> Vec<bool> {
    trainer.history().iter().map(|report| report.is_best).collect()
}

#[test]
fn a_resumed_run_ends_with_the_weights_of_the_best_epoch_before_the_cut() -> Result<()> {
    for device in devices(&[1]) {
        let mut first = start(&device, halving(), PASSES_THREE_QUARTERS)?;
        let bytes = cut_after(&mut first, 3)?;
        assert_eq!(output(&first, 1.0)?, 0.875, "the run stands at epoch 2");
        let (row, watched) = PASSES_THREE_QUARTERS;
        let mut second = resumed(&device, &bytes, rows(1, row, watched))?;
        let outcome = finish(&mut second)?;
        assert_eq!((outcome.stop, outcome.best_epoch, outcome.epochs), (Stop::Epochs, Some(1), 6));
        assert_eq!(output(&second, 1.0)?, 0.75, "z of epoch 1");
    }
    Ok(())
}

#[test]
fn a_checkpoint_is_a_model_of_the_best_weights() -> Result<()> {
    let device = Device::cpu(1);
    let bytes = cut_after(&mut start(&device, halving(), PASSES_THREE_QUARTERS)?, 3)?;
    let model = Model::load(&bytes, "test")?;
    assert_eq!(block_on(model.outputs(&device, &[1.0]))?, [0.75]);
    Ok(())
}

#[test]
fn epochs_without_improvement_are_counted_across_a_resumption() -> Result<()> {
    let device = Device::cpu(1);
    let settings = TrainerConfig { patience: 3, epochs: 20, ..halving() };
    // Epoch 1 is the best; epochs 2, 3 and 4 use up the patience.
    let bytes = cut_after(&mut start(&device, settings, PASSES_THREE_QUARTERS)?, 4)?;
    let (row, watched) = PASSES_THREE_QUARTERS;
    let outcome = finish(&mut resumed(&device, &bytes, rows(1, row, watched))?)?;
    assert_eq!((outcome.stop, outcome.best_epoch, outcome.epochs), (Stop::Patience, Some(1), 5));
    Ok(())
}

#[test]
fn epochs_of_too_little_coverage_are_counted_across_a_resumption() -> Result<()> {
    let device = Device::cpu(1);
    // P = 1 and Q = x for every row; one in three validation rows has |Q| of at least 1/2.
    let head = Head { anchor: 0.0, decoding: Decoding::raw(0.5, None), ..Head::linear(1) };
    let spec = Spec::projective(1, &[], head, Activation::identity());
    let mut parameters = vec![0.0; 128];
    (parameters[1], parameters[64]) = (1.0, 1.0);
    let train = Examples { x: vec![1.0], y: vec![1.0, 1.0] };
    let validation = Examples { x: vec![0.25, 0.25, 1.0], y: vec![1.0; 6] };
    let data = Data { inputs: 1, targets: 2, train, validation, ..Data::default() };
    let coverage = Some(CoverageGoal { least: 0.5, patience: 3 });
    let settings = TrainerConfig { loss: Loss::Pairs(PairLoss::default()), coverage, ..halving() };
    let mut first = Trainer::with_parameters(&device, spec, settings, data.clone(), &parameters)?;
    let bytes = cut_after(&mut first, 2)?;
    let mut second = resumed(&device, &bytes, data)?;
    let outcome = finish(&mut second)?;
    assert_eq!((outcome.stop, outcome.epochs), (Stop::Coverage, 3));
    for report in second.history() {
        let coverage = report.pairs.expect("pairs are watched").coverage;
        assert!((coverage - 1.0 / 3.0).abs() < 1e-6, "{coverage}");
    }
    Ok(())
}

#[test]
fn resuming_on_other_inputs_or_other_targets_is_an_error() -> Result<()> {
    let device = Device::cpu(1);
    let (row, watched) = PASSES_THREE_QUARTERS;
    let bytes = cut_after(&mut start(&device, halving(), PASSES_THREE_QUARTERS)?, 1)?;
    assert!(resumed(&device, &bytes, rows(1, row, watched)).is_ok());
    for other in [[2.0, 1.0], [1.0, 2.0], [1.0, -1.0]] {
        let error = resumed(&device, &bytes, rows(1, other, watched)).err().expect("these are other rows");
        assert_eq!(error.to_string(), "resume: these are not the rows the checkpoint was trained on", "{other:?}");
    }
    Ok(())
}

#[test]
fn a_plateau_drops_the_rate_after_as_many_epochs_as_its_patience_and_epochs_report_the_rate_they_ran_at() -> Result<()>
{
    for device in devices(&[1]) {
        let settings = TrainerConfig { schedule: plateau(2), epochs: 8, ..halving() };
        let mut trainer = start(&device, settings, PASSES_THREE_QUARTERS)?;
        finish(&mut trainer)?;
        // Epochs 2 and 3 do not improve: the next two run at half the rate, and the two after at a quarter.
        let full = 0.125;
        let expected = [full, full, full, full, full / 2.0, full / 2.0, full / 4.0, full / 4.0];
        assert_eq!(learning_rates(&trainer), expected);
        // The distance to 1 is halved four times, then shrinks by 3/4 twice and by 7/8 twice.
        let distance: [f64; 8] =
            [1.0 / 2.0, 1.0 / 4.0, 1.0 / 8.0, 1.0 / 16.0, 3.0 / 64.0, 9.0 / 256.0, 63.0 / 2048.0, 441.0 / 16384.0];
        for (report, distance) in trainer.history().iter().zip(distance) {
            let loss = (0.25 - distance).powi(2);
            let got = report.val_loss.expect("a row is watched");
            assert!((got - loss).abs() < 1e-7, "epoch {}: got {got}, expected {loss}", report.epoch);
        }
    }
    Ok(())
}

#[test]
fn drops_of_a_plateau_and_the_epochs_since_are_kept_across_a_resumption() -> Result<()> {
    let device = Device::cpu(1);
    let settings = TrainerConfig { schedule: plateau(2), epochs: 8, ..halving() };
    // After epoch 4 there was one drop, and one more epoch without improvement.
    let bytes = cut_after(&mut start(&device, settings, PASSES_THREE_QUARTERS)?, 5)?;
    let (row, watched) = PASSES_THREE_QUARTERS;
    let mut second = resumed(&device, &bytes, rows(1, row, watched))?;
    finish(&mut second)?;
    assert_eq!(learning_rates(&second)[5..], [0.0625, 0.03125, 0.03125]);
    Ok(())
}

/// With the validation target 1 the loss is the square of the distance: 1/4, 1/16, 1/64, … with a full rate.
const APPROACHES_ONE: ([f32; 2], [f32; 2]) = ([1.0, 1.0], [1.0, 1.0]);

#[test]
fn an_improvement_of_at_most_min_delta_does_not_count() -> Result<()> {
    let device = Device::cpu(1);
    let run = |min_delta, schedule, patience| -> Result<(Trainer, Outcome)> {
        let settings = TrainerConfig { min_delta, schedule, patience, ..halving() };
        let mut trainer = start(&device, settings, APPROACHES_ONE)?;
        let outcome = finish(&mut trainer)?;
        Ok((trainer, outcome))
    };
    let (plain, _) = run(0.0, Schedule::CONSTANT, 0)?;
    assert_eq!(improvements(&plain), [true; 6]);
    // 1/16 - 1/64 = 3/64 is less than 1/20, but 1/16 - 1/256 = 15/256 is more: losses are compared with the best, not the last.
    let (steady, outcome) = run(0.05, Schedule::CONSTANT, 2)?;
    assert_eq!(improvements(&steady), [true, true, false, true, false, false]);
    assert_eq!((outcome.stop, outcome.best_epoch), (Stop::Patience, Some(3)));
    assert_eq!(output(&steady, 1.0)?, 0.9375, "z of epoch 3");
    // Exactly 3/64 does not count as an improvement either.
    let (exact, _) = run(3.0 / 64.0, Schedule::CONSTANT, 0)?;
    assert_eq!(improvements(&exact)[..4], [true, true, false, true]);
    // The plateau uses the same improvements: epoch 2 has none, so epoch 3 runs at half the rate and ends at (3/32)².
    let (dropping, _) = run(0.05, plateau(1), 0)?;
    assert_eq!(improvements(&dropping), [true, true, false, true, false, false]);
    assert_eq!(learning_rates(&dropping), [0.125, 0.125, 0.125, 0.0625, 0.0625, 0.03125]);
    Ok(())
}

#[test]
fn an_epoch_reports_the_rate_of_its_last_update() -> Result<()> {
    let (spec, parameters) = line(0.0, 0.0);
    let schedule = Schedule { warmup_steps: 8, shape: ScheduleShape::Step(Step { every: 1, factor: 0.5 }) };
    for (accumulate, expected) in
        [(1, [3.0 / 8.0, 6.0 / 8.0 / 2.0, 1.0 / 4.0]), (2, [2.0 / 8.0, 4.0 / 8.0 / 2.0, 6.0 / 8.0 / 4.0])]
    {
        // Three steps per epoch, which make three updates, or two.
        let settings = TrainerConfig { schedule, accumulate, lr: 1.0, epochs: 3, ..halving() };
        let data = rows(3, [1.0, 0.0], [1.0, 0.0]);
        let mut trainer = Trainer::with_parameters(&Device::cpu(1), spec.clone(), settings, data, &parameters)?;
        finish(&mut trainer)?;
        assert_eq!(learning_rates(&trainer), expected, "{accumulate} steps for an update");
    }
    Ok(())
}

/// The slope of a loss at a parameter.
type Gradient<'a> = &'a dyn Fn(f64) -> f64;

/// The parameter after the updates of the textbook's rule, in f64, with a learning rate for each.
type Textbook = fn(p: f64, gradient: Gradient<'_>, rates: &[f64]) -> f64;

const DECAY: f64 = 0.5;

fn textbook_sgd(mut p: f64, gradient: Gradient<'_>, rates: &[f64]) -> f64 {
    let mut sum = 0.0;
    for lr in rates {
        sum = 0.75 * sum + gradient(p) + DECAY * p;
        p -= lr * sum;
    }
    p
}

fn textbook_adam(p: f64, gradient: Gradient<'_>, rates: &[f64]) -> f64 {
    adam(p, &|p| gradient(p) + DECAY * p, rates, 0.0)
}

fn textbook_adamw(p: f64, gradient: Gradient<'_>, rates: &[f64]) -> f64 {
    adam(p, gradient, rates, DECAY)
}

fn adam(mut p: f64, gradient: Gradient<'_>, rates: &[f64], decay: f64) -> f64 {
    let (mut m, mut v) = (0.0, 0.0);
    for (lr, t) in rates.iter().zip(1..) {
        let g = gradient(p);
        m = 0.5 * m + 0.5 * g;
        v = 0.75 * v + 0.25 * g * g;
        p -= lr * decay * p;
        p -= lr * (m / (1.0 - 0.5_f64.powi(t))) / ((v / (1.0 - 0.75_f64.powi(t))).sqrt() + 1e-8);
    }
    p
}

/// Optimisers with momentum 3/4, or the decays 1/2 and 3/4 of the moments, and the textbook's rule for each.
fn optimizers() -> [(&'static str, Optimizer, Textbook); 3] {
    let decay = DECAY as f32;
    let moments = |optimizer: Optimizer| {
        optimizer.with("beta1", 0.5).and_then(|optimizer| optimizer.with("beta2", 0.75)).expect("shares")
    };
    [
        ("sgd", sgd(0.75, decay), textbook_sgd),
        ("adam", moments(Optimizer::adam(decay)), textbook_adam),
        ("adamw", moments(Optimizer::adamw(decay)), textbook_adamw),
    ]
}

#[test]
fn every_optimiser_takes_rate_and_decay_from_the_schedule() -> Result<()> {
    // Four updates per epoch: warm-up over six, and half the rate in the second epoch.
    let schedule = Schedule { warmup_steps: 6, shape: ScheduleShape::Step(Step { every: 1, factor: 0.5 }) };
    let rates = [1.0, 2.0, 3.0, 4.0, 2.5, 3.0, 3.0, 3.0].map(|sixths| 0.25 * sixths / 6.0);
    // The row (1, 0) pulls w = b with 2 (w + b) = 4 w; the row (0, 0) lets w only decay, and b is 0.
    let pulls: [(f32, [f32; 2], Gradient<'_>); 2] = [(0.75, [1.0, 0.0], &|w| 4.0 * w), (0.0, [0.0, 0.0], &|_| 0.0)];
    for device in devices(&[1]) {
        for (name, optimizer, textbook) in optimizers() {
            for (b, row, gradient) in pulls {
                for step in [StepKind::Fused, StepKind::Recorded] {
                    let (spec, parameters) = line(0.75, b);
                    let settings = TrainerConfig {
                        optimizer: optimizer.clone(),
                        schedule,
                        lr: 0.25,
                        step: Some(step),
                        ..halving()
                    };
                    let data = rows(4, row, [1.0, 0.0]);
                    let mut trainer = Trainer::with_parameters(&device, spec, settings, data, &parameters)?;
                    run_epochs(&mut trainer, 2)?;
                    let (got, expected) = (block_on(trainer.parameters())?[0], textbook(0.75, gradient, &rates));
                    let place = format!("{name}, {step:?}, row {row:?}, on {}", device.info().device);
                    assert!((f64::from(got) - expected).abs() < 2e-6, "{place}: got {got}, expected {expected}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn an_order_of_other_rows_is_an_error() {
    let (spec, _) = line(0.0, 0.0);
    for device in devices(&[1]) {
        let error = |order: Vec<u32>| {
            let data = rows(3, [1.0, 1.0], [1.0, 1.0]);
            let mut trainer = Trainer::new(&device, spec.clone(), halving(), data).expect("a trainer");
            trainer.shuffle_with(move |_| order.clone());
            block_on(trainer.epoch(&mut |_| Flow::Continue)).map(|_| ()).expect_err("no order").to_string()
        };
        assert_eq!(error(vec![0, 1]), "shuffle: got an order of 2 rows, expected 3");
        assert_eq!(error(vec![0, 1, 3]), "shuffle: got row 3 in an order, expected rows below 3");
    }
}

#[test]
fn the_patience_of_the_coverage_is_an_option() {
    let given = |all: &[(&str, Value)]| -> Vec<_> {
        all.iter().map(|(name, value)| (OPTIONS.entry(name), value.clone())).collect()
    };
    let (head, least) = (("head", Value::Text("rational".into())), ("min_coverage", Value::Number(0.5)));
    let patience = ("coverage_patience", Value::Number(7.0));
    let mut options = TrainOptions::default();
    OPTIONS.apply(&mut options, &given(&[head.clone(), least.clone()]), Naming::Rust).unwrap();
    assert_eq!(options.coverage, Some(CoverageGoal { least: 0.5, patience: 3 }));
    OPTIONS.apply(&mut options, &given(&[head.clone(), least, patience.clone()]), Naming::Rust).unwrap();
    assert_eq!(options.coverage, Some(CoverageGoal { least: 0.5, patience: 7 }));
    let error = OPTIONS.apply(&mut TrainOptions::default(), &given(&[head, patience]), Naming::Command).unwrap_err();
    assert_eq!(error.to_string(), "--coverage-patience has no effect without --min-coverage");
}
