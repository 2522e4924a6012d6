//! Masked arithmetic in functions: what is ⊥ is the same from a file.

use super::{config, data, traced};
use crate::devices::devices;
use crate::noise::noise;
use meromorph::autograd::Var;
use meromorph::export::write_onnx;
use meromorph::files::{Header, read_plain};
use meromorph::graph::Graph;
use meromorph::internal::json::{Json, Record};
use meromorph::internal::kernels::rational::{Basis, Rational};
use meromorph::loss::Loss;
use meromorph::model::{Initial, Model, Network, Parameters, Prediction};
use meromorph::nn::Spec;
use meromorph::program::expr::ln;
use meromorph::run::TrainOptions;
use meromorph::scm::policy::Policy;
use meromorph::scm::{self, BottomRule, Masked};
use meromorph::table::{Choice, Feature, Target};
use meromorph::train::{Checkpoint, Flow, Trainer};
use meromorph::{Device, Result, ops};
use pollster::block_on;

/// Two outputs: x0 / x1 + ln x2, 0 under ⊥, and whether it is ⊥.
fn quotient() -> Network {
    Network::function(3, [("w", Initial::values([1, 1], [1.0]))], |p, x| {
        let [a, b, c] = [0, 1, 2].map(|at| Masked::from(&ops::slice(x, 1, at..at + 1)));
        let y = scm::fused(&[&a, &b, &c, &Masked::from(&p["w"])], |v| v[3] * v[0] / v[1] + ln(v[2]));
        vec![y.value().clone(), y.bottoms()]
    })
}

/// A function that uses every masked op that a file can hold: the fourth of its values is a sum that leaves ⊥ out.
fn every_op(p: &Parameters, x: &Var) -> Var {
    let rows = x.shape().sizes()[0];
    let traced = Masked::from(x).traced();
    let inverse = scm::inv(&traced);
    let product = scm::matmul(&inverse, &Masked::from(&p["w"]));
    let form = Rational { numerator: 1, denominator: 1, basis: Basis::Monomial, is_safe: false, epsilon: 1e-3 };
    let poles = scm::rational(&inverse, &p["poles"], &form, Policy::Project);
    let [all, some] = [BottomRule::Strict, BottomRule::Drop].map(|rule| scm::sum(&inverse, 1..2, rule));
    let (shares, is_bottom) = scm::softmax(&inverse, Policy::default());
    let both = scm::mul(&all, &some);
    let parts = [&product, &poles, &all, &some, &both].map(|one| ops::add(one.value(), &one.bottoms()));
    let parts: Vec<&Var> = parts.iter().chain([&shares, &is_bottom]).collect();
    let wide = ops::concat(&parts, 1);
    ops::reshape(&ops::matmul(&wide, &p["out"]), [rows, 1])
}

fn every() -> Network {
    let parameters = [
        ("w", Initial::normal([3, 2], 0.5)),
        ("poles", Initial::values([4, 1], [1.0, 0.5, 1.0, -2.0])),
        ("out", Initial::normal([12, 1], 0.3)),
    ];
    Network::function(3, parameters, every_op)
}

#[test]
fn what_is_bottom_is_the_same_from_a_file() -> Result<()> {
    let rows = [6.0, 3.0, 1.0, 6.0, 0.0, 1.0, 6.0, 3.0, -1.0, 0.0, 0.0, 0.0, -1.0, 4.0, 1.0];
    let text = block_on(quotient().traced(&Device::cpu(1)))?.to_json().to_string();
    let spec = Spec::from_json(&Json::parse(&text)?)?;
    let flat = quotient().initialise(1)?;
    let model = Model::load(&Model::new(spec, Loss::mse(), flat, None).save()?, "quotient")?;
    for device in devices(&[1, 2]) {
        let got = block_on(model.outputs_each(&device, &rows))?;
        assert_eq!(got, [[2.0, 0.0, 0.0, 0.0, -0.25], [0.0, 1.0, 1.0, 1.0, 0.0]], "{}", device.info().device);
    }
    let lines = traced(&quotient())?.lines()?;
    assert_eq!(lines[3], "v3 = total(w*v0/v1 + ln(v2))   [rows, 1]");
    assert_eq!(lines[4..6], ["v4 = mask(v3)   [?]", "v5 = marks(v4, faults=false, shape=[rows, 1])   [rows, 1]"]);
    let said = write_onnx(&model).expect_err("no ONNX").to_string();
    assert_eq!(
        said,
        "onnx: a function with masked arithmetic is not exported: expected a model with a projective head or masked layers, or a function of plain ops"
    );
    Ok(())
}

#[test]
fn masked_numbers_have_no_prediction_under_bottom() -> Result<()> {
    let network = Network::function(2, [("w", Initial::values([1, 1], [2.0]))], |p, x| {
        let [a, b] = [0, 1].map(|at| Masked::from(&ops::slice(x, 1, at..at + 1)));
        scm::mul(&scm::div(&a, &b), &Masked::from(&p["w"]))
    });
    let many = (0..40)
        .map(|i| format!("{},{},{}\n", 0.7 * f64::from(i), 0.3 * f64::from(i * i), 0.1 * f64::from(i)))
        .collect();
    let read = |rows: String| read_plain(format!("a,b,y\n{rows}").as_bytes(), "rows.csv", Header::Yes);
    let table = read("1,2,1\n3,0,0\n5,1,10\n".into())?;
    let choice = Choice { target: "y".into(), bins: Some(0), ..Choice::default() };
    let run = TrainOptions { choice, ..TrainOptions::default() }.prepare(&read(many)?)?;
    let mut preparation = run.preparation;
    for feature in &mut preparation.features {
        let Feature::Numeric(number) = feature else { panic!("a number") };
        (number.mean, number.scale) = (0.0, 1.0);
    }
    let Target::Regression { mean, scale, .. } = &mut preparation.target else { panic!("a number") };
    (*mean, *scale) = (0.0, 1.0);
    for device in devices(&[1]) {
        let spec = block_on(network.traced(&device))?;
        let model = Model::new(spec, Loss::mse(), network.initialise(1)?, Some(preparation.clone()));
        let model = Model::load(&model.save()?, "ratio")?;
        let predicted = block_on(model.predict(&device, &table))?;
        assert_eq!(
            predicted,
            [Prediction::Number(1.0), Prediction::None, Prediction::Number(10.0)],
            "{}",
            device.info().device
        );
    }
    Ok(())
}

#[test]
fn every_masked_op_is_stored_and_trained_on() -> Result<()> {
    let graph = traced(&every())?;
    assert_eq!(Graph::from_json(&Json::parse(&graph.to_json().to_string())?)?, graph);
    for record in scm::RECORDS {
        assert!(graph.nodes.iter().any(|node| node.op == record.name), "{} is not in the model", record.name);
    }
    // Some divisions by zero, and a pole of the rational function at 1/2.
    let mut rows = data();
    for (at, x) in rows.train.x.iter_mut().enumerate().filter(|(at, _)| at % 7 == 0) {
        *x = if at % 2 == 0 { 0.0 } else { 0.5 };
    }
    for device in devices(&[1, 2]) {
        let mut whole = Trainer::new(&device, every(), config(), rows.clone())?;
        block_on(whole.run(&mut |_| Flow::Continue))?;
        let mut first = Trainer::new(&device, every(), config(), rows.clone())?;
        block_on(first.run(&mut |_| Flow::Stop))?;
        let file = block_on(first.checkpoint())?.save(None)?;
        let mut alone = Trainer::resume(&device, rows.clone(), Checkpoint::load(&file, "run")?.0)?;
        block_on(alone.run(&mut |_| Flow::Continue))?;
        let expected = block_on(whole.parameters())?;
        assert!(expected.iter().all(|value| value.is_finite()));
        assert_eq!(block_on(alone.parameters())?, expected, "{}", device.info().device);
        let model = Model::load(&block_on(whole.model(None))?.save()?, "every")?;
        let x: Vec<f32> = noise(3 * 3000, 9).iter().map(|x| (x * 4.0).round() / 4.0).collect();
        let predicted = block_on(model.outputs(&device, &x))?;
        assert_eq!(predicted, block_on(whole.predict(&x))?);
        assert!(predicted.iter().all(|value| value.is_finite()));
    }
    Ok(())
}

#[test]
fn damaged_masks_are_errors() -> Result<()> {
    let text = block_on(every().traced(&Device::cpu(1)))?.to_json().to_string();
    let said = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} is not in {text}");
        let spec = Json::parse(&text.replacen(from, to, 1)).and_then(|json| Spec::from_json(&json));
        spec.and_then(|spec| spec.outputs()).expect_err(to).to_string()
    };
    for (from, to, expected) in [
        (
            "\"planes\":[\"bare\"]",
            "\"planes\":[\"bottom\"]",
            "node 0 (masked): got 1 inputs for a program of 1, expected 2",
        ),
        (
            "\"planes\":[\"fault\"]",
            "\"planes\":[\"bottom\"]",
            "node 2 (masked): got a mask of [65], expected [1] words for [1, 3]",
        ),
        (
            "\"op\":\"second\",\"inputs\":[5]",
            "\"op\":\"second\",\"inputs\":[1]",
            "node 1 (second): its input is not the value of an op with two results",
        ),
        (
            "\"shape\":[{\"rows\":1},3]",
            "\"shape\":[{\"rows\":900},3]",
            "node 7 (marks): got [65], expected the words of a mask for [900, 3]",
        ),
        (
            "\"numerator\":1",
            "\"numerator\":3",
            "node 19 (rational): number of coefficients: got shape [4, 1] with degrees 3 and 1 for [1, 3]",
        ),
        (
            "\"numerator\":1",
            "\"numerator\":99",
            "node 19 (rational): got degree 99, epsilon 0.001: expected at most 16 and at least 0",
        ),
    ] {
        assert_eq!(said(from, to), format!("model: layers.0: {expected}"), "{from} → {to}");
    }
    Ok(())
}
