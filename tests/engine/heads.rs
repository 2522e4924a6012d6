//! Projective heads in the fused step: it agrees with the recorded step for every form, needs no additional launches, and falls
//! back to the recorded step for unsupported heads.

use crate::noise::noise;
use meromorph::device::Request;
use meromorph::loss::{Loss, PairLoss};
use meromorph::nn::{Activation, Basis, Denominators, Head, HeadForm, PairNormalization, Spec};
use meromorph::train::{Data, Examples, Flow, StepKind, Trainer, TrainerConfig};
use meromorph::{Device, Result};
use pollster::block_on;

/// How far losses may drift apart between steps or devices over a few epochs of f32 training.
const BOUND: f64 = 2e-4;

/// Quotients of five inputs, `outputs` per row; every ninth is ⊥.
fn examples(rows: usize, outputs: usize, seed: u32) -> Examples {
    let x = noise(rows * 5, seed);
    let value = |x: &[f32], o: usize| (x[o] + 0.3 * x[3]) / (1.2 + x[4]);
    let pair = |row: usize, o: usize| {
        let y = value(&x[5 * row..], o);
        if (row + o) % 9 == 4 { [y.signum(), 0.0] } else { [y, 1.0] }
    };
    let half = |row: usize, half: usize| (0..outputs).map(move |o| pair(row, o)[half]).collect::<Vec<_>>();
    let y = (0..rows).flat_map(|row| [half(row, 0), half(row, 1)].concat()).collect();
    Examples { x, y }
}

fn data(rows: usize, outputs: usize) -> Data {
    let [train, validation] = [(rows, 1), (rows / 4, 2)].map(|(rows, seed)| examples(rows, outputs, seed));
    Data { inputs: 5, targets: 2 * outputs, train, validation, ..Data::default() }
}

fn settings(loss: PairLoss) -> TrainerConfig {
    let loss = Loss::Pairs(loss);
    TrainerConfig {
        loss,
        epochs: 3,
        batch: 64,
        patience: 0,
        seed: 11,
        allows_unreachable: true,
        ..TrainerConfig::default()
    }
}

/// Heads of every form, every normalisation and both kinds of denominators, with losses that together have every term.
fn heads() -> Vec<(Head, PairLoss)> {
    let form = HeadForm::Rational { numerator: 2, denominator: 3, basis: Basis::Chebyshev };
    let (usual, none) = (PairLoss::default(), PairLoss { gamma: 1e-3, ..PairLoss::none() });
    let drawn = PairLoss { implicit: 0.5, decoded: 0.5, margin: 0.5, tau: [0.5, 1.5], ..none };
    let detached = PairLoss { implicit: 1.0, gamma: 0.3, is_detached: true, margin: 1.0, tau: [0.7; 2], ..none };
    vec![
        (Head::rational(1), usual),
        (Head { denominators: Denominators::Shared, ..Head::linear(2) }, drawn),
        (Head::angular(2), PairLoss { sign_within: 2.0, ..usual }),
        (Head { form, floor: Some(0.2), denominators: Denominators::Each, ..Head::rational(3) }, detached),
        (Head { gauge: PairNormalization::Unit, ..Head::rational(2) }, drawn),
        (
            Head { gauge: PairNormalization::UnitAttached, ..Head::linear(1) },
            PairLoss { implicit: 0.5, gamma: 1e-3, ..usual },
        ),
    ]
}

fn losses(device: &Device, head: Head, settings: &TrainerConfig, data: &Data) -> Vec<f64> {
    let spec = Spec::projective(5, &[20, 12], head, Activation::silu());
    let mut trainer = Trainer::new(device, spec, settings.clone(), data.clone()).expect("a trainer");
    block_on(trainer.run(&mut |_| Flow::Continue)).expect("a run");
    let figures = trainer.history().iter().flat_map(|epoch| {
        let pairs = epoch.pairs.expect("pairs are watched");
        [Some(epoch.train_loss), epoch.val_loss, Some(pairs.mean_q)]
    });
    figures.flatten().collect()
}

fn webgpu() -> Option<Device> {
    let request = Request { device: crate::devices::gpu(), ..Request::default() };
    let is_wanted = std::env::var_os("MERO_NO_GPU").is_none();
    is_wanted
        .then(|| block_on(Device::open(&request)).expect("a Vulkan driver (mesa-vulkan-drivers), or MERO_NO_GPU=1"))
}

#[test]
fn fused_and_recorded_steps_agree_for_every_head() {
    let gpu = webgpu();
    let mut failures = Vec::new();
    for (at, (head, loss)) in heads().into_iter().enumerate() {
        let data = data(300, head.outputs);
        let step = |step| TrainerConfig { step: Some(step), ..settings(loss) };
        let expected = losses(&Device::cpu(1), head, &step(StepKind::Recorded), &data);
        if (expected[6] / expected[0] - 1.0).abs() < 5.0 * BOUND {
            failures.push(format!("{head:?} {loss:?} goes nowhere, so that agreement says nothing: {expected:?}"));
        }
        // Software adapters take seconds to compile a step: two heads are tested there, and the kernels' cases cover the rest.
        let devices = [Some(Device::cpu(1)), Some(Device::cpu(2)), gpu.clone().filter(|_| at < 2)];
        for device in devices.iter().flatten() {
            let got = losses(device, head, &step(StepKind::Fused), &data);
            let worst = got.iter().zip(&expected).map(|(a, b)| (a - b).abs() / b.abs()).fold(0.0, f64::max);
            if worst.is_nan() || worst > BOUND || got.len() != expected.len() {
                let name = device.info().device;
                failures.push(format!("{head:?} {loss:?} on {name}: off by {worst:.1e}: {got:?} {expected:?}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn results_are_bitwise_equal_for_any_number_of_threads() {
    for (head, loss) in heads() {
        let data = data(900, head.outputs);
        for (batch, many) in [(64, 2), (768, 3)] {
            let settings = TrainerConfig { batch, ..settings(loss) };
            let runs = [1, many].map(|threads| losses(&Device::cpu(threads), head, &settings, &data));
            assert_eq!(runs[0], runs[1], "{head:?} in batches of {batch}");
        }
    }
}

#[test]
fn a_step_with_a_head_is_exactly_two_launches() -> Result<()> {
    let device = Device::dry();
    let spec = Spec::projective(5, &[64, 64, 64], Head::rational(1), Activation::silu());
    let drawn = PairLoss { decoded: 1.0, tau: [0.1, 0.2], ..PairLoss::default() };
    let mut trainer = Trainer::new(&device, spec, TrainerConfig { batch: 256, ..settings(drawn) }, data(5120, 1))?;
    assert_eq!(trainer.step_kind(), StepKind::Fused);
    assert_eq!(trainer.step_summary().launches.len(), 2);
    trainer.advance(1)?;
    let before = device.counters();
    trainer.advance(15)?;
    let after = device.counters();
    assert_eq!(after.launches - before.launches, 30);
    assert_eq!(after.bind_groups, before.bind_groups);
    assert_eq!(after.uploaded_bytes, before.uploaded_bytes);
    assert_eq!(after.readbacks, before.readbacks);
    Ok(())
}

#[test]
fn both_steps_draw_the_same_thresholds() {
    // With only the margin term and a negligible learning rate, the loss of a batch determines its threshold.
    let loss = PairLoss { margin: 1.0, tau: [2.0, 3.0], ..PairLoss::none() };
    let spec = Spec::projective(5, &[4], Head::linear(1), Activation::silu());
    let runs = [StepKind::Fused, StepKind::Recorded].map(|step| {
        let settings = TrainerConfig { step: Some(step), lr: 1e-9, ..settings(loss) };
        let mut trainer = Trainer::new(&Device::cpu(1), spec.clone(), settings, data(320, 1)).expect("a trainer");
        trainer.advance(5).expect("five steps");
        block_on(trainer.batch_losses()).expect("their losses")
    });
    for (fused, recorded) in runs[0].iter().zip(&runs[1]) {
        assert!((fused / recorded - 1.0).abs() < 1e-5, "{runs:?}");
    }
    assert!(runs[0].windows(2).all(|pair| (pair[0] / pair[1] - 1.0).abs() > 1e-3), "{runs:?}");
}

#[test]
fn terms_over_groups_of_rows_use_the_recorded_step() -> Result<()> {
    let grouped = PairLoss { coverage: 1.0, ..PairLoss::default() };
    let spec = Spec::projective(5, &[8], Head::rational(1), Activation::silu());
    let start = |settings: TrainerConfig| Trainer::new(&Device::dry(), spec.clone(), settings, data(64, 1));
    assert_eq!(start(settings(grouped))?.step_kind(), StepKind::Recorded);
    let error = start(TrainerConfig { step: Some(StepKind::Fused), ..settings(grouped) }).err().expect("it is refused");
    let expected = "train: the fused step takes losses of pairs row by row; the terms bottom, finite and coverage are over groups of rows and need the recorded step";
    assert_eq!(error.to_string(), expected);
    Ok(())
}
