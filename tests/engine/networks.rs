//! Models that are functions and losses that are closures: they train like their built-in equals, and what they cannot do is an error.

use std::cell::Cell;

use crate::devices::devices;
use crate::noise::noise;
use meromorph::autograd::Var;
use meromorph::files::{Header, read_plain};
use meromorph::loss::{Loss, PairLoss};
use meromorph::model::{Batch, Initial, Network, Parameters, Prediction};
use meromorph::nn::{Activation, Layout, Spec, initialise};
use meromorph::optim::Optimizer;
use meromorph::run::TrainOptions;
use meromorph::table::{Choice, Unknown};
use meromorph::train::{CoverageGoal, Data, Examples, Flow, Keep, StepKind, Stop, Trainer, TrainerConfig};
use meromorph::{Device, Result, ops};
use pollster::block_on;

fn examples(rows: usize, seed: u32) -> Examples {
    let x = noise(rows * 5, seed);
    let y = x.chunks_exact(5).map(|x| x[0].sin() + 0.5 * x[1].cos() + x[2] * x[3] + 0.3 * x[4]).collect();
    Examples { x, y }
}

/// 300 training rows: with batches of 64 the last one has 44.
fn data() -> Data {
    Data { inputs: 5, targets: 1, train: examples(300, 1), validation: examples(80, 2), ..Data::default() }
}

fn config() -> TrainerConfig {
    let optimizer = Optimizer::adamw(1e-2).with("epsilon", 1e-6).expect("a constant of adamw");
    TrainerConfig {
        epochs: 4,
        batch: 64,
        patience: 0,
        seed: 11,
        optimizer,
        step: Some(StepKind::Recorded),
        ..TrainerConfig::default()
    }
}

fn spec() -> Spec {
    Spec::mlp(5, &[16], 1, Activation::tanh())
}

/// The perceptron of `spec` written by hand, with the same initial parameters.
fn by_hand() -> Network {
    let layout = Layout::of(&spec());
    let flat = initialise(&layout, config().seed);
    let parameters = layout.parameters.iter().map(|parameter| {
        let values = layout.slice(parameter, &flat);
        (parameter.name.clone(), Initial::values(parameter.shape.clone(), values))
    });
    let linear = |x: &Var, weight: &Var, bias: &Var| ops::add(&ops::product(x, weight, false, true), bias);
    Network::function(5, parameters, move |p, x| {
        let hidden = ops::tanh(&linear(x, &p["layers.0.weight"], &p["layers.0.bias"]));
        linear(&hidden, &p["layers.2.weight"], &p["layers.2.bias"])
    })
}

fn squares(outputs: &[Var], batch: &Batch) -> Var {
    let error = &outputs[0] - &batch.y;
    batch.mean(&(&error * &error))
}

/// y = a x_0 + b, with a loss of its own.
fn line(loss: impl Fn(&[Var], &Batch) -> Var + 'static) -> Network {
    let parameters = [("a", Initial::zeros([5, 1])), ("b", Initial::zeros([1]))];
    Network::function(5, parameters, |p, x| ops::add(&ops::matmul(x, &p["a"]), &p["b"])).with_loss(loss)
}

/// The losses of each epoch and the parameters at the end.
fn trained(device: &Device, model: impl Into<Network>, config: &TrainerConfig) -> Result<(Vec<f64>, Vec<f32>)> {
    let mut trainer = Trainer::new(device, model, config.clone(), data())?;
    block_on(trainer.run(&mut |_| Flow::Continue))?;
    let losses = trainer.history().iter().flat_map(|epoch| [Some(epoch.train_loss), epoch.val_loss]).flatten();
    Ok((losses.collect(), block_on(trainer.parameters())?))
}

#[track_caller]
fn close(place: &str, got: &(Vec<f64>, Vec<f32>), expected: &(Vec<f64>, Vec<f32>), bound: f64) {
    assert_eq!((got.0.len(), got.1.len()), (expected.0.len(), expected.1.len()), "{place}");
    let losses = got.0.iter().zip(&expected.0).map(|(a, b)| (a / b - 1.0).abs());
    let parameters = got.1.iter().zip(&expected.1).map(|(a, b)| f64::from((a - b).abs()));
    let worst = losses.chain(parameters).fold(0.0, f64::max);
    assert!(worst <= bound, "{place}: off by {worst:.1e}");
}

#[test]
fn a_perceptron_by_hand_trains_like_its_spec() -> Result<()> {
    for device in devices(&[1, 2]) {
        let expected = trained(&device, spec(), &config())?;
        close(device.info().device, &trained(&device, by_hand(), &config())?, &expected, 1e-6);
        assert!(expected.0[6] < 0.95 * expected.0[0], "it learns: {:?}", expected.0);
    }
    Ok(())
}

#[test]
fn a_closure_trains_like_the_built_in_loss_it_equals() -> Result<()> {
    let formula = TrainerConfig { loss: Loss::parse("(p - y)^2")?, ..config() };
    // It must not matter what loss the configuration names.
    let other = TrainerConfig { loss: Loss::mae(), ..config() };
    for device in devices(&[1]) {
        let expected = trained(&device, spec(), &config())?;
        for (name, model) in [("spec", Network::from(spec())), ("function", by_hand())] {
            close(name, &trained(&device, model.clone().with_loss(squares), &other)?, &expected, 1e-5);
            close(name, &trained(&device, model, &formula)?, &expected, 1e-5);
        }
    }
    Ok(())
}

#[test]
fn groups_of_steps_with_a_closure_equal_one_batch_of_all_rows() -> Result<()> {
    for device in devices(&[1]) {
        let run = |batch, accumulate| {
            trained(&device, by_hand().with_loss(squares), &TrainerConfig { batch, accumulate, ..config() })
        };
        let ((_, expected), (_, got), (_, other)) = (run(128, 1)?, run(32, 4)?, run(32, 1)?);
        let off = |values: &[f32]| values.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(off(&got) < 2e-5, "{}: off by {:.1e}", device.info().device, off(&got));
        assert!(off(&other) > 1e-3, "an update for every 32 rows is another run");
    }
    Ok(())
}

#[test]
fn every_output_is_predicted_on_its_own() -> Result<()> {
    let parameters = [("a", Initial::constant([5, 2], 2.0)), ("b", Initial::constant([1, 1], 3.0))];
    let model = Network::function(5, parameters, |p, x| {
        let wide = ops::matmul(x, &p["a"]);
        let narrow = &ops::sum(x, 1..2) * &p["b"];
        vec![wide, narrow]
    });
    let model = model.with_loss(|z, batch| ops::add(&batch.mean(&z[0]), &batch.mean(&z[1])));
    for device in devices(&[2]) {
        let trainer = Trainer::new(&device, model.clone(), config(), data())?;
        // More rows than are predicted at a time.
        let x = noise(5 * 8300, 4);
        let outputs = block_on(trainer.predict_each(&x))?;
        assert_eq!(outputs.iter().map(Vec::len).collect::<Vec<_>>(), [2 * 8300, 8300]);
        for (row, x) in x.chunks_exact(5).enumerate() {
            let sum: f32 = x.iter().sum();
            let got = [outputs[0][2 * row], outputs[0][2 * row + 1], outputs[1][row]];
            let is_near = got.iter().zip([2.0, 2.0, 3.0]).all(|(got, factor)| (got - factor * sum).abs() < 1e-4);
            assert!(is_near, "row {row}: got {got:?} for a sum of {sum}");
        }
        assert_eq!(block_on(trainer.predict_each(&[]))?, [Vec::<f32>::new(), Vec::new()]);
        let error = block_on(trainer.predict(&x)).unwrap_err().to_string();
        assert_eq!(
            error,
            "predict: the model has 2 outputs, expected one: use predict_each, or outputs_each of a saved model"
        );
    }
    Ok(())
}

#[test]
fn the_best_epoch_has_the_smallest_finite_score() -> Result<()> {
    for device in devices(&[1]) {
        let config = TrainerConfig { epochs: 6, patience: 3, ..config() };
        let mut trainer = Trainer::new(&device, line(squares), config, data())?;
        let calls = Cell::new(0);
        trainer.choose_best_by(data().validation.x, move |outputs| {
            assert_eq!((outputs.len(), outputs[0].len()), (1, 80));
            calls.set(calls.get() + 1);
            [f64::NAN, 3.0, 1.0, 2.0, f64::INFINITY, 1.5][calls.get() - 1]
        })?;
        let mut weights = Vec::new();
        let outcome = loop {
            if let Some(outcome) = block_on(trainer.epoch(&mut |_| Flow::Continue))? {
                break outcome;
            }
            weights.push(block_on(trainer.parameters())?);
        };
        assert_eq!((outcome.stop, outcome.best_epoch, outcome.epochs), (Stop::Patience, Some(2), 6));
        assert_eq!(block_on(trainer.parameters())?, weights[2]);
        let history: Vec<_> = trainer.history().iter().map(|epoch| (epoch.score, epoch.val_loss)).collect();
        assert_eq!(history[2..4], [(Some(1.0), None), (Some(2.0), None)]);
        let error = trainer.choose_best_by(Vec::new(), |_| 0.0).unwrap_err().to_string();
        assert_eq!(error, "choose_best_by: the run has begun: expected a call before the first step");
    }
    Ok(())
}

#[test]
fn the_last_epoch_can_be_kept() -> Result<()> {
    let device = Device::cpu(1);
    let last = |config: TrainerConfig| TrainerConfig { keep: Keep::Last, ..config };
    let mut trainer = Trainer::new(&device, spec(), last(config()), data())?;
    let outcome = block_on(trainer.run(&mut |_| Flow::Continue))?;
    assert_eq!((outcome.stop, outcome.best_epoch, outcome.epochs), (Stop::Epochs, None, 4));
    assert!(trainer.history().iter().all(|epoch| epoch.val_loss.is_none() && !epoch.is_best));
    // Nothing but steps: the same as running them by hand.
    let mut steps = Trainer::new(&device, spec(), TrainerConfig { epochs: 1, ..config() }, data())?;
    let mut one = Trainer::new(&device, spec(), last(TrainerConfig { epochs: 1, ..config() }), data())?;
    block_on(one.run(&mut |_| Flow::Continue))?;
    steps.advance(5)?;
    assert_eq!(block_on(one.parameters())?, block_on(steps.parameters())?);
    let patient = last(TrainerConfig { patience: 3, ..config() });
    let said = Trainer::new(&device, spec(), patient, data()).map(drop).unwrap_err().to_string();
    assert_eq!(said, "train: keep: got a patience, which needs an evaluation of each epoch");
    Ok(())
}

#[test]
fn what_needs_a_spec_or_a_loss_in_words_is_an_error() -> Result<()> {
    let device = Device::cpu(1);
    let function = Trainer::new(&device, by_hand(), config(), data())?;
    let closure = Trainer::new(&device, Network::from(spec()).with_loss(squares), config(), data())?;
    let mut scored = Trainer::new(&device, spec(), config(), data())?;
    scored.choose_best_by(data().validation.x, |_| 0.0)?;
    let cases = [
        (function.spec().err(), "train: the model must be a Spec: got a function"),
        (block_on(closure.metrics(1.0)).err(), "metrics: the loss must be built-in or a formula: got a closure"),
        (block_on(scored.checkpoint()).err(), "checkpoint: got a score of the program's own, which no file holds"),
        (
            block_on(function.predict(&[0.0; 7])).err(),
            "predict: got 7 values, expected a multiple of the model's 5 inputs",
        ),
    ];
    for (error, expected) in cases {
        assert_eq!(error.expect(expected).to_string(), expected);
    }
    assert_eq!(closure.spec()?, &spec());
    Ok(())
}

#[test]
fn a_network_that_cannot_be_trained_is_an_error() {
    fn unknown(p: &Parameters, x: &Var) -> Result<Var> {
        Ok(ops::matmul(x, p.get("z")?))
    }
    let refused = |model: Network, config: TrainerConfig, data: Data, expected: &str| {
        let error = Trainer::new(&Device::cpu(1), model, config, data).err().expect(expected);
        assert_eq!(error.to_string(), expected);
    };
    let one = || [("a", Initial::zeros([5, 1]))];
    let linear = |p: &Parameters, x: &Var| ops::matmul(x, &p["a"]);
    let models = [
        (Network::function(5, one(), unknown), "network: unknown parameter: got \"z\", expected one of a"),
        (Network::function(4, one(), linear), "train: the model takes 4 inputs, the rows have 5"),
        (Network::function(0, one(), linear), "network: a model needs inputs: got 0, expected at least 1 per row"),
        (
            Network::function(5, [one(), one()].concat(), linear),
            "network: got two parameters \"a\", expected different names",
        ),
        (
            Network::function(5, [("a", Initial::values([5, 1], [1.0]))], linear),
            "network: parameter \"a\": got 1 values, expected 5 for shape [5, 1]",
        ),
        (Network::function(5, one(), |_, _| Vec::<Var>::new()), "network: got no output, expected at least one"),
        (
            Network::function(5, one(), |p, _| p["a"].clone()),
            "network: an output has the wrong shape: got [5, 1], expected [64, columns] for 64 rows",
        ),
        (
            Network::function(5, [("a", Initial::zeros([5, 2]))], linear),
            "train: the model gives 2 outputs, the rows have 1 targets",
        ),
        (
            Network::function(5, one(), |p, x| [ops::matmul(x, &p["a"]), ops::matmul(x, &p["a"])]),
            "train: loss \"mse\" needs one output: got 2, expected 1, or a loss of the model's own (with_loss)",
        ),
        (
            line(|z, batch| ops::sum(&(&z[0] - &batch.y), 0..1)),
            "train: the loss has the wrong shape: got [1, 1], expected the losses of the rows, [64, columns], or their mean, [1]",
        ),
        (
            Network::function(5, [("a", Initial::zeros([5, 1])), ("b", Initial::zeros([1]))], linear),
            "train: the loss does not depend on b",
        ),
    ];
    for (model, expected) in models {
        refused(model, config(), data(), expected);
    }
    let fused = TrainerConfig { step: Some(StepKind::Fused), ..config() };
    let what = "expected a Spec with a built-in loss, or the recorded step";
    let configs = [
        (
            by_hand(),
            fused.clone(),
            "train: the fused step takes linear layers up to 1024 wide with one activation between them and maybe a projective head on top; this model needs the recorded step".into(),
        ),
        (
            Network::from(spec()).with_loss(squares),
            fused,
            format!("train: the fused step does not take the model: got a closure loss, {what}"),
        ),
        (
            by_hand(),
            TrainerConfig { loss: Loss::Pairs(PairLoss::default()), ..config() },
            "train: a loss of pairs needs a projective head: got a function model, expected a Spec that ends in one"
                .into(),
        ),
        (
            by_hand(),
            TrainerConfig { coverage: Some(CoverageGoal { least: 0.5, patience: 1 }), ..config() },
            "train: a coverage goal needs a projective head: got a function model, expected a Spec".into(),
        ),
        (
            Network::from(spec()).with_loss(squares),
            TrainerConfig { class_weights: vec![1.0], ..config() },
            "train: class weights apply to cross-entropy: got a closure loss, expected a Spec with a built-in loss"
                .into(),
        ),
    ];
    for (model, config, expected) in configs {
        refused(model, config, data(), &expected);
    }
}

#[test]
fn a_function_learns_classes_with_the_built_in_cross_entropy() -> Result<()> {
    let x = noise(2 * 200, 5);
    let y = x.chunks_exact(2).map(|x| f32::from(u8::from(x[0] > x[1]))).collect();
    let data = Data { inputs: 2, targets: 1, train: Examples { x, y }, ..Data::default() };
    let config = TrainerConfig { loss: Loss::cross_entropy(0.0), epochs: 60, lr: 0.05, ..config() };
    let model = || Network::function(2, [("a", Initial::normal([2, 2], 0.1))], |p, x| ops::matmul(x, &p["a"]));
    let mut trainer = Trainer::new(&Device::cpu(1), model(), config.clone(), data.clone())?;
    block_on(trainer.run(&mut |_| Flow::Continue))?;
    let z = block_on(trainer.predict(&data.train.x))?;
    let right = z.chunks_exact(2).zip(&data.train.y).filter(|(z, y)| (z[1] > z[0]) == (**y == 1.0)).count();
    assert!(right > 190, "{right} of 200");
    let weights = TrainerConfig { class_weights: vec![1.0; 3], ..config };
    let error = Trainer::new(&Device::cpu(1), model(), weights, data).err().expect("three weights for two classes");
    assert_eq!(error.to_string(), "train: 3 class weights for 2 classes");
    Ok(())
}

#[test]
fn classes_of_a_closure_loss_are_each_against_the_rest() -> Result<()> {
    let text: String = (0..60).map(|i| format!("{},{}\n", i % 3, ["a", "b", "c"][i % 3])).collect();
    let table = read_plain(format!("x,y\n{text}").as_bytes(), "t.csv", Header::Yes)?;
    let choice = Choice { target: "y".into(), bins: Some(0), ..Choice::default() };
    let run = TrainOptions { choice, ..TrainOptions::default() }.prepare(&table)?;
    let scores = |p: &Parameters, x: &Var| ops::add(&ops::matmul(x, &p["w"]), &p["b"]);
    let parameters = [("w", Initial::zeros([1, 3])), ("b", Initial::values([3], [-1.0, 0.0, 1.0]))];
    let network = Network::function(1, parameters, scores).with_loss(|z, batch| ops::mul(&z[0], &batch.weight));
    let settings = TrainerConfig { blends: false, ..TrainerConfig::default() };
    let trainer = Trainer::new(&Device::cpu(1), network, settings, run.data)?;
    let model = block_on(trainer.model(Some(run.preparation)))?;
    let chances = block_on(model.probabilities(&Device::cpu(1), &table, Unknown::Refuse))?;
    let expected = [-1.0, 0.0, 1.0].map(|z: f64| 1.0 / (1.0 + (-z).exp()));
    assert!(
        chances[..3].iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 1e-6),
        "{:?}",
        &chances[..3]
    );
    let first = block_on(model.predict(&Device::cpu(1), &table))?.remove(0);
    assert!(
        matches!(first, Prediction::Class { name, probability } if name == "c" && (probability - expected[2]).abs() < 1e-6)
    );
    Ok(())
}
