//! Functions of several inputs, each with a name, a shape and a kind.

use super::{config, traced};
use crate::devices::devices;
use crate::noise::noise;
use meromorph::autograd::Var;
use meromorph::export::write_onnx;
use meromorph::graph::Graph;
use meromorph::internal::json::{Json, Record};
use meromorph::loss::Loss;
use meromorph::model::{Batch, Initial, Input, Model, Network};
use meromorph::nn::Spec;
use meromorph::optim::Optimizer;
use meromorph::train::{Checkpoint, Data, Examples, Flow, Trainer, TrainerConfig};
use meromorph::{Device, Result, ops};
use pollster::block_on;

/// Two words of 5, a picture of 2 × 2 bytes and a number.
fn inputs() -> [Input; 3] {
    [Input::indices("words", [2], 5), Input::bytes("picture", [2, 2]), Input::numbers("measured", [1])]
}

/// Sums of the words' rows of a table, the trace of the picture in units of 255, and the number, times weights.
pub(super) fn reader() -> Network {
    let parameters = [("table", Initial::normal([5, 3], 0.5)), ("out", Initial::normal([5, 1], 0.5))];
    Network::function_of(inputs(), parameters, |p, inputs| {
        let rows = inputs.rows();
        let words = ops::reshape(&inputs["words"], [2 * rows]);
        let words = ops::reshape(&ops::take_rows(&p["table"], words.value()), [rows, 2, 3]);
        let [first, last] = [0, 1].map(|at| {
            let row = ops::slice(&inputs["picture"], 1, at..at + 1);
            ops::reshape(&ops::slice(&row, 2, at..at + 1), [rows, 1])
        });
        let trace = &(&first + &last) * (1.0 / 255.0);
        let words = ops::reshape(&ops::sum(&words, 1..2), [rows, 3]);
        Ok::<_, meromorph::Error>(ops::matmul(&ops::concat(&[&words, &trace, inputs.get("measured")?], 1), &p["out"]))
    })
}

/// Rows of words, picture and number, and targets.
fn data(rows: usize) -> Data {
    let numbers = noise(8 * rows, 3);
    let examples = |numbers: &[f32]| {
        let row = |n: &[f32]| {
            let word = |n: f32| ((n + 1.0) * 2.5).floor().min(4.0);
            let byte = |n: f32| ((n + 1.0) * 127.5).floor();
            [word(n[0]), word(n[1]), byte(n[2]), byte(n[3]), byte(n[4]), byte(n[5]), n[6]]
        };
        let x: Vec<f32> = numbers.chunks_exact(8).flat_map(row).collect();
        Examples { y: x.chunks_exact(7).map(|x| x[0] - x[1] + x[2] / 255.0 + x[6]).collect(), x }
    };
    let (train, validation) = numbers.split_at(8 * (rows * 4 / 5));
    Data { inputs: 7, targets: 1, train: examples(train), validation: examples(validation), ..Data::default() }
}

#[test]
fn several_inputs_come_by_name_in_their_shape_and_kind() -> Result<()> {
    let layout = reader().layout().clone();
    let mut flat = vec![0.0; layout.total];
    let table: Vec<f32> = (0..15).map(|at| at as f32).collect();
    for (parameter, values) in layout.parameters.iter().zip([&table[..], &[1.0, 10.0, 100.0, 1000.0, -1.0]]) {
        flat[parameter.offset..][..values.len()].copy_from_slice(values);
    }
    // Rows 4 and 1 of the table are 12 13 14 and 3 4 5; the trace is (51 + 204) / 255 = 1.
    let rows = [4.0, 1.0, 51.0, 7.0, 9.0, 204.0, 0.5, 0.0, 0.0, 255.0, 0.0, 0.0, 255.0, 2.0];
    let expected = [15.0 + 170.0 + 1900.0 + 1000.0 - 0.5, 0.0 + 20.0 + 400.0 + 2000.0 - 2.0];
    for device in devices(&[1, 2]) {
        for network in [reader(), block_on(reader().traced(&device))?.into()] {
            let trainer = Trainer::with_parameters(&device, network, config(), data(50), &flat)?;
            let got = block_on(trainer.predict(&rows))?;
            for (got, expected) in got.iter().zip(expected) {
                assert!((got - expected).abs() < 1e-3, "{got} {expected}");
            }
        }
    }
    let lines = traced(&reader())?.lines()?;
    assert_eq!(
        lines[..2],
        [
            "inputs: words [2] below 5, picture [2, 2] of bytes, measured [1]",
            "v0 = reshape(words, shape=[2 rows])   [2 rows]",
        ]
    );
    Ok(())
}

#[test]
fn several_inputs_are_saved_and_trained_on() -> Result<()> {
    for device in devices(&[1, 2]) {
        for members in [1, 2] {
            let settings = TrainerConfig { members, ..config() };
            let trainer = |network: Network| Trainer::new(&device, network, settings.clone(), data(200));
            let mut whole = trainer(reader())?;
            block_on(whole.run(&mut |_| Flow::Continue))?;
            let mut first = trainer(reader())?;
            block_on(first.run(&mut |_| Flow::Stop))?;
            let file = block_on(first.checkpoint())?.save(None)?;
            let mut alone = Trainer::resume(&device, data(200), Checkpoint::load(&file, "run")?.0)?;
            block_on(alone.run(&mut |_| Flow::Continue))?;
            assert_eq!(block_on(alone.parameters())?, block_on(whole.parameters())?, "{}", device.info().device);

            let file = block_on(whole.model(None))?.save()?;
            let model = Model::load(&file, "reader")?;
            assert_eq!((model.format, model.members(), model.spec.each_input()), (5, members, inputs().into()));
            let x = data(9000).train.x;
            assert_eq!(block_on(model.outputs(&device, &x))?, block_on(whole.predict(&x))?);
            assert_eq!(model.save()?, file);
        }
    }
    Ok(())
}

#[test]
fn a_loss_takes_derivatives_by_one_of_the_inputs() -> Result<()> {
    // u = a t + b x with the loss (du/dt - 2)² + (du/dx + 1)²: one step of gradient descent from a = b = 0.
    let network = || {
        let inputs = [Input::numbers("x", [1]), Input::numbers("t", [1])];
        let parameters = [("a", Initial::zeros([1, 1])), ("b", Initial::zeros([1, 1]))];
        let model = Network::function_of(inputs, parameters, |p, inputs| {
            &ops::mul(&inputs["t"], &p["a"]) + &ops::mul(&inputs["x"], &p["b"])
        });
        model.with_loss(|outputs: &[Var], batch: &Batch| {
            let slopes = ops::grad(&outputs[0], &[&batch.x])?[0].clone().expect("a gradient");
            let slopes = batch.inputs(&slopes);
            let [by_t, by_x] = [&slopes["t"] - 2.0, &slopes["x"] + 1.0];
            Ok::<_, meromorph::Error>(&(&by_t * &by_t) + &(&by_x * &by_x))
        })
    };
    let settings = TrainerConfig { optimizer: Optimizer::sgd(0.0)?, lr: 0.25, batch: 4, epochs: 1, ..config() };
    let train = Examples { x: noise(8, 1), y: vec![0.0; 4] };
    let data = Data { inputs: 2, targets: 1, train, ..Data::default() };
    for device in devices(&[1]) {
        let mut trainer = Trainer::new(&device, network(), settings.clone(), data.clone())?;
        trainer.advance(1)?;
        let flat = block_on(trainer.parameters())?;
        let got = network().layout().parameters.iter().map(|one| flat[one.offset]).collect::<Vec<_>>();
        assert_eq!(got, [1.0, -0.5], "{}", device.info().device);
    }
    Ok(())
}

#[test]
fn inputs_that_make_no_sense_are_errors() -> Result<()> {
    let device = Device::cpu(1);
    let with = |inputs: Vec<Input>| {
        let network = Network::function_of(inputs, [("w", Initial::zeros([1, 1]))], |p, inputs| {
            ops::matmul(&inputs.values()[0], &p["w"])
        });
        Trainer::new(&device, network, config(), data(50)).err().expect("an error").to_string()
    };
    for (inputs, expected) in [
        (vec![], "network: a model needs inputs: got 0, expected at least 1 per row"),
        (vec![Input::numbers("", [1])], "network: input \"\": expected a name that no other input has"),
        (
            vec![Input::numbers("a", [1]), Input::bytes("a", [2])],
            "network: input \"a\": expected a name that no other input has",
        ),
        (
            vec![Input::numbers("b", [1]), Input::numbers("a", [2, 0])],
            "network: input \"a\": got shape [2, 0], expected at least one value per row",
        ),
        (
            vec![Input::numbers("a", [1, 1, 1, 1])],
            "network: input \"a\": got shape [1, 1, 1, 1, 1], expected at most 4 axes and 2147483648 elements",
        ),
        (vec![Input::indices("a", [1], 0)], "network: input \"a\": got 0 indices, expected 1 to 16777216"),
        (vec![Input::indices("a", [1], 1 << 25)], "network: input \"a\": got 33554432 indices, expected 1 to 16777216"),
        (vec![Input::numbers("a", [3])], "train: the model takes 3 inputs, the rows have 7"),
    ] {
        assert_eq!(with(inputs), expected);
    }
    let unknown =
        Network::function_of(inputs(), [("w", Initial::zeros([1, 1]))], |_, inputs| inputs.get("word").cloned());
    let said = block_on(unknown.traced(&device)).expect_err("unknown").to_string();
    assert_eq!(said, "network: unknown input: got \"word\", expected one of words, picture, measured");

    // Rows.
    let rows = |at: usize, value: f32| {
        let mut data = data(50);
        data.train.x[at] = value;
        data
    };
    for (at, value, expected) in [
        (7, 5.0, "input \"words\": got 5 in row 2, expected a whole number from 0 to 4"),
        (1, -1.0, "input \"words\": got -1 in row 1, expected a whole number from 0 to 4"),
        (14, 0.5, "input \"words\": got 0.5 in row 3, expected a whole number from 0 to 4"),
        (5, 256.0, "input \"picture\": got 256 in row 1, expected a whole number from 0 to 255"),
    ] {
        let said = Trainer::new(&device, reader(), config(), rows(at, value)).err().expect(expected).to_string();
        assert_eq!(said, format!("train: training rows: {expected}"));
        let trainer = Trainer::new(&device, reader(), config(), data(50))?;
        let said = block_on(trainer.predict(&rows(at, value).train.x)).expect_err(expected).to_string();
        assert_eq!(said, format!("predict: {expected}"));
    }
    // An index behind other numbers; a row at a time; one that is named like a node of ONNX; between layers.
    let behind = Network::function_of(
        [Input::numbers("a", [2]), Input::indices("b", [1], 3)],
        [("t", Initial::normal([3, 1], 1.0))],
        |p, inputs| ops::take_rows(&p["t"], inputs["b"].value()),
    );
    let spec = block_on(behind.traced(&device))?;
    let model = Model::new(spec, Loss::mse(), behind.initialise(1)?, None);
    let expected = "predict: input \"b\": got 3 in row 2, expected a whole number from 0 to 2";
    let rows_of = [0.5, -9.0, 2.0, 0.5, 9.5, 3.0];
    assert_eq!(block_on(model.outputs(&device, &rows_of)).expect_err(expected).to_string(), expected);
    let mut ready = model.clone().ready(&device)?;
    let said = ready.row(&[0.0, 0.0, 7.0], &mut [0.0]).expect_err("an index").to_string();
    assert_eq!(said, "predict: input \"b\": got 7 in row 1, expected a whole number from 0 to 2");
    let mut test = data(50);
    (test.test.x, test.test.y) = (vec![9.0; 7], vec![0.0]);
    let said = Trainer::new(&device, reader(), config(), test).err().expect("an error").to_string();
    assert_eq!(said, "train: test rows: input \"words\": got 9 in row 1, expected a whole number from 0 to 4");
    let text = model.spec.to_json().to_string().replace("\"name\":\"a\"", "\"name\":\"gather_1\"");
    let named = Model::new(Spec::from_json(&Json::parse(&text)?)?, Loss::mse(), behind.initialise(1)?, None);
    let said = write_onnx(&named).expect_err("a name").to_string();
    assert_eq!(said, "onnx: got the input \"gather_1\", which is the name of a node: rename it");
    let layers = vec![meromorph::nn::Linear::new(3).into(), model.spec.layers[0].clone()];
    let said = Spec { inputs: 3, layers }.outputs().expect_err("between layers").to_string();
    assert_eq!(said, "model: layers.1: a function of b [1] below 3: expected numbers after another layer");

    let mut held = data(50);
    held.validation.x[0] = 9.0;
    let said = Trainer::new(&device, reader(), config(), held).err().expect("an error").to_string();
    assert_eq!(said, "train: validation rows: input \"words\": got 9 in row 1, expected a whole number from 0 to 4");

    // A damaged file.
    let spec = block_on(reader().traced(&device))?;
    let text = spec.to_json().to_string();
    let graph = traced(&reader())?;
    assert_eq!(Graph::from_json(&Json::parse(&graph.to_json().to_string())?)?, graph);
    for (from, to, expected) in [
        ("\"below\":5", "\"below\":0", "model: layers.0: input \"words\": got 0 indices, expected 1 to 16777216"),
        (
            "\"name\":\"picture\"",
            "\"name\":\"words\"",
            "model: layers.0: input \"words\": expected a name that no other input has",
        ),
        ("\"shape\":[2,2]", "\"shape\":[2,3]", "model: layers.0: a function of 9 inputs: got 7 values"),
    ] {
        assert!(text.contains(from), "{from} is not in {text}");
        let spec = Json::parse(&text.replacen(from, to, 1)).and_then(|json| Spec::from_json(&json));
        assert_eq!(spec.and_then(|spec| spec.outputs()).expect_err(expected).to_string(), expected);
    }
    Ok(())
}
