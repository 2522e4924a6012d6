//! A function of every op that a file can hold.

use std::path::Path;

use super::inputs::reader;
use super::outputs::field;
use super::{config, data};
use crate::devices::devices;
use crate::noise::noise;
use meromorph::autograd::Var;
use meromorph::files::{Header, read_plain};
use meromorph::internal::json::{Json, Record};
use meromorph::loss::Loss;
use meromorph::model::{Initial, Model, Network, Parameters};
use meromorph::nn::{Activation, Layer, Layout, Linear, Spec, initialise};
use meromorph::ops::RECORDS;
use meromorph::run::TrainOptions;
use meromorph::table::Choice;
use meromorph::tensor::{DType, Tensor};
use meromorph::train::Trainer;
use meromorph::{Device, Result, ops};
use pollster::block_on;

/// A function that uses every op that a file can hold.
fn every_op(p: &Parameters, x: &Var) -> Result<Var> {
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
    // Loops, whose steps use values from outside: a recurrent state over a sequence of two, and three steps of an iteration with one of its own inside.
    let step = |state: &Var, element: &[Var]| Ok(ops::tanh(&(&(state * &p["b"]) + &element[0])));
    let states = ops::scan(&wide, &[&ops::stack(&[&soft, &norm])], step)?;
    let settled = ops::repeat(3, &wide, |state| {
        let inner = ops::repeat(2, state, |inner| Ok(&(inner * inner) * &weights))?;
        Ok(ops::tanh(&(&inner + &taken)))
    })?;
    let halves = [0..2, 2..4].map(|columns| ops::slice(&settled, 1, columns));
    let settled = ops::concat(&[&halves[1], &halves[0]], 1);
    let looped = &ops::sum(&ops::reshape(&ops::sum(&states, 0..1), [rows, 4]), 1..2) * &settled;
    // The sum over all rows of the table counts 0 times: rows must not depend on each other.
    let zero = &tables.detach() * &ops::constant(x, 0.0);
    let all = &(&(&(&taken + &norm) + &zero) + &(&sign * &largest)) + &looped;
    Ok(ops::matmul(&all, &p["out"]))
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
        let expected = run(network.clone(), 0)?;
        for steps in [0, 3] {
            let [got, expected] = [run(read.clone().into(), steps)?, run(network.clone(), steps)?];
            assert_eq!(got, expected, "{}, {steps} steps", device.info().device);
        }
        assert!(expected.iter().all(|value| value.is_finite()));
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
    let spec = block_on(reader().traced(&Device::cpu(1)))?;
    let reader = Model::new(spec, Loss::mse(), reader().initialise(7)?, None);
    let layers = [reader.spec.layers.clone(), vec![Linear::new(2).into()]].concat();
    let spec = Spec { inputs: 7, layers };
    let flat = initialise(&Layout::of(&spec), 9);
    let mixed = Model::new(spec, Loss::mse(), flat, None);
    let files = [
        ("function.csv", text.into_bytes(), &model),
        ("function.safetensors", model.save()?, &model),
        ("outputs.safetensors", several.save()?, &several),
        ("inputs.safetensors", reader.save()?, &reader),
        ("mixed.safetensors", mixed.save()?, &mixed),
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
            let is_same = known.spec == model.spec && known.preparation == model.preparation;
            assert!(is_same, "{name}: MERO_WRITE=1 writes it anew");
        }
    }
    Ok(())
}
