//! Functions as data: a model that is a function is traced into a graph, saved, loaded, trained on and printed; what cannot be stored is an error.

use std::cell::Cell;
use std::path::Path;

use crate::devices::devices;
use crate::noise::noise;
use meromorph::autograd::Var;
use meromorph::files::{Header, read_plain};
use meromorph::graph::Graph;
use meromorph::internal::json::{Json, Record};
use meromorph::loss::Loss;
use meromorph::model::{Batch, Initial, Model, Network, Parameters};
use meromorph::nn::{Activation, Layer, Layout, Spec, initialise};
use meromorph::ops::RECORDS;
use meromorph::program::expr::{gt, select};
use meromorph::run::TrainOptions;
use meromorph::table::Choice;
use meromorph::tensor::{DType, Tensor};
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
        let wanted = block_on(trainer.predict(&x))?;
        let file = block_on(trainer.model(None))?.save()?;
        let model = Model::load(&file, "waves")?;
        assert_eq!(block_on(model.outputs(&device, &x))?, wanted, "{}", device.info().device);
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
        let wanted = block_on(whole.parameters())?;

        let mut first = trainer(&device, waves())?;
        block_on(first.run(&mut |_| Flow::Stop))?;
        let file = block_on(first.checkpoint())?.save(None)?;
        // From the file alone, and by the program that defines the function.
        let mut alone = Trainer::resume(&device, data(), Checkpoint::load(&file, "run")?.0)?;
        let mut again = block_on(Trainer::resume_with(&device, waves(), data(), Checkpoint::load(&file, "run")?.0))?;
        for (way, trainer) in [("file", &mut alone), ("program", &mut again)] {
            block_on(trainer.run(&mut |_| Flow::Continue))?;
            assert_eq!(block_on(trainer.parameters())?, wanted, "{way}, {}", device.info().device);
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
    let refused = |result: Result<Trainer>, wanted: &str| assert_eq!(result.err().expect(wanted).to_string(), wanted);
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
    let mut wanted = trainer(&device, model())?;
    wanted.advance(3)?;
    let spec = block_on(wanted.traced())?;
    let mut got = trainer(&device, spec.clone())?;
    got.advance(3)?;
    assert_eq!(block_on(got.parameters())?, block_on(wanted.parameters())?);
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
fn an_own_gradient_is_the_programs_not_the_files() -> Result<()> {
    let model = || {
        Network::function(3, [("a", Initial::constant([3, 1], 0.5))], |p, x| {
            let z = ops::matmul(x, &p["a"]);
            ops::custom("cube", &[&z], |z| &(&z[0] * &z[0]) * &z[0], |_, _, gradient| Ok(vec![Some(gradient.clone())]))
        })
    };
    let device = Device::cpu(1);
    let mut run = trainer(&device, model())?;
    block_on(run.run(&mut |_| Flow::Stop))?;
    let file = block_on(run.checkpoint())?.save(None)?;
    let saved = Model::load(&file, "cube")?;
    assert_eq!(block_on(saved.outputs(&device, &[1.0, 0.0, 0.0]))?.len(), 1);
    let error = Trainer::resume(&device, data(), Checkpoint::load(&file, "run")?.0).err().expect("no gradient");
    assert_eq!(
        error.to_string(),
        "grad: cube: its gradient is in the program that made the model, not in its file: expected to be trained by that program"
    );
    let mut again = block_on(Trainer::resume_with(&device, model(), data(), Checkpoint::load(&file, "run")?.0))?;
    for trainer in [&mut again, &mut run] {
        block_on(trainer.run(&mut |_| Flow::Continue))?;
    }
    assert_eq!(block_on(again.parameters())?, block_on(run.parameters())?);
    Ok(())
}

/// A function that uses every op that a file can hold.
fn every_op(p: &Parameters, x: &Var) -> Var {
    let device = x.value().device().clone();
    let rows = x.shape().sizes()[0];
    let wide = ops::layer(x, &p["w"], Some(&p["b"]), Some(Activation::tanh().curve()));
    let soft = ops::softmax(&wide);
    let best = ops::argmax(&soft, 1);
    // Rows of a table by the largest share: the indices are made by ops.
    let index = ops::reshape(&best, [rows]);
    let taken = ops::take_rows(&p["table"], index.value());
    let added = ops::add_rows(&taken, index.value(), 4);
    let picked = ops::reshape(&ops::pick(&soft, index.value()), [rows, 1]);
    let placed = ops::place(&ops::reshape(&picked, [rows]), index.value(), 4);
    let pair = ops::stack(&[&ops::log_softmax(&wide), &placed]);
    let pair = ops::sum(&ops::permute(&pair, &[1, 0, 2]), 1..2);
    let pair = ops::reshape(&pair, [rows, 4]);
    let largest = &ops::max(&pair, 1..2) + &ops::logsumexp(&wide);
    let weights = Var::constant(Tensor::constant(&device, [1, 4], &[0.5, -1.0, 2.0, 0.25]));
    // A constant of as many rows as there are.
    let ones = Var::constant(Tensor::constant(&device, [rows, 4], &[1.0, 2.0, 3.0, 4.0].repeat(rows)));
    let half = ops::cast(&ops::cast(&wide, DType::F16), DType::F32);
    let norm = ops::layer_norm(&(&(&half * &weights) + &ones), 1e-2);
    let tables = ops::broadcast_to(&ops::reshape(&ops::sum(&added, 0..2), [1, 1]), &[rows, 4].into());
    let sign = ops::custom("sign", &[&norm], |v| ops::sign(&v[0]), |_, _, g| Ok(vec![Some(g.clone())]));
    let sign = ops::straight_through(&sign, &ops::scale_gradient(&norm, 2.0));
    // The sum over all rows of the table counts 0 times: rows must not depend on each other.
    let zero = &tables.detach() * &ops::constant(x, 0.0);
    let all = &(&(&taken + &norm) + &zero) + &(&sign * &largest);
    ops::matmul(&all, &p["out"])
}

fn every() -> Network {
    let parameters = [
        ("w", Initial::normal([4, 3], 1.0)),
        ("b", Initial::normal([4], 1.0)),
        ("table", Initial::normal([4, 4], 1.0)),
        ("out", Initial::normal([4, 1], 1.0)),
    ];
    Network::function(3, parameters, every_op)
}

#[test]
fn every_op_is_stored_and_read_back() -> Result<()> {
    for device in devices(&[1]) {
        let network = every();
        let spec = block_on(network.traced(&device))?;
        let text = spec.to_json().to_string();
        let read = Spec::from_json(&Json::parse(&text)?)?;
        assert_eq!(read, spec);
        assert_eq!(read.outputs()?, 1);
        let [Layer::Function(graph)] = &read.layers[..] else { panic!("one function") };
        for record in RECORDS {
            assert!(graph.nodes.iter().any(|node| node.op == record.name), "{} is not in the model", record.name);
        }
        let x = noise(3 * 300, 5);
        let parameters = network.initialise(7)?;
        let run = |network: Network, steps: usize| -> Result<Vec<f32>> {
            let mut trainer = Trainer::with_parameters(&device, network, config(), data(), &parameters)?;
            trainer.advance(steps)?;
            block_on(trainer.predict(&x))
        };
        let wanted = run(network.clone(), 0)?;
        for steps in [0, 3] {
            let [got, wanted] = [run(read.clone().into(), steps)?, run(network.clone(), steps)?];
            assert_eq!(got, wanted, "{}, {steps} steps", device.info().device);
        }
        assert!(wanted.iter().all(|value| value.is_finite()));
    }
    Ok(())
}

/// A table of three numbers and a target, and the model of every op for it. Other faces and ONNX Runtime predict with the same files.
#[test]
fn the_files_for_other_faces_are_up_to_date() -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let numbers = noise(4 * 200, 12);
    let line = |row: &[f32]| row.iter().map(f32::to_string).collect::<Vec<_>>().join(",") + "\n";
    let text = "a,b,c,y\n".to_owned() + &numbers.chunks_exact(4).map(line).collect::<String>();
    let table = read_plain(text.as_bytes(), "function.csv", Header::Yes)?;
    let choice = Choice { target: "y".into(), bins: Some(0), ..Choice::default() };
    let run = TrainOptions { choice, ..TrainOptions::default() }.prepare(&table)?;
    let spec = block_on(every().traced(&Device::cpu(1)))?;
    let model = Model::new(spec, Loss::mse(), every().initialise(7)?, Some(run.preparation));
    let several = block_on(field().traced(&Device::cpu(1)))?;
    let parameters = [field().initialise(7)?, field().initialise(8)?].concat();
    let several = Model::new(several, Loss::mse(), parameters, None);
    let files = [
        ("function.csv", text.into_bytes(), &model),
        ("function.safetensors", model.save()?, &model),
        ("outputs.safetensors", several.save()?, &several),
    ];
    for (name, bytes, model) in files {
        let path = folder.join(name);
        if std::env::var_os("MERO_WRITE").is_some() {
            std::fs::write(&path, &bytes).expect("a folder of this project");
        }
        let known = std::fs::read(&path).expect("MERO_WRITE=1 cargo test --test engine functions writes it");
        if name.ends_with("csv") {
            assert_eq!(known, bytes, "{name}: MERO_WRITE=1 writes it anew");
        } else {
            // The last digits of drawn weights are the platform's.
            let known = Model::load(&known, name)?;
            assert_eq!((known.spec, known.preparation), (model.spec.clone(), model.preparation.clone()), "{name}");
        }
    }
    Ok(())
}

/// Two outputs of 3 inputs: a potential u [rows, 1], and e^-x V [rows, 2].
fn field() -> Network {
    let parameters = [("w", [3, 8]), ("u", [8, 1]), ("v", [3, 2])];
    Network::function(3, parameters.map(|(name, shape)| (name, Initial::normal(shape, 0.5))), |p, x| {
        let u = ops::matmul(&ops::tanh(&ops::matmul(x, &p["w"])), &p["u"]);
        vec![u, ops::exp(&ops::neg(&ops::matmul(x, &p["v"])))]
    })
}

#[test]
fn several_outputs_are_saved_and_trained_on() -> Result<()> {
    let loss = |outputs: &[Var], batch: &Batch| {
        let [u, flow] = [0, 1].map(|at| outputs[at].clone());
        let wide = ops::sub(&flow, &ops::broadcast_to(&batch.y, flow.shape()));
        ops::add(&ops::mul(&(&u - &batch.y), &(&u - &batch.y)), &ops::mean(&ops::mul(&wide, &wide), 1..2))
    };
    let model = || field().with_loss(loss);
    let lines = traced(&field())?.lines()?;
    assert_eq!(lines.last().map(String::as_str), Some("outputs: v2, v5"), "{lines:?}");
    for device in devices(&[1, 2]) {
        for members in [1, 2] {
            let settings = TrainerConfig { members, ..config() };
            let mut whole = Trainer::new(&device, model(), settings.clone(), data())?;
            block_on(whole.run(&mut |_| Flow::Continue))?;
            let x = noise(3 * 5000, 9);
            let wanted = block_on(whole.predict_each(&x))?;
            assert_eq!([wanted[0].len(), wanted[1].len()], [5000, 10_000]);
            let read = Model::load(&block_on(whole.model(None))?.save()?, "field")?;
            assert_eq!((read.spec.each_output()?, read.members()), (vec![1, 2], members));
            assert_eq!(block_on(read.outputs_each(&device, &x))?, wanted, "{}", device.info().device);
            let said = block_on(read.outputs(&device, &x)).expect_err("several").to_string();
            assert_eq!(
                said,
                "predict: the model has 2 outputs, expected one: use predict_each, or outputs_each of a saved model"
            );

            let mut first = Trainer::new(&device, model(), settings, data())?;
            block_on(first.run(&mut |_| Flow::Stop))?;
            let file = block_on(first.checkpoint())?.save(None)?;
            let checkpoint = Checkpoint::load(&file, "run")?.0;
            // The program gives the loss; the outputs come from the file's function as well.
            let from_file = Network::from(checkpoint.spec.clone()).with_loss(loss);
            for (way, network) in [("program", model()), ("file", from_file)] {
                let mut again = block_on(Trainer::resume_with(&device, network, data(), checkpoint.clone()))?;
                block_on(again.run(&mut |_| Flow::Continue))?;
                assert_eq!(
                    block_on(again.parameters())?,
                    block_on(whole.parameters())?,
                    "{way}, {}",
                    device.info().device
                );
            }
        }
    }
    // A built-in loss takes one output, and so does a layer.
    let spec = block_on(field().traced(&Device::cpu(1)))?;
    let said = Trainer::new(&Device::cpu(1), spec.clone(), config(), data()).err().expect("several").to_string();
    assert_eq!(
        said,
        "train: loss \"mse\" needs one output: got 2, expected 1, or a loss of the model's own (with_loss)"
    );
    let other = Spec { inputs: 2, ..spec.clone() };
    let said = other.each_output().expect_err("other inputs").to_string();
    assert_eq!(said, "model: layers.0: a function of 3 inputs: got 2 values");
    let layers = vec![spec.layers[0].clone(), meromorph::nn::Linear::new(1).into()];
    let said = Spec { layers, ..spec }.outputs().expect_err("a layer").to_string();
    assert_eq!(said, "model: layers.0: a function of 2 outputs, expected one here");
    Ok(())
}

/// Two blocks, the second within a third.
fn blocks() -> Network {
    let parameters = [("w", [3, 32]), ("v", [32, 32]), ("u", [32, 1])];
    Network::function(3, parameters.map(|(name, shape)| (name, Initial::normal(shape, 0.3))), |p, x| {
        let h = ops::block("features", x, || ops::sin(&ops::matmul(x, &p["w"])));
        let h = ops::block("body", x, || {
            let h = ops::tanh(&ops::matmul(&h, &p["v"]));
            ops::block("gate", x, || ops::mul(&h, &ops::sigmoid(&h)))
        });
        ops::matmul(&h, &p["u"])
    })
}

#[test]
fn blocks_are_computed_again_by_their_names() -> Result<()> {
    let graph = traced(&blocks())?;
    assert_eq!(graph.blocks(), ["features", "body", "body.gate"]);
    let lines = graph.lines()?;
    assert_eq!(lines[1], "v1 = sin(v0)   [rows, 32]   features");
    assert_eq!(lines[6], "v6 = matmul(v5, u, transposed=[false, false])   [rows, 1]");
    let again = Graph::from_json(&Json::parse(&graph.to_json().to_string())?)?;
    assert_eq!(again, graph);
    for device in devices(&[1, 2]) {
        let trainer = |network: Network, names: &[&str]| {
            let recompute_layers = names.iter().map(|name| (*name).to_owned()).collect();
            let settings = TrainerConfig { recompute_layers, step: Some(StepKind::Recorded), ..config() };
            Trainer::new(&device, network, settings, data())
        };
        let from_file = Network::from(block_on(blocks().traced(&device))?);
        let start = blocks().initialise(config().seed)?;
        let bytes = |names: &[&str]| {
            let trainer = trainer(blocks(), names)?;
            let summary = trainer.step_summary();
            Ok::<_, meromorph::Error>((summary.transient_bytes, summary.recomputed.0))
        };
        let (plain, none) = bytes(&[])?;
        let (features, one) = bytes(&["features"])?;
        assert!(features < plain && none == 0 && one > 0, "{features} {plain} {none} {one}");
        let [gate, body, all] = [["body.gate"], ["body"], ["block"]].map(|names| bytes(&names).map(|(_, count)| count));
        let counts = [gate?, body?, all?];
        assert!(counts[0] > 0 && counts[0] <= counts[1] && counts[2] >= counts[1] + one, "{counts:?} {one}");
        let after = |network: Network, names: &[&str]| {
            let mut trainer = trainer(network, names)?;
            assert_eq!(block_on(trainer.parameters())?, start);
            trainer.advance(7)?;
            block_on(trainer.parameters())
        };
        let wanted = after(blocks(), &[])?;
        for names in [&["features"][..], &["body", "features"], &["block"]] {
            assert_eq!(after(blocks(), names)?, wanted, "{names:?} on {}", device.info().device);
        }
        // From the file of the function, with the same names and the same plan.
        let loaded = Trainer::with_parameters(
            &device,
            from_file,
            trainer(blocks(), &["features"])?.settings().clone(),
            data(),
            &start,
        )?;
        assert_eq!(loaded.step_summary().transient_bytes, features);
        // The whole function has the names that a layer of a `Spec` has.
        for name in ["function", "layers.0"] {
            let settings = trainer(blocks(), &[])?.settings().clone();
            let settings = TrainerConfig { recompute_layers: vec![name.into()], ..settings };
            let spec = block_on(blocks().traced(&device))?;
            let whole = Trainer::with_parameters(&device, spec, settings, data(), &start)?;
            assert!(whole.step_summary().recomputed.0 > one, "{name}");
        }
        let said = trainer(blocks(), &["feature"]).err().expect("no block").to_string();
        let start = r#"train: recompute_layers: got "feature", expected one of "block", "body", "body.gate", "features", "layer""#;
        assert!(said.starts_with(start) && said.ends_with(r#"did you mean "features"?"#), "{said}");
    }
    Ok(())
}

#[test]
fn blocks_within_layers_have_the_path_of_both() -> Result<()> {
    let device = Device::cpu(1);
    let inner = Network::function(8, [("v", Initial::normal([8, 8], 0.3))], |p, x| {
        ops::block("outer", x, || ops::block("inner", x, || ops::sin(&ops::matmul(x, &p["v"]))))
    });
    let function = block_on(inner.traced(&device))?.layers.remove(0);
    let layers = vec![meromorph::nn::Linear::new(8).into(), function, meromorph::nn::Linear::new(1).into()];
    let spec = Spec { inputs: 3, layers };
    for name in ["layers.1.outer", "layers.1.outer.inner", "layers.1", "block"] {
        let settings =
            TrainerConfig { recompute_layers: vec![name.into()], step: Some(StepKind::Recorded), ..config() };
        assert!(Trainer::new(&device, spec.clone(), settings, data())?.step_summary().recomputed.0 > 0, "{name}");
    }
    // In 16 bits as the same ops without a block.
    let precision = MixedPrecision { keep_half: vec!["layers.1.outer".into()], ..MixedPrecision::new(Half::Bf16) };
    let settings = TrainerConfig { precision: Some(precision), step: Some(StepKind::Recorded), ..config() };
    Trainer::new(&device, spec.clone(), settings, data())?.advance(2)?;
    let text = spec.to_json().to_string().replace("outer.inner", "outer.loss");
    let said = Spec::from_json(&Json::parse(&text)?)?.outputs().expect_err("a name").to_string();
    assert_eq!(said, "model: layers.1: node 0 (matmul): got the block \"outer.loss\", whose name is taken");
    Ok(())
}

#[test]
#[should_panic(expected = "block: got the name \"matmul\", expected one that is not empty and not batch, block")]
fn a_block_needs_a_name_of_its_own() {
    let x = Var::constant(Tensor::scalar(&Device::cpu(1), 1.0));
    ops::block("matmul", &x, || ());
}

#[test]
fn a_graph_explains_a_model() -> Result<()> {
    let model = Network::function(2, [("w", Initial::zeros([2, 3])), ("b", Initial::zeros([3]))], |p, x| {
        let z = &ops::matmul(x, &p["w"]) + &p["b"];
        ops::reshape(&ops::sum(&ops::tanh(&z), 1..2), [x.shape().sizes()[0], 1])
    });
    let lines = traced(&model)?.lines()?;
    let wanted = [
        "v0 = matmul(x, w, transposed=[false, false])   [rows, 3]",
        "v1 = v0 + b   [rows, 3]",
        "v2 = tanh(v1)   [rows, 3]",
        "v3 = sum(v2, axes=[1, 2], scale=1.0)   [rows, 1]",
    ];
    assert_eq!(lines, wanted);
    Ok(())
}

#[test]
fn what_a_file_cannot_hold_is_an_error() {
    let refused = |function: fn(&Parameters, &Var) -> Result<Vec<Var>>, wanted: &str| {
        let model = Network::function(2, [("a", Initial::constant([2, 1], 1.0))], function);
        assert_eq!(block_on(model.traced(&Device::cpu(1))).expect_err(wanted).to_string(), wanted);
    };
    refused(
        |p, x| {
            let size = block_on(p["a"].value().to_f32())?[0];
            Ok(vec![&ops::matmul(x, &p["a"]) * size])
        },
        "read: a value cannot be read while ops are recorded, which would depend on it: choose with ops (ops::select), or read it before",
    );
    refused(
        |p, x| Ok(vec![&ops::matmul(x, &p["a"]) * (1.0 / x.shape().sizes()[0] as f32)]),
        "save: the op \"map\" of the function depends on the number of rows, other than as a size: expected row r of the output to depend on input row r only",
    );
    refused(
        |p, x| {
            let many = if x.shape().sizes()[0] > 8 { ops::tanh(x) } else { x.clone() };
            Ok(vec![ops::matmul(&many, &p["a"])])
        },
        "save: which ops it applies of the function depends on the number of rows, other than as a size: expected row r of the output to depend on input row r only",
    );
    thread_local! { static DRAWN: Cell<f32> = const { Cell::new(0.0) }; }
    refused(
        |p, x| {
            DRAWN.set(DRAWN.get() + 0.25);
            Ok(vec![&ops::matmul(x, &p["a"]) * DRAWN.get()])
        },
        "save: the op \"map\" of the function differs from call to call, as if from a random number or a clock: draw it once, before, or make it a parameter",
    );
    refused(
        |p, x| {
            DRAWN.set(DRAWN.get() + 0.25);
            let drawn = Tensor::constant(x.value().device(), [1, 1], &[DRAWN.get()]);
            Ok(vec![ops::add(&ops::matmul(x, &p["a"]), &Var::constant(drawn))])
        },
        "save: a constant of the function differs from call to call, as if from a random number or a clock: draw it once, before, or make it a parameter",
    );
    refused(
        |p, x| {
            let rows = x.shape().sizes()[0];
            let numbers: Vec<f32> = (0..rows).map(|row| row as f32).collect();
            let places = Tensor::constant(x.value().device(), [rows, 1], &numbers);
            Ok(vec![ops::add(&ops::matmul(x, &p["a"]), &Var::constant(places))])
        },
        "save: a constant of the function depends on the number of rows, other than as a size: expected row r of the output to depend on input row r only",
    );
    refused(
        |p, x| {
            let drawn = ops::uniform(x.value().device(), [1, 1], 1, 2)?;
            Ok(vec![ops::add(&ops::matmul(x, &p["a"]), &Var::constant(drawn))])
        },
        "save: the function computes a tensor by other means than ops, such as a random draw: make it before, and pass it in or make it a parameter",
    );
    refused(
        |p, x| Ok(vec![ops::fused(&[&ops::matmul(x, &p["a"])], |v| select(gt(v[0], 0.0), v[0], f64::NEG_INFINITY))]),
        "the op \"map\" has the number -inf: a model file holds finite numbers only",
    );
    refused(
        |p, x| {
            let z = meromorph::scm::Masked::from(&ops::matmul(x, &p["a"]));
            Ok(vec![meromorph::scm::fused(&[&z], |v| 1.0 / v[0]).value().clone()])
        },
        "the op \"masked\" cannot be stored in a model",
    );
}

#[test]
fn a_damaged_graph_is_an_error() -> Result<()> {
    let spec = block_on(waves().traced(&Device::cpu(1)))?;
    let text = spec.to_json().to_string();
    let said = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} is not in {text}");
        let spec = Json::parse(&text.replacen(from, to, 1)).and_then(|json| Spec::from_json(&json));
        spec.and_then(|spec| spec.outputs()).expect_err(to).to_string()
    };
    for (from, to, wanted) in [
        (
            "\"op\":\"matmul\"",
            "\"op\":\"matmal\"",
            "model: layers.0: node 0: unknown op: got \"matmal\", expected one that this version knows",
        ),
        (
            "\"inputs\":[0,1]",
            "\"inputs\":[0,99]",
            "model: layers.0: node 0 (matmul): an input is not a value before it",
        ),
        ("\"inputs\":[0,1]", "\"inputs\":[0]", "model: layers.0: node 0 (matmul): got 1 inputs, expected 2 to 2"),
        (
            "\"inputs\":[0,1]",
            "\"inputs\":[0,3]",
            "model: layers.0: node 0 (matmul): matmul: inner sizes differ: [1, 3] x [8, 8] (3 != 8)",
        ),
        (
            "\"shape\":[8,8]",
            "\"shape\":[99999999,99999999]",
            "model: layers.0: parameter \"inner\": got shape [99999999, 99999999], expected at most 4 axes and 2147483648 elements",
        ),
        (
            "\"shape\":[8,8]",
            "\"shape\":[0,4294967296]",
            "model: layers.0: parameter \"inner\": got shape [0, 4294967296], expected at most 4 axes and 2147483648 elements",
        ),
        ("\"columns\":1", "\"columns\":2", "model: layers.0: the output: got [1, 1], expected [1, 2] for 1 rows"),
        (
            "\"name\":\"inner\"",
            "\"name\":\"in\"",
            "model: layers.0: got two parameters \"in\", expected different names",
        ),
    ] {
        assert_eq!(said(from, to), wanted);
    }
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
