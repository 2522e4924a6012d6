//! Masked norm and softmax as layers of a model: propagation of ⊥, running statistics, and prediction.

use meromorph::autograd::Var;
use meromorph::loss::{Loss, PairLoss};
use meromorph::model::Model;
use meromorph::nn::{
    Activation, ActivationLayer, Head, Init, Layer, Layout, Linear, MaskedNorm, MaskedSoftmax, Pass, Policy,
    RationalLayer, Registry, Residual, Spec, forward, learn,
};
use meromorph::optim::{Optimizer, Schedule, ScheduleShape};
use meromorph::tensor::Tensor;
use meromorph::train::{Checkpoint, Data, Examples, Flow, Trainer, TrainerConfig};
use meromorph::{Device, ops};
use pollster::block_on;

use super::{near, numbers};
use crate::devices::devices;

fn norm(epsilon: f32) -> Layer {
    Layer::MaskedNorm(MaskedNorm { epsilon, policy: None })
}

/// 1 / x as a rational layer with fixed coefficients.
fn inverse() -> Layer {
    Layer::Rational(RationalLayer::new(0, 1))
}

/// The flat parameters from the values of each, in the layout's order.
fn flat(layout: &Layout, values: &[&[f32]]) -> Vec<f32> {
    let mut flat = vec![0.0; layout.total];
    for (parameter, values) in layout.parameters.iter().zip(values) {
        flat[parameter.offset..][..values.len()].copy_from_slice(values);
    }
    flat
}

/// Options with which weights do not change.
fn still(batch: usize) -> TrainerConfig {
    TrainerConfig {
        loss: Loss::Pairs(PairLoss { decoded: 1.0, ..PairLoss::none() }),
        optimizer: Optimizer::adamw(0.5),
        schedule: Schedule { warmup_steps: 0, shape: ScheduleShape::Constant },
        lr: 1e-30,
        epochs: 1,
        batch,
        patience: 0,
        ..TrainerConfig::default()
    }
}

/// Trains from these parameters; returns the trained values by name.
fn trained(spec: &Spec, settings: &TrainerConfig, x: &[f32], parameters: &[f32]) -> impl Fn(&str) -> Vec<f32> + use<> {
    let rows = x.len() / spec.inputs;
    let train = Examples { x: x.to_vec(), y: [1.0, 1.0].repeat(rows * spec.values().unwrap()) };
    let data = Data { inputs: spec.inputs, targets: 2 * spec.values().unwrap(), train, ..Data::default() };
    let mut trainer =
        Trainer::with_parameters(&Device::cpu(1), spec.clone(), settings.clone(), data, parameters).unwrap();
    block_on(trainer.run(&mut |_| Flow::Continue)).unwrap();
    let (layout, flat) = (Layout::of(spec), block_on(trainer.parameters()).unwrap());
    move |name| {
        let parameter = layout.parameters.iter().find(|parameter| parameter.name == name).unwrap();
        layout.slice(parameter, &flat).to_vec()
    }
}

#[test]
fn running_statistics_of_a_norm_ignore_bottom() {
    let spec = Spec { inputs: 1, layers: vec![inverse(), norm(0.0), Layer::Projective(Head::value(1))] };
    let layout = Layout::of(&spec);
    let names: Vec<&str> = layout.parameters.iter().map(|parameter| &parameter.name[..]).collect();
    assert_eq!(names, ["layers.0.coefficients", "layers.1.mean", "layers.1.variance", "layers.1.seen"]);
    let start = flat(&layout, &[&[1.0, 0.0, 1.0], &[0.0], &[1.0], &[0.0]]);
    // 1, 1/2, ⊥ and 1/4: mean 7/12, variance 7/72, independent of the initial values.
    let after = trained(&spec, &still(4), &[1.0, 2.0, 0.0, 4.0], &start);
    near(&after("layers.1.mean"), &[7.0 / 12.0], 1e-6);
    near(&after("layers.1.variance"), &[7.0 / 72.0], 1e-6);
    near(&after("layers.1.seen"), &[0.75 * 0.1], 1e-6);
    // A step of three rows and one of one row, padded with two copies, which do not count.
    let after = trained(&spec, &still(3), &[1.0, 1.0, 1.0, 1.0], &start);
    near(&after("layers.1.seen"), &[0.09 + 0.1 / 3.0], 1e-6);
    near(&after("layers.1.mean"), &[1.0], 1e-6);
    // A batch without numbers has no statistics.
    let after = trained(&spec, &still(4), &[0.0; 4], &start);
    assert_eq!((after("layers.1.mean"), after("layers.1.variance")), (vec![0.0], vec![1.0]));
    assert_eq!(after("layers.1.seen"), [0.0]);
}

#[test]
fn the_latest_batches_have_the_largest_weight() {
    let spec = Spec { inputs: 1, layers: vec![norm(0.0), Layer::Projective(Head::value(1))] };
    let start = flat(&Layout::of(&spec), &[&[4.0], &[2.0], &[0.5]]);
    let after = trained(&spec, &still(2), &[1.0, 3.0], &start);
    // The old statistics then have weight 0.45, the batch 0.1.
    near(&after("layers.0.mean"), &[(0.45 * 4.0 + 0.1 * 2.0) / 0.55], 1e-6);
    near(&after("layers.0.variance"), &[(0.45 * 2.0 + 0.1 * 1.0) / 0.55], 1e-6);
    near(&after("layers.0.seen"), &[0.55], 1e-6);
}

#[test]
fn statistics_are_never_lost() {
    let spec = Spec { inputs: 1, layers: vec![inverse(), norm(0.0), Layer::Projective(Head::value(1))] };
    let start = flat(&Layout::of(&spec), &[&[1.0, 0.0, 1.0], &[4.0], &[2.0], &[1e-28]]);
    let train = Examples { x: vec![0.0; 4], y: [1.0, 1.0].repeat(4) };
    let data = Data { inputs: 1, targets: 2, train, ..Data::default() };
    for device in devices(&[1, 2]) {
        let mut trainer = Trainer::with_parameters(&device, spec.clone(), still(4), data.clone(), &start).unwrap();
        // Batches of nothing but ⊥.
        trainer.advance(60).unwrap();
        let seen = block_on(trainer.parameters()).unwrap()[64 * 3];
        assert!((1e-29..2e-29).contains(&seen), "{seen:e} on {}", device.info().name);
    }
}

/// Poles, norm, a mix of columns, softmax and a head.
fn mixed() -> (Spec, Vec<f32>) {
    let linear = Layer::Linear(Linear { outputs: 3, bias: true, init: Init::Linear });
    let softmax = Layer::MaskedSoftmax(MaskedSoftmax { policy: None });
    let layers = vec![inverse(), norm(1e-5), linear, softmax, Layer::Projective(Head::value(3))];
    let spec = Spec { inputs: 2, layers };
    let weights = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0];
    let values: [&[f32]; 6] = [&[1.0, 0.0, 1.0], &[0.5, 0.25], &[1.0, 4.0], &[1.0, 1.0], &weights, &[0.0, 0.0, 0.1]];
    let flat = flat(&Layout::of(&spec), &values);
    (spec, flat)
}

#[test]
fn a_prediction_depends_on_its_own_row_only_and_bottom_stays_bottom() {
    let (spec, flat) = mixed();
    let layout = Layout::of(&spec);
    let x = [1.0, 2.0, 0.0, 2.0, -1.0, 0.5, 3.0, f32::NAN, -2.0, -4.0];
    for device in devices(&[1, 2]) {
        let leaves = layout.leaves(&device, &device.upload(bytemuck::cast_slice(&flat)).unwrap());
        let run = |x: &[f32]| {
            let x = Var::constant(Tensor::from_f32(&device, [x.len() / 2, 2], x).unwrap());
            numbers(&forward(&spec, &leaves, &x, &Pass::Predict))
        };
        let together = run(&x);
        let alone: Vec<f32> = x.chunks(2).flat_map(run).collect();
        assert_eq!(together, alone, "on {}", device.info().name);
        // The first row by hand: 1 and 1/2 are 0.5 and 0.125 from the mean, in units of 1 and 2.
        let z = [0.5, 0.125, 0.725_f64].map(f64::exp);
        let sum: f64 = z.iter().sum();
        near(&together[..3], &z.map(|z| z / sum), 1e-5);
        let denominators: Vec<f32> = together.chunks(6).flat_map(|row| row[3..].to_vec()).collect();
        assert_eq!(denominators, [[1.0; 3], [0.0; 3], [1.0; 3], [0.0; 3], [1.0; 3]].concat());
        assert!(together[6..9].iter().chain(&together[18..21]).all(|p| *p == 1.0), "⊥ is (1, 0)");
    }
}

#[test]
fn a_column_without_statistics_is_bottom() {
    let (spec, mut flat) = mixed();
    let layout = Layout::of(&spec);
    flat[layout.parameters[3].offset + 1] = 0.0;
    let device = Device::cpu(1);
    let model = Model::new(spec, Loss::Pairs(PairLoss::default()), flat, None);
    let profile = block_on(model.bottom_shares(&device, &[1.0, 2.0, 0.0, 1.0])).unwrap();
    let seen: Vec<_> = profile.iter().map(|row| (row.kind, row.bottom)).collect();
    let expected =
        [("rational", 0.5), ("masked_norm", 1.0), ("linear", 1.0), ("masked_softmax", 1.0), ("projective", 1.0)];
    assert_eq!(seen, expected);
    let loaded = Model::load(&model.save().unwrap(), "m").unwrap();
    assert_eq!(loaded, model, "the file keeps the layers and what the norm has seen");
}

#[test]
fn gradients_through_masked_layers_are_finite_for_any_bits() {
    let layers = |epsilon| {
        let rational = Layer::Rational(RationalLayer::new(3, 2));
        vec![
            norm(epsilon),
            rational,
            Layer::MaskedSoftmax(MaskedSoftmax { policy: None }),
            Layer::Projective(Head::value(8)),
        ]
    };
    let mut state = 7_u32;
    let mut bits = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f32::from_bits(state ^ state >> 13)
    };
    let specials = [0.0, -0.0, 1e-45, f32::MIN_POSITIVE, f32::MAX, f32::MIN, f32::INFINITY, f32::NAN, 1.0, -3e38];
    let random: Vec<f32> = (0..512).map(|_| bits()).collect();
    let patterns = [random, specials.repeat(32), vec![3e38; 64], vec![f32::NAN; 64], vec![1e-30; 64], vec![0.1; 8]];
    for device in devices(&[1, 2]) {
        for (epsilon, policy) in [(0.0, Policy::default()), (1e-5, Policy::Passthrough), (1e-40, Policy::Project)] {
            let spec = Spec { inputs: 8, layers: layers(epsilon) };
            let layout = Layout::of(&spec);
            let start = flat(&layout, &[&[0.0; 8], &[1.0; 8], &[0.0; 8], &[0.1, 1.0, 0.2, 0.3, 1.0, 0.5, 0.2]]);
            let leaves = layout.leaves(&device, &device.upload(bytemuck::cast_slice(&start)).unwrap());
            let mut policies = Registry::default();
            for kind in ["scm_norm", "scm_softmax", "scm_rational"] {
                policies.register(kind, policy).unwrap();
            }
            for x in &patterns {
                let rows = x.len() / 8;
                let x = Var::leaf(Tensor::from_f32(&device, [rows, 8], x).unwrap());
                let present = Var::constant(Tensor::from_f32(&device, [rows, 1], &vec![1.0; rows]).unwrap());
                let control = Tensor::from_u32(&device, [4], &[0; 4]).unwrap();
                let mode = Pass::Train { seed: 0, control, policies: policies.clone(), present };
                let (z, seen) = learn(&spec, &leaves, &x, &mode);
                let slopes: Vec<f32> = (0..rows * 16).map(|k| [1.0, -3e38, 3e38, 1e-30][k % 4]).collect();
                let slopes = Var::constant(Tensor::from_f32(&device, [rows, 16], &slopes).unwrap());
                let gradients = ops::grad(&ops::mul(&z, &slopes), &[&x]).unwrap();
                let all = seen.iter().map(|seen| &seen.value).chain(gradients.iter().flatten());
                for (at, values) in all.chain([&z]).enumerate() {
                    let bad = numbers(values).into_iter().find(|value| !value.is_finite());
                    assert!(bad.is_none(), "{policy} {epsilon} on {}: {bad:?} in {at}", device.info().name);
                }
            }
        }
    }
}

/// A wave with a pole, in a model of every masked layer.
fn waves() -> (Spec, TrainerConfig, Data) {
    let linear = |outputs| Layer::Linear(Linear { outputs, bias: true, init: Init::Linear });
    let layers = vec![
        linear(12),
        Layer::Activation(ActivationLayer { function: Activation::silu() }),
        norm(1e-5),
        Layer::Residual(Residual { layers: vec![linear(12), Layer::MaskedSoftmax(MaskedSoftmax { policy: None })] }),
        linear(2),
        Layer::Projective(Head::linear(1)),
    ];
    let examples = |rows: usize, shift: f32| {
        let x: Vec<f32> = (0..rows).map(|k| (k as f32 * 37.0 + shift) % 4.0 - 2.0).collect();
        Examples { y: x.iter().flat_map(|x| [x.sin(), x.cos()]).collect(), x }
    };
    let data =
        Data { inputs: 1, targets: 2, train: examples(150, 0.1), validation: examples(50, 0.3), ..Data::default() };
    let loss = Loss::Pairs(PairLoss::default());
    (
        Spec { inputs: 1, layers },
        TrainerConfig { loss, epochs: 6, lr: 5e-3, batch: 32, patience: 0, ..TrainerConfig::default() },
        data,
    )
}

#[test]
fn training_with_masked_layers_is_the_same_on_every_device_and_its_steps_cost_only_launches() {
    let mut seen: Vec<(Vec<f64>, Vec<f32>)> = Vec::new();
    for device in devices(&[1, 2]) {
        let (spec, settings, data) = waves();
        let mut trainer = Trainer::new(&device, spec, settings, data).unwrap();
        let launches = trainer.step_summary().launches.len();
        assert!(launches <= 105, "{launches} launches a step");
        let before = device.counters();
        block_on(trainer.run(&mut |_| Flow::Continue)).unwrap();
        let after = device.counters();
        // Six epochs of five steps: an upload of order and rates for each epoch, and nothing for each step.
        assert!(after.uploaded_bytes - before.uploaded_bytes < 6 * 4 * (150 + 4 * 5 + 64), "uploads");
        let losses = trainer.history().iter().flat_map(|epoch| [Some(epoch.train_loss), epoch.val_loss]).flatten();
        seen.push((losses.collect(), block_on(trainer.predict(&[-1.5, 0.0, 0.7, 1.9])).unwrap()));
    }
    for (losses, pairs) in &seen {
        assert!(
            losses.iter().zip(&seen[0].0).all(|(a, b)| (a - b).abs() < 2e-4 * b.abs()),
            "{losses:?} {:?}",
            seen[0].0
        );
        assert!(pairs.iter().zip(&seen[0].1).all(|(a, b)| (a - b).abs() < 2e-3), "{pairs:?} {:?}", seen[0].1);
    }
    assert_eq!(seen[0], seen[1], "one thread and two give the same bits");
    assert!(seen[0].0[10] < 0.9 * seen[0].0[0], "it learns: {:?}", seen[0].0);
}

#[test]
fn a_run_with_a_norm_resumes_bit_for_bit() {
    let new = || {
        let (spec, settings, data) = waves();
        Trainer::new(&Device::cpu(1), spec, settings, data).unwrap()
    };
    let mut whole = new();
    block_on(whole.run(&mut |_| Flow::Continue)).unwrap();
    let mut first = new();
    for _ in 0..2 {
        block_on(first.epoch(&mut |_| Flow::Continue)).unwrap();
    }
    let bytes = block_on(first.checkpoint()).unwrap().save(None).unwrap();
    let (checkpoint, _) = Checkpoint::load(&bytes, "test").unwrap();
    let mut second = Trainer::resume(&Device::cpu(1), waves().2, checkpoint).unwrap();
    block_on(second.run(&mut |_| Flow::Continue)).unwrap();
    assert_eq!(block_on(second.parameters()).unwrap(), block_on(whole.parameters()).unwrap());
    assert_eq!(second.history(), whole.history());
}

#[test]
fn a_model_that_cannot_predict_bottom_predicts_infinity() {
    let linear = Layer::Linear(Linear { outputs: 1, bias: true, init: Init::Linear });
    let spec = Spec { inputs: 1, layers: vec![norm(1e-5), linear] };
    let layout = Layout::of(&spec);
    let flat = flat(&layout, &[&[-3e38], &[1.0], &[1.0], &[1.0], &[0.5]]);
    for device in devices(&[1, 2]) {
        let leaves = layout.leaves(&device, &device.upload(bytemuck::cast_slice(&flat)).unwrap());
        // The first value is too far from the mean for a float.
        let x = Var::constant(Tensor::from_f32(&device, [2, 1], &[3e38, -3e38]).unwrap());
        let got = numbers(&forward(&spec, &leaves, &x, &Pass::Predict));
        assert!(!got[0].is_finite() && got[1] == 0.5, "{got:?}");
    }
}

#[test]
fn invalid_masked_layers_are_errors() {
    let linear = Layer::Linear(Linear { outputs: 1, bias: true, init: Init::Linear });
    let said =
        |layer: Layer| Spec { inputs: 2, layers: vec![layer, linear.clone()] }.outputs().unwrap_err().to_string();
    assert_eq!(
        said(norm(0.0)),
        "model: layers.0: a masked norm is ⊥ in a column of variance 0; end the model in a projective head, which can predict ⊥, or set its epsilon"
    );
    assert_eq!(
        said(norm(-1.0)),
        "model: layers.0: a masked norm's epsilon: got -1, expected 0 or a positive normal number"
    );
    assert!(said(norm(1e-40)).ends_with("expected 0 or a positive normal number"), "a subnormal");
    let inside = Layer::Residual(Residual { layers: vec![norm(0.0)] });
    assert!(said(inside).contains("is ⊥ in a column of variance 0"));
    let fine = vec![norm(1e-5), Layer::MaskedSoftmax(MaskedSoftmax { policy: None }), linear.clone()];
    assert_eq!(Spec { inputs: 2, layers: fine }.outputs().unwrap(), 1);
}
