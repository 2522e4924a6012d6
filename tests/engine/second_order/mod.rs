//! Second order: products with Hessians and Jacobians against hyper-dual numbers in f64, and the properties that they must have.

mod diagonals;
mod dual;
mod graph;
mod hessians;
mod jacobians;
mod limits;
mod reference;
mod scalar;

use dual::{Dual, products};
use graph::Random;
use meromorph::autograd::Var;
use meromorph::tensor::{Shape, Tensor};
use meromorph::{Device, ops};
use pollster::block_on;

/// Normwise relative error of an engine in f32.
const BOUND: f64 = 1e-4;

fn leaf(device: &Device, shape: impl Into<Shape>, values: &[f32]) -> Var {
    Var::leaf(Tensor::from_f32(device, shape, values).expect("uploads"))
}

fn numbers(var: &Var) -> Vec<f32> {
    block_on(var.value().to_f32()).expect("reads")
}

fn all(vars: &[Var]) -> Vec<f64> {
    vars.iter().flat_map(|var| numbers(var).into_iter().map(f64::from)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// ‖got - expected‖ / ‖expected‖.
fn distance(got: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(got.len(), expected.len());
    let difference: Vec<f64> = got.iter().zip(expected).map(|(a, b)| a - b).collect();
    (dot(&difference, &difference) / dot(expected, expected)).sqrt()
}

fn leaves(device: &Device, shapes: &[Shape], values: &[Vec<f32>]) -> Vec<Var> {
    shapes.iter().zip(values).map(|(shape, values)| leaf(device, shape, values)).collect()
}

fn refs(vars: &[Var]) -> Vec<&Var> {
    vars.iter().collect()
}

/// A loss by the engine and by the reference, and the values at which they are compared.
struct Case<'a> {
    name: String,
    shapes: Vec<Shape>,
    values: Vec<Vec<f32>>,
    loss: Box<Loss<'a>>,
    reference: Box<Reference<'a>>,
}

type Loss<'a> = dyn Fn(&[Var]) -> Var + 'a;
type Reference<'a> = dyn Fn(&[Vec<Dual>]) -> Dual + 'a;

/// Compares the gradient along a direction and the Hessian's product with it; returns the distance of the products.
fn check(device: &Device, case: &Case<'_>, seed: u64) -> f64 {
    let variables = leaves(device, &case.shapes, &case.values);
    let directions = Random(seed).like(&case.values);
    let vectors = leaves(device, &case.shapes, &directions);
    let loss = (case.loss)(&variables);
    let (slope, expected) = products(&case.values, &directions, &case.reference);
    let gradient = ops::grad(&loss, &refs(&variables)).expect("a gradient");
    let gradient: Vec<Var> = gradient.into_iter().map(|found| found.expect("every input is reached")).collect();
    let got = dot(&all(&gradient), &all(&vectors));
    assert!((got - slope).abs() < 1e-3 * (1.0 + slope.abs()), "{}: slope: got {got}, expected {slope}", case.name);
    let products = ops::hvp(&loss, &refs(&variables), &refs(&vectors)).expect("a product");
    for (product, variable) in products.iter().zip(&variables) {
        assert_eq!(product.shape(), variable.shape(), "{}", case.name);
    }
    distance(&all(&products), &expected)
}

/// Checks all and reports every failure.
fn check_all<'a>(cases: impl IntoIterator<Item = Case<'a>>) {
    let mut failures = Vec::new();
    for (at, case) in cases.into_iter().enumerate() {
        let distance = check(&Device::cpu(1), &case, 77 + at as u64);
        if distance.is_nan() || distance > BOUND {
            failures.push(format!("{}: off by {distance:.1e}", case.name));
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

fn graph_shapes() -> Vec<Shape> {
    vec![[graph::ROWS, graph::COLUMNS].into(), [graph::COLUMNS; 2].into(), [graph::COLUMNS].into()]
}

fn graph_case(number: usize) -> Case<'static> {
    let steps = graph::graph(number);
    let name = format!("graph {number}: {steps:?}");
    let other = steps.clone();
    Case {
        name,
        shapes: graph_shapes(),
        values: graph::inputs(number),
        loss: Box::new(move |inputs| graph::loss(&steps, inputs)),
        reference: Box::new(move |inputs| graph::reference_loss(&other, inputs)),
    }
}
