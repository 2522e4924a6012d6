//! Curricula: loss weights that move or follow the coverage, rows sampled by their distance to poles.

use meromorph::Device;
use meromorph::loss::{Loss, PairLoss};
use meromorph::nn::{Activation, Head, Spec};
use meromorph::optim::{Optimizer, Schedule, ScheduleShape};
use meromorph::train::{
    AdaptiveSampler, Checkpoint, CoverageController, Curriculum, Data, Event, Examples, Flow, LinearRamp, Ramp,
    StepKind, Stop, Term, Trainer, TrainerConfig,
};
use pollster::block_on;

/// Five numbers, then five ⊥, and so on.
fn data() -> Data {
    let x: Vec<f32> = (0..40).map(|i| i as f32 / 20.0 - 1.0).collect();
    let y = (0..40).flat_map(|i| if i % 5 == 0 { [1.0, 0.0] } else { [i as f32 / 40.0, 1.0] }).collect();
    let examples = Examples { x, y };
    Data { inputs: 1, targets: 2, train: examples.clone(), validation: examples, ..Data::default() }
}

fn settings(loss: PairLoss, curriculum: Curriculum) -> TrainerConfig {
    let optimizer = Optimizer::sgd(0.0).expect("a share");
    let schedule = Schedule { warmup_steps: 0, shape: ScheduleShape::Constant };
    TrainerConfig {
        loss: Loss::Pairs(loss),
        curriculum,
        optimizer,
        schedule,
        epochs: 5,
        batch: 16,
        patience: 0,
        ..TrainerConfig::default()
    }
}

fn trainer(settings: TrainerConfig) -> Trainer {
    let spec = Spec::projective(1, &[8], Head::linear(1), Activation::silu());
    Trainer::new(&Device::cpu(1), spec, settings, data()).unwrap()
}

fn losses(settings: TrainerConfig) -> Vec<f64> {
    let mut trainer = trainer(settings);
    block_on(trainer.run(&mut |_| Flow::Continue)).unwrap();
    trainer.history().iter().map(|report| report.train_loss).collect()
}

#[test]
fn a_weight_moves_between_two_epochs_in_both_steps() {
    let ramp = Ramp { term: Term::Implicit, weight: LinearRamp { from: 0.0, to: 2.0, epochs: [1, 3] } };
    let still = |loss| losses(TrainerConfig { lr: 1e-12, epochs: 1, ..settings(loss, Curriculum::default()) })[0];
    let chordal = PairLoss { chordal: 1.0, ..PairLoss::none() };
    let expected = [0.0, 0.0, 1.0, 2.0, 2.0].map(|implicit| still(PairLoss { implicit, ..chordal }));
    assert!(expected[2] > 1.1 * expected[0]);
    for step in [StepKind::Fused, StepKind::Recorded] {
        let curriculum = Curriculum { ramps: vec![ramp], ..Curriculum::default() };
        let end = PairLoss { implicit: 2.0, ..chordal };
        let got = losses(TrainerConfig { lr: 1e-12, step: Some(step), ..settings(end, curriculum) });
        let worst = got.iter().zip(&expected).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-5, "{step:?}: {got:?} {expected:?}");
    }
}

#[test]
fn the_weight_of_coverage_follows_the_coverage() {
    let curriculum = Curriculum { held_coverage: Some(1.0), ..Curriculum::default() };
    let mut run = trainer(TrainerConfig { lr: 0.05, ..settings(PairLoss::default(), curriculum) });
    assert_eq!(run.step_kind(), StepKind::Recorded, "coverage is a term over a group of rows");
    block_on(run.run(&mut |_| Flow::Continue)).unwrap();
    let mut controller = CoverageController { target: 1.0, ..CoverageController::default() };
    for report in run.history() {
        controller.update(report.pairs.unwrap().coverage);
    }
    let held = block_on(run.checkpoint()).unwrap().progress.standings[0].held;
    assert_eq!(held, Some(controller.lambda));
}

#[test]
fn rows_are_sampled_by_the_models_distance_to_poles() {
    let curriculum = Curriculum { draws_poles: true, ..Curriculum::default() };
    let mut run = trainer(TrainerConfig { lr: 1e-12, epochs: 2, ..settings(PairLoss::default(), curriculum) });
    block_on(run.run(&mut |_| Flow::Continue)).unwrap();
    let denominators: Vec<f32> =
        block_on(run.predict(&data().train.x)).unwrap().into_iter().skip(1).step_by(2).collect();
    let is_bottom: Vec<bool> = (0..40).map(|row| row % 5 == 0).collect();
    let mut sampler = AdaptiveSampler::new(40);
    sampler.update(&denominators, &is_bottom).unwrap();
    sampler.update(&denominators, &is_bottom).unwrap();
    assert_eq!(block_on(run.checkpoint()).unwrap().progress.standings[0].means, sampler.means());
    // With rows drawn twice and rows not drawn, the loss of an epoch differs from that with each row once.
    let drawn = run.history()[1].train_loss;
    let once =
        losses(TrainerConfig { lr: 1e-12, epochs: 1, ..settings(PairLoss::default(), Curriculum::default()) })[0];
    assert!((drawn / once - 1.0).abs() > 1e-3, "{drawn} {once}");
}

#[test]
fn a_run_with_a_curriculum_resumes_bit_for_bit() {
    let ramp = Ramp { term: Term::Decoded, weight: LinearRamp { from: 0.0, to: 0.1, epochs: [0, 4] } };
    let curriculum = Curriculum { ramps: vec![ramp], held_coverage: Some(1.0), draws_poles: true };
    let settings = TrainerConfig { lr: 0.05, ..settings(PairLoss { decoded: 0.1, ..PairLoss::default() }, curriculum) };
    let mut whole = trainer(settings.clone());
    block_on(whole.run(&mut |_| Flow::Continue)).unwrap();
    let mut first = trainer(settings);
    let cut = |event: &Event<'_>| match event {
        Event::Epoch(report) if report.epoch == 2 => Flow::Stop,
        _ => Flow::Continue,
    };
    assert_eq!(block_on(first.run(&mut { cut })).unwrap().stop, Stop::Requested);
    first.advance(2).unwrap();
    let bytes = block_on(first.checkpoint()).unwrap().save(None).unwrap();
    let (checkpoint, _) = Checkpoint::load(&bytes, "test").unwrap();
    let mut second = Trainer::resume(&Device::cpu(1), data(), checkpoint).unwrap();
    block_on(second.run(&mut |_| Flow::Continue)).unwrap();
    assert_eq!(whole.history(), second.history());
    assert_eq!(block_on(whole.parameters()).unwrap(), block_on(second.parameters()).unwrap());
}

#[test]
fn invalid_curricula_are_errors() {
    let spec = Spec::projective(1, &[8], Head::linear(1), Activation::silu());
    let refused = |settings: TrainerConfig| {
        Trainer::new(&Device::cpu(1), spec.clone(), settings, data()).err().expect("it is refused").to_string()
    };
    let held = |share| Curriculum { held_coverage: Some(share), ..Curriculum::default() };
    let ramp = Ramp { term: Term::Chordal, weight: LinearRamp { from: 0.0, to: 1.0, epochs: [2, 4] } };
    let ramps = Curriculum { ramps: vec![ramp], ..Curriculum::default() };
    let cases = [
        (settings(PairLoss::default(), held(1.5)), "train: a coverage of 1.5 cannot be held; expected 0 to 1"),
        (
            settings(PairLoss::default(), ramps),
            "train: epoch 2: loss of pairs: every weight is 0, expected at least one above 0",
        ),
        (
            TrainerConfig { loss: Loss::mse(), ..settings(PairLoss::default(), held(0.5)) },
            "train: only the loss of a model with poles changes on the way",
        ),
    ];
    for (settings, expected) in cases {
        assert_eq!(refused(settings), expected);
    }
}
