//! Several models trained at once: each is the model of its own seed, bit for bit, and their predictions are means.

use crate::devices::devices;
use crate::noise::noise;
use meromorph::device::Device;
use meromorph::files::{Header, read_plain};
use meromorph::loss::{Loss, PairLoss};
use meromorph::model::{Initial, Model, Network, Prediction, Storage};
use meromorph::nn::{Activation, Decoding, Head, Layout, Linear, Norm, Spec};
use meromorph::ops;
use meromorph::optim::{Optimizer, Plateau, Schedule, ScheduleShape};
use meromorph::run::TrainOptions;
use meromorph::table::{Feature, NumberFeature, Preparation, Target};
use meromorph::train::{
    Checkpoint, Clip, Data, Examples, Flow, GradientConfig, GradientHook, Hooked, StepGradients, StepKind, Stop,
    Trainer, TrainerConfig,
};
use pollster::block_on;

/// y = sin(2 x0) + x1 with noise, 90 and 40 rows: batches of 32 leave a last one of 26.
fn data() -> Data {
    let examples = |rows: usize, seed: u32| {
        let x = noise(2 * rows, seed);
        let error = noise(rows, seed + 10);
        let y = x.chunks_exact(2).zip(error).map(|(x, error)| (2.0 * x[0]).sin() + x[1] + 0.3 * error).collect();
        Examples { x, y }
    };
    Data { inputs: 2, targets: 1, train: examples(90, 1), validation: examples(40, 2), ..Data::default() }
}

fn spec() -> Spec {
    Spec::mlp(2, &[12, 7], 1, Activation::tanh())
}

const PLATEAU: Schedule =
    Schedule { warmup_steps: 0, shape: ScheduleShape::Plateau(Plateau { patience: 1, factor: 0.5 }) };

/// Few epochs of patience at a high rate, so that models end at different epochs.
fn config() -> TrainerConfig {
    TrainerConfig {
        epochs: 60,
        batch: 32,
        patience: 4,
        lr: 0.03,
        seed: 5,
        schedule: Schedule::CONSTANT,
        optimizer: Optimizer::adamw(0.01),
        ..TrainerConfig::default()
    }
}

fn trained(device: &Device, model: impl Into<Network>, settings: TrainerConfig) -> Trainer {
    let mut trainer = Trainer::new(device, model, settings, data()).unwrap();
    block_on(trainer.run(&mut |_| Flow::Continue)).unwrap();
    trainer
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Asserts that three models trained at once are those of the seeds trained alone.
fn assert_are_those_alone(device: &Device, model: &Network, settings: &TrainerConfig, what: &str) {
    let together = trained(device, model.clone(), TrainerConfig { members: 3, ..settings.clone() });
    let all = block_on(together.parameters()).unwrap();
    let mut losses = Vec::new();
    for (at, own) in all.chunks_exact(all.len() / 3).enumerate() {
        let alone =
            trained(device, model.clone(), TrainerConfig { seed: settings.seed + at as u64, ..settings.clone() });
        assert_eq!(together.step_kind(), alone.step_kind(), "{what}");
        assert_eq!(together.best_epochs()[at], alone.best_epochs()[0], "{what}: model {at}");
        assert_eq!(bits(own), bits(&block_on(alone.parameters()).unwrap()), "{what}: model {at}");
        losses.push(alone.history()[0].val_loss.unwrap());
    }
    let mean = losses.iter().sum::<f64>() / 3.0;
    assert!((together.history()[0].val_loss.unwrap() - mean).abs() < 1e-12, "{what}");
    assert!(losses[0] != losses[1] && losses[1] != losses[2], "{what}: the seeds differ");
}

#[test]
fn each_is_the_model_of_its_seed() {
    for device in devices(&[1, 2]) {
        let name = device.info().device;
        let network = Network::from(spec());
        assert_are_those_alone(&device, &network, &config(), &format!("{name}, fused"));
        let recorded = TrainerConfig { step: Some(StepKind::Recorded), epochs: 8, ..config() };
        assert_are_those_alone(&device, &network, &recorded, &format!("{name}, recorded"));
    }
    let device = Device::cpu(1);
    // The seed of dropout, running statistics, limits, accumulated gradients, norms of tensors, a mean of the weights.
    let options = TrainOptions { dropout: 0.2, norm: Norm::named("masked"), ..TrainOptions::default() };
    let layers = [("dropout and statistics", Network::from(options.spec(2, 1))), ("plain", Network::from(spec()))];
    let limits = GradientConfig { clip: Some(Clip::Norm { most: 0.5 }), ..GradientConfig::default() };
    let mean = GradientConfig { mean_decay: Some(0.9), ..GradientConfig::default() };
    let settings = [
        TrainerConfig { epochs: 6, ..config() },
        TrainerConfig { epochs: 6, gradients: limits, accumulate: 2, ..config() },
        TrainerConfig { epochs: 6, gradients: mean, ..config() },
        TrainerConfig { epochs: 6, optimizer: Optimizer::parse("lamb").unwrap(), ..config() },
        TrainerConfig { epochs: 6, optimizer: Optimizer::parse("muon").unwrap(), ..config() },
        TrainerConfig { epochs: 12, schedule: PLATEAU, patience: 0, ..config() },
    ];
    for (name, network) in &layers {
        for (at, settings) in settings.iter().enumerate() {
            assert_are_those_alone(&device, network, settings, &format!("{name}, settings {at}"));
        }
    }
    let function = Network::function(2, [("w", Initial::normal([2, 1], 0.5))], |p, x| ops::matmul(x, &p["w"]));
    assert_are_those_alone(&device, &function, &config(), "function");
}

#[test]
fn a_run_ends_when_all_of_them_have() {
    let settings = TrainerConfig { members: 4, ..config() };
    let mut trainer = Trainer::new(&Device::cpu(1), spec(), settings, data()).unwrap();
    let outcome = block_on(trainer.run(&mut |_| Flow::Continue)).unwrap();
    assert_eq!(outcome.stop, Stop::Patience);
    let best: Vec<usize> = trainer.best_epochs().into_iter().flatten().collect();
    let last = *best.iter().max().unwrap();
    assert!(best.iter().any(|epoch| *epoch < last), "{best:?}");
    assert_eq!((outcome.best_epoch, outcome.epochs), (Some(last), last + 1 + config().patience));
}

#[test]
fn a_model_that_has_ended_keeps_its_weights_while_others_go_on() {
    let device = Device::cpu(1);
    let settings = TrainerConfig { members: 2, epochs: 30, ..config() };
    let mut begun = Trainer::new(&device, spec(), settings, data()).unwrap();
    let two_epochs = |trainer: &mut Trainer| {
        let mut left = 2;
        block_on(trainer.run(&mut |event| {
            left -= usize::from(matches!(event, meromorph::train::Event::Epoch(_)));
            if left == 0 { Flow::Stop } else { Flow::Continue }
        }))
        .unwrap();
    };
    two_epochs(&mut begun);
    let checkpoint = block_on(begun.checkpoint()).unwrap();
    let total = checkpoint.best.len() / 2;
    for has_diverged in [true, false] {
        let mut changed = checkpoint.clone();
        let first = &mut changed.progress.standings[0];
        (first.has_diverged, first.since_best) = (has_diverged, if has_diverged { 0 } else { 4 });
        let bytes = changed.save(None).unwrap();
        let mut trainer = Trainer::resume(&device, data(), Checkpoint::load(&bytes, "run").unwrap().0).unwrap();
        let outcome = block_on(trainer.run(&mut |_| Flow::Continue)).unwrap();
        let kept = block_on(trainer.parameters()).unwrap();
        assert_eq!(kept[..total], checkpoint.best[..total], "{has_diverged}");
        assert_ne!(kept[total..], checkpoint.best[total..], "{has_diverged}");
        assert!(outcome.epochs > 2 && trainer.history()[2].val_loss.is_some(), "{has_diverged}");
    }
    // Where all have ended, there is no further epoch, also if it is asked for again.
    let mut ended = checkpoint;
    ended.progress.standings.iter_mut().for_each(|standing| standing.since_best = 1000);
    let mut trainer = Trainer::resume(&device, data(), ended).unwrap();
    for _ in 0..2 {
        let outcome = block_on(trainer.run(&mut |_| Flow::Continue)).unwrap();
        assert_eq!((outcome.stop, outcome.epochs), (Stop::Patience, 2));
    }
}

#[test]
fn a_run_goes_on_from_its_file_with_the_same_bits() {
    let gradients = GradientConfig { clip: Some(Clip::Norm { most: 0.5 }), ..GradientConfig::default() };
    let settings = TrainerConfig { members: 3, batch: 4, epochs: 6, accumulate: 3, gradients, ..config() };
    for device in devices(&[1, 2]) {
        let name = device.info().device;
        let whole = trained(&device, spec(), settings.clone());
        let mut begun = Trainer::new(&device, spec(), settings.clone(), data()).unwrap();
        // Stops in the middle of the first epoch, and of the gradients of an update.
        block_on(begun.run(&mut |event| match event {
            meromorph::train::Event::Steps { .. } => Flow::Stop,
            _ => Flow::Continue,
        }))
        .unwrap();
        assert_eq!(begun.steps_done(), 16, "{name}");
        let bytes = block_on(begun.checkpoint()).unwrap().save(None).unwrap();
        let checkpoint = Checkpoint::load(&bytes, "run.ckpt").unwrap().0;
        let mut resumed = Trainer::resume(&device, data(), checkpoint).unwrap();
        block_on(resumed.run(&mut |_| Flow::Continue)).unwrap();
        let [whole, resumed] = [whole, resumed].map(|trainer| block_on(trainer.parameters()).unwrap());
        assert_eq!(bits(&whole), bits(&resumed), "{name}");
    }
}

/// Two lines, x and 3 x + 2, of a target with mean 10 and scale 2.
fn lines() -> Model {
    let spec = Spec::mlp(1, &[], 1, Activation::identity());
    let parameters: Vec<f32> = [[1.0, 0.0], [3.0, 2.0]]
        .into_iter()
        .flat_map(|[weight, bias]| {
            let mut flat = vec![0.0; 128];
            (flat[0], flat[64]) = (weight, bias);
            flat
        })
        .collect();
    let target = Target::Regression { name: "y".into(), mean: 10.0, scale: 2.0, min: 0.0, max: 20.0 };
    let x = NumberFeature { name: "x".into(), scale: 1.0, min: -2.0, max: 2.0, ..NumberFeature::default() };
    let preparation = Preparation::new(vec![Feature::Numeric(x)], target);
    Model::new(spec, Loss::mse(), parameters, Some(preparation))
}

#[test]
fn predictions_are_means_with_their_deviations() {
    let table = read_plain(b"x\n1\n-1\n", "t.csv", Header::Yes).unwrap();
    let model = lines();
    assert_eq!(model.members(), 2);
    for device in devices(&[1, 2]) {
        let name = device.info().device;
        // At x = 1: outputs 1 and 5, so 10 + 2 · 3 and 2 · 2; at -1: -1 and -1.
        let got = block_on(model.predict(&device, &table)).unwrap();
        let expected = [(16.0, 4.0), (8.0, 0.0)].map(|(mean, deviation)| Prediction::Normal { mean, deviation });
        assert_eq!(got, expected, "{name}");
        let mut ready = model.ready(&device).unwrap();
        if device.info().runs_cpu_path() {
            let mut output = [0.0];
            ready.row(&[2.0], &mut output).unwrap();
            assert_eq!(output, [5.0], "{name}");
        }
    }
}

#[test]
fn a_file_holds_them_as_one_more_dimension() {
    let model = lines();
    for storage in [Storage::F32, Storage::F16, Storage::Int8] {
        let bytes = model.save_as(storage).unwrap();
        let text = String::from_utf8_lossy(&bytes[..4000.min(bytes.len())]).into_owned();
        assert!(text.contains("\"shape\":[2,1,1]") && text.contains("\"shape\":[2,1]"), "{text}");
        let read = Model::load(&bytes, "m").unwrap();
        assert_eq!((read.members(), read.format), (2, 4));
        // 3 / 127 is rounded in int8, and times 127 it is 3 again.
        assert_eq!(read.parameters, model.parameters, "{storage:?}");
    }
    let second = Model::load(&model.member(1).save().unwrap(), "m").unwrap();
    assert_eq!((second.members(), second.format), (1, 2));
    assert_eq!((second.parameters[0], second.parameters[64]), (3.0, 2.0));
}

#[test]
fn a_mean_of_poles_is_bottom_where_one_of_them_is() {
    let head = Head {
        decoding: Decoding { tau_infer: 0.1, tau_train: Some(0.3), ..Decoding::default() },
        anchor: 0.0,
        ..Head::linear(1)
    };
    let spec = Spec { inputs: 1, layers: vec![Linear::new(head.features()).into(), head.into()] };
    let layout = Layout::of(&spec);
    // 1 / x and 1 / (x - 1): the outputs of a layer [P, Q] of weights (0, 1) and biases (1, 0) and (1, -1).
    let of = |shift: f32| {
        let mut flat = vec![0.0; layout.total];
        flat[layout.parameters[0].offset..][..2].copy_from_slice(&[0.0, 1.0]);
        flat[layout.parameters[1].offset..][..2].copy_from_slice(&[1.0, -shift]);
        flat
    };
    let loss = Loss::Pairs(PairLoss::default());
    let parameters = [of(0.0), of(1.0)].concat();
    // Also of a model whose own loss is not in its file.
    let models = [loss, Loss::mse()].map(|loss| Model::new(spec.clone(), loss, parameters.clone(), None));
    for (model, device) in
        models.iter().flat_map(|model| devices(&[1, 2]).into_iter().map(move |device| (model, device)))
    {
        // At 2, 1/2 and 1; at -1, -1 and -1/2; at 0 and 1 one of them is a pole, at 1.05 nearly; at 0.5, 2 and -2.
        let decoded = block_on(model.decoded(&device, &[2.0, -1.0, 0.0, 1.0, 1.05, 0.5])).unwrap();
        let bottoms: Vec<bool> = (0..6).map(|row| decoded.is_bottom(row)).collect();
        assert_eq!(bottoms, [false, false, true, true, true, false], "{}", device.info().device);
        assert_eq!([decoded.value[0], decoded.value[1], decoded.value[5]], [0.75, -0.75, 0.0]);
        assert!(!decoded.is_fault(2) && !decoded.is_fault(3), "{}", device.info().device);
    }
}

struct Nothing;

impl GradientHook for Nothing {
    fn between<'h>(&'h mut self, _: &'h mut StepGradients<'_>) -> Hooked<'h> {
        Box::pin(async { Ok(()) })
    }
}

#[test]
fn what_takes_one_model_says_so() {
    let device = Device::cpu(1);
    let said = |members: usize| {
        let settings = TrainerConfig { members, ..config() };
        Trainer::new(&device, spec(), settings, data()).err().map(|error| error.to_string())
    };
    assert_eq!(said(0), Some("train: members is 0; a run trains at least 1 model".into()));
    let mut two = Trainer::new(&device, spec(), TrainerConfig { members: 2, ..config() }, data()).unwrap();
    let error = two.hook_with(Nothing).unwrap_err().to_string();
    assert_eq!(error, "hook_with: got members 2, expected 1, whose gradients a hook sees");
    let wrong = Model::new(spec(), Loss::mse(), vec![0.0; 10], None);
    let error = block_on(wrong.outputs(&device, &[0.0, 0.0])).unwrap_err().to_string();
    let total = Network::from(spec()).layout().total;
    assert_eq!(error, format!("predict: got 10 flat parameters, expected {total} for each model"));
    let gaussian = Model::new(lines().spec, Loss::parse("gaussian_nll").unwrap(), lines().parameters, None);
    let error = Model::load(&gaussian.save().unwrap(), "m").unwrap_err().to_string();
    assert_eq!(error, "m: its loss \"gaussian_nll\" does not fit its outputs: got [1] columns");
    let error = Trainer::with_parameters(&device, spec(), TrainerConfig { members: 2, ..config() }, data(), &[0.0; 10]);
    let error = error.err().unwrap().to_string();
    assert_eq!(error, format!("train: wrong number of flat parameters: got 10, expected {}", 2 * total));
}
