//! What a file cannot hold, and what a damaged one says.

use std::cell::Cell;
use std::rc::Rc;

use super::inside::Passed;
use super::waves;
use meromorph::autograd::{Var, apply};
use meromorph::internal::json::{Json, Record};
use meromorph::model::{Initial, Network, Parameters};
use meromorph::nn::Spec;
use meromorph::program::expr::{gt, select};
use meromorph::tensor::Tensor;
use meromorph::{Device, Result, ops};
use pollster::block_on;

#[test]
fn what_a_file_cannot_hold_is_an_error() {
    let refused = |function: fn(&Parameters, &Var) -> Result<Vec<Var>>, expected: &str| {
        let model = Network::function(2, [("a", Initial::constant([2, 1], 1.0))], function);
        assert_eq!(block_on(model.traced(&Device::cpu(1))).expect_err(expected).to_string(), expected);
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
        |p, x| Ok(vec![apply(Rc::new(Passed), &[&ops::matmul(x, &p["a"])])]),
        "the op \"passed\" cannot be stored in a model",
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
    for (from, to, expected) in [
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
        assert_eq!(said(from, to), expected);
    }
    Ok(())
}
