//! Functions as data: a model that is a function is traced into a graph, saved, loaded, trained on and printed; what cannot be stored is an error.

mod blocks;
mod every;
mod inputs;
mod inside;
mod masked;
mod outputs;
mod refused;

use crate::devices::devices;
use crate::noise::noise;
use meromorph::autograd::Var;
use meromorph::graph::Graph;
use meromorph::loss::Loss;
use meromorph::model::{Batch, Initial, Model, Network};
use meromorph::nn::{Activation, Layer, Layout, Spec, initialise};
use meromorph::train::{Checkpoint, Data, Examples, Flow, Half, MixedPrecision, StepKind, Trainer, TrainerConfig};
use meromorph::{Device, Result, ops};
use pollster::block_on;

/// y = sin(2 x0) + x1 x2, 200 rows.
fn data() -> Data {
    let examples = |rows: usize, seed: u32| {
        let x = noise(3 * rows, seed);
        let y = x.chunks_exact(3).map(|x| (2.0 * x[0]).sin() + x[1] * x[2]).collect();
        Examples { x, y }
    };
    Data { inputs: 3, targets: 1, train: examples(200, 1), validation: examples(50, 2), ..Data::default() }
}

fn config() -> TrainerConfig {
    TrainerConfig { epochs: 6, batch: 64, lr: 1e-2, patience: 0, seed: 3, ..TrainerConfig::default() }
}

/// A residual model with a norm and a learnt frequency, of ops that are no layers of a `Spec`.
fn waves() -> Network {
    let parameters = [
        ("in", Initial::normal([3, 8], 0.5)),
        ("frequency", Initial::constant([1, 8], 2.0)),
        ("inner", Initial::uniform([8, 8], 0.3)),
        ("out", Initial::normal([8, 1], 0.3)),
    ];
    Network::function(3, parameters, |p, x| {
        let wave = ops::sin(&(&ops::matmul(x, &p["in"]) * &p["frequency"]));
        let inner = ops::tanh(&ops::matmul(&ops::layer_norm(&wave, 1e-3), &p["inner"]));
        ops::matmul(&(&wave + &inner), &p["out"])
    })
}

fn trainer(device: &Device, model: impl Into<Network>) -> Result<Trainer> {
    Trainer::new(device, model, config(), data())
}

fn traced(model: &Network) -> Result<Graph> {
    let spec = block_on(model.traced(&Device::cpu(1)))?;
    let [Layer::Function(graph)] = &spec.layers[..] else { panic!("one function: {spec:?}") };
    Ok(graph.clone())
}

#[test]
fn a_function_is_saved_and_predicts_the_same_bits() -> Result<()> {
    for device in devices(&[1, 2]) {
        let mut trainer = trainer(&device, waves())?;
        block_on(trainer.run(&mut |_| Flow::Continue))?;
        let x = noise(3 * 5000, 9);
        let expected = block_on(trainer.predict(&x))?;
        let file = block_on(trainer.model(None))?.save()?;
        let model = Model::load(&file, "waves")?;
        assert_eq!(block_on(model.outputs(&device, &x))?, expected, "{}", device.info().device);
        assert_eq!(model.format, 3);
        let names: Vec<String> = Layout::of(&model.spec).parameters.into_iter().map(|own| own.name).collect();
        assert_eq!(names, ["in", "frequency", "inner", "out"]);
        assert_eq!(model.save()?, file, "a file that is read is written again with the same bytes");
    }
    Ok(())
}

#[test]
fn a_run_of_a_function_goes_on_with_the_same_bits() -> Result<()> {
    for device in devices(&[1, 2]) {
        let mut whole = trainer(&device, waves())?;
        block_on(whole.run(&mut |_| Flow::Continue))?;
        let expected = block_on(whole.parameters())?;

        let mut first = trainer(&device, waves())?;
        block_on(first.run(&mut |_| Flow::Stop))?;
        let file = block_on(first.checkpoint())?.save(None)?;
        // From the file alone, and by the program that defines the function.
        let mut alone = Trainer::resume(&device, data(), Checkpoint::load(&file, "run")?.0)?;
        let mut again = block_on(Trainer::resume_with(&device, waves(), data(), Checkpoint::load(&file, "run")?.0))?;
        for (way, trainer) in [("file", &mut alone), ("program", &mut again)] {
            block_on(trainer.run(&mut |_| Flow::Continue))?;
            assert_eq!(block_on(trainer.parameters())?, expected, "{way}, {}", device.info().device);
        }
    }
    Ok(())
}

#[test]
fn a_run_with_a_closure_loss_goes_on_with_it_only() -> Result<()> {
    let loss = |outputs: &[Var], batch: &Batch| batch.mean(&ops::abs(&(&outputs[0] - &batch.y)));
    let device = Device::cpu(1);
    let mut whole = trainer(&device, waves().with_loss(loss))?;
    block_on(whole.run(&mut |_| Flow::Continue))?;
    let mut first = trainer(&device, waves().with_loss(loss))?;
    block_on(first.run(&mut |_| Flow::Stop))?;
    let file = block_on(first.checkpoint())?.save(None)?;
    let checkpoint = || Checkpoint::load(&file, "run").map(|(checkpoint, _)| checkpoint);
    let refused =
        |result: Result<Trainer>, expected: &str| assert_eq!(result.err().expect(expected).to_string(), expected);
    refused(
        Trainer::resume(&device, data(), checkpoint()?),
        "resume: the loss of the run is a closure, which no file holds: expected the model with its loss (Trainer::resume_with)",
    );
    refused(
        block_on(Trainer::resume_with(&device, waves(), data(), checkpoint()?)),
        "resume: got a model with no closure loss: expected the run's",
    );
    let other = Network::function(3, [("in", Initial::normal([3, 1], 0.5))], |p, x| ops::matmul(x, &p["in"]));
    refused(
        block_on(Trainer::resume_with(&device, other.with_loss(loss), data(), checkpoint()?)),
        "resume: the model is not the one of the checkpoint",
    );
    let mut again = block_on(Trainer::resume_with(&device, waves().with_loss(loss), data(), checkpoint()?))?;
    block_on(again.run(&mut |_| Flow::Continue))?;
    assert_eq!(block_on(again.parameters())?, block_on(whole.parameters())?);
    // The loss of the configuration would have led elsewhere.
    let mut squares = trainer(&device, waves())?;
    block_on(squares.run(&mut |_| Flow::Continue))?;
    assert_ne!(block_on(squares.parameters())?, block_on(whole.parameters())?);
    Ok(())
}

#[test]
fn a_perceptron_of_layers_takes_the_fused_step() -> Result<()> {
    let spec = Spec::mlp(3, &[16, 16], 1, Activation::silu());
    let layout = Layout::of(&spec);
    let flat = initialise(&layout, config().seed);
    let parameters = layout.parameters.iter().enumerate().map(|(at, parameter)| {
        (format!("p{at}"), Initial::values(parameter.shape.clone(), layout.slice(parameter, &flat)))
    });
    let silu = Activation::silu();
    let function = Network::function(3, parameters, move |p, x| {
        let p = p.values();
        let first = ops::layer(x, &p[0], Some(&p[1]), Some(silu.curve()));
        let second = ops::layer(&first, &p[2], Some(&p[3]), Some(silu.curve()));
        ops::layer(&second, &p[4], Some(&p[5]), None)
    });
    for device in devices(&[1]) {
        let mut trainers = [trainer(&device, spec.clone())?, trainer(&device, function.clone())?];
        let mut ends = Vec::new();
        for trainer in &mut trainers {
            assert_eq!(trainer.step_kind(), StepKind::Fused);
            block_on(trainer.run(&mut |_| Flow::Continue))?;
            ends.push((block_on(trainer.parameters())?, block_on(trainer.predict(&data().train.x))?));
        }
        assert_eq!(ends[0], ends[1], "{}", device.info().device);
        let model = block_on(trainers[1].model(None))?;
        assert_eq!(model.spec.as_mlp(), Some((vec![16, 16, 1], Activation::silu())));
        assert_eq!(block_on(model.outputs(&device, &data().train.x))?, ends[0].1);
    }
    // Other orders of the parameters, or other functions between the layers, are no perceptron of the fused step.
    let swapped = Network::function(2, [("b", Initial::zeros([2])), ("w", Initial::zeros([2, 2]))], |p, x| {
        ops::layer(x, &p["w"], Some(&p["b"]), None)
    });
    let graph = traced(&swapped)?;
    assert_eq!(graph.as_perceptron(), None);
    Ok(())
}

#[test]
fn gradients_end_where_the_function_ends_them() -> Result<()> {
    // b is learnt from the second term only: the first one is detached, and its own gradient is turned around for a.
    let model = || {
        let parameters = [("a", Initial::constant([3, 1], 0.5)), ("b", Initial::constant([3, 1], 0.25))];
        Network::function(3, parameters, |p, x| {
            let first = ops::reverse_gradient(&ops::matmul(x, &p["a"]), 0.5);
            let second = ops::matmul(x, &p["b"]);
            let rounded = ops::straight_through(&ops::round(&second), &second);
            // The tensor of a parameter, as a value of its own, is not trained either.
            let still = ops::matmul(x, &Var::constant(p["b"].value().clone()));
            &(&(&first + &rounded) + &(&second.detach() * &second.detach())) + &still
        })
    };
    let device = Device::cpu(1);
    let mut expected = trainer(&device, model())?;
    expected.advance(3)?;
    let spec = block_on(expected.traced())?;
    let mut got = trainer(&device, spec.clone())?;
    got.advance(3)?;
    assert_eq!(block_on(got.parameters())?, block_on(expected.parameters())?);
    let [Layer::Function(graph)] = &spec.layers[..] else { panic!("one function") };
    let ops: Vec<&str> = graph.nodes.iter().map(|node| node.op.as_str()).collect();
    assert!(["detach", "scale_gradient", "straight_through"].iter().all(|name| ops.contains(name)), "{ops:?}");
    Ok(())
}

#[test]
fn halves_are_stored_where_the_function_stores_them() -> Result<()> {
    let config = TrainerConfig { precision: Some(MixedPrecision::new(Half::Bf16)), ..config() };
    for device in devices(&[1]) {
        let run = |network: Network| -> Result<Vec<f32>> {
            let mut trainer = Trainer::new(&device, network, config.clone(), data())?;
            block_on(trainer.run(&mut |_| Flow::Continue))?;
            block_on(trainer.parameters())
        };
        let spec = block_on(waves().traced(&device))?;
        assert_eq!(run(spec.into())?, run(waves())?, "{}", device.info().device);
    }
    Ok(())
}

#[test]
fn a_graph_explains_a_model() -> Result<()> {
    let model = Network::function(2, [("w", Initial::zeros([2, 3])), ("b", Initial::zeros([3]))], |p, x| {
        let z = &ops::matmul(x, &p["w"]) + &p["b"];
        ops::reshape(&ops::sum(&ops::tanh(&z), 1..2), [x.shape().sizes()[0], 1])
    });
    let lines = traced(&model)?.lines()?;
    let expected = [
        "v0 = matmul(x, w, transposed=[false, false])   [rows, 3]",
        "v1 = v0 + b   [rows, 3]",
        "v2 = tanh(v1)   [rows, 3]",
        "v3 = sum(v2, axes=[1, 2], scale=1.0)   [rows, 1]",
    ];
    assert_eq!(lines, expected);
    Ok(())
}

#[test]
fn a_function_is_judged_like_a_spec() -> Result<()> {
    let device = Device::cpu(1);
    let mut run = trainer(&device, waves())?;
    block_on(run.run(&mut |_| Flow::Continue))?;
    let (validation, _) = block_on(run.metrics(2.0))?;
    let z = block_on(run.predict(&data().validation.x))?;
    let squares: f64 = z.iter().zip(&data().validation.y).map(|(z, y)| f64::from(z - y).powi(2)).sum();
    assert!((validation.mse.expect("a number") - 4.0 * squares / 50.0).abs() < 1e-6);
    assert_eq!(block_on(run.model(None))?.loss, Loss::mse());
    Ok(())
}
