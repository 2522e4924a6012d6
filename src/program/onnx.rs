//! Programs as ONNX nodes. Every operation is one node of the standard set or a few; an operation without ONNX counterpart is an error with its name.

use super::{Instruction, Program};
use crate::error::{Error, Result};
use crate::json::Json;

/// A graph under construction.
pub trait Graph {
    /// The name of a value in the graph.
    type Name: Clone;

    /// A constant scalar of f32.
    fn number(&mut self, value: f32) -> Self::Name;

    /// Adds a node of the standard operator set without attributes; returns its one output.
    fn op(&mut self, operator: &'static str, inputs: &[&Self::Name]) -> Self::Name;

    /// A boolean as a number, 1 or 0.
    fn truth(&mut self, truth: &Self::Name) -> Self::Name;

    /// Adds a node with attributes; returns its one output.
    fn node(&mut self, operator: &'static str, inputs: &[&Self::Name], settings: &[Setting<'_>]) -> Self::Name;

    /// A constant list of integers.
    fn list(&mut self, values: &[i64]) -> Self::Name;

    /// A constant tensor of numbers.
    fn floats(&mut self, shape: &[usize], values: &[f32]) -> Self::Name;

    /// A list of sizes, which may depend on the number of rows.
    fn sizes(&mut self, sizes: &Json) -> Result<Self::Name>;
}

/// An attribute of a node.
#[derive(Clone, Copy)]
pub enum Setting<'a> {
    /// An integer.
    Int(&'static str, i64),
    /// A number.
    Float(&'static str, f32),
    /// Integers.
    Ints(&'static str, &'a [i64]),
}

/// Element types of casts, by their numbers in the format.
pub mod element {
    /// float32
    pub const FLOAT: i64 = 1;
    /// int64
    pub const INT: i64 = 7;
    /// float16
    pub const HALF: i64 = 10;
}

/// Comparisons, which are booleans in ONNX.
const COMPARISONS: &[(&str, &str)] =
    &[("lt", "Less"), ("le", "LessOrEqual"), ("gt", "Greater"), ("ge", "GreaterOrEqual"), ("eq", "Equal")];

impl Program {
    /// Its results as nodes of `graph` over `inputs`. Errors name an operation that ONNX does not have.
    pub fn onnx<G: Graph + ?Sized>(&self, graph: &mut G, inputs: &[G::Name]) -> Result<Vec<G::Name>> {
        let mut names: Vec<G::Name> = Vec::with_capacity(self.code.len());
        for instruction in &self.code {
            names.push(match *instruction {
                Instruction::Input(at) => inputs[at as usize].clone(),
                Instruction::Constant(value) => graph.number(value as f32),
                Instruction::Op(op, arguments) => {
                    let taken: Vec<&G::Name> =
                        arguments[..op.arguments.len()].iter().map(|&a| &names[a as usize]).collect();
                    if op.texts.onnx.is_empty() {
                        node(graph, op.name, &taken)?
                    } else {
                        graph.op(op.texts.onnx, &taken)
                    }
                }
            });
        }
        Ok(self.results.iter().map(|&result| names[result as usize].clone()).collect())
    }
}

fn node<G: Graph + ?Sized>(graph: &mut G, name: &str, x: &[&G::Name]) -> Result<G::Name> {
    if let Some((_, operator)) = COMPARISONS.iter().find(|(known, _)| *known == name) {
        let truth = graph.op(operator, x);
        return Ok(graph.truth(&truth));
    }
    Ok(match name {
        "square" => graph.op("Mul", &[x[0], x[0]]),
        "rsqrt" => {
            let root = graph.op("Sqrt", x);
            graph.op("Reciprocal", &[&root])
        }
        "clamp" => {
            let above = graph.op("Max", &[x[0], x[1]]);
            graph.op("Min", &[&above, x[2]])
        }
        "exp2" => {
            let two = graph.number(2.0);
            graph.op("Pow", &[&two, x[0]])
        }
        "log2" => scaled(graph, "Log", x[0], std::f32::consts::LOG2_E),
        "expm1" => expm1(graph, x[0]),
        "log1p" => log1p(graph, x[0]),
        "hypot" => hypot(graph, x[0], x[1]),
        "sinc" => sinc(graph, x[0]),
        "erfc" => {
            let (one, erf) = (graph.number(1.0), graph.op("Erf", x));
            graph.op("Sub", &[&one, &erf])
        }
        "select" => {
            let is_chosen = is_nonzero(graph, x[0]);
            graph.op("Where", &[&is_chosen, x[1], x[2]])
        }
        "ne" => {
            let equal = graph.op("Equal", x);
            let truth = graph.op("Not", &[&equal]);
            graph.truth(&truth)
        }
        "not" => {
            let zero = graph.number(0.0);
            let truth = graph.op("Equal", &[x[0], &zero]);
            graph.truth(&truth)
        }
        "and" | "or" => {
            let (a, b) = (is_nonzero(graph, x[0]), is_nonzero(graph, x[1]));
            let truth = graph.op(if name == "and" { "And" } else { "Or" }, &[&a, &b]);
            graph.truth(&truth)
        }
        _ => return Err(Error::new(format!("onnx: the function \"{name}\" has no counterpart in ONNX"))),
    })
}

fn is_nonzero<G: Graph + ?Sized>(graph: &mut G, x: &G::Name) -> G::Name {
    let zero = graph.number(0.0);
    let is_zero = graph.op("Equal", &[x, &zero]);
    graph.op("Not", &[&is_zero])
}

fn scaled<G: Graph + ?Sized>(graph: &mut G, operator: &'static str, x: &G::Name, factor: f32) -> G::Name {
    let (value, factor) = (graph.op(operator, &[x]), graph.number(factor));
    graph.op("Mul", &[&value, &factor])
}

/// `near` where |x| < limit, `far` elsewhere.
fn by_size<G: Graph + ?Sized>(graph: &mut G, x: &G::Name, limit: f32, near: &G::Name, far: &G::Name) -> G::Name {
    let (size, limit) = (graph.op("Abs", &[x]), graph.number(limit));
    let is_near = graph.op("Less", &[&size, &limit]);
    graph.op("Where", &[&is_near, near, far])
}

/// 2 t / (1 - t) with t = tanh(x/2) near 0, where e^x - 1 would cancel.
fn expm1<G: Graph + ?Sized>(graph: &mut G, x: &G::Name) -> G::Name {
    let (half, one, two) = (graph.number(0.5), graph.number(1.0), graph.number(2.0));
    let halved = graph.op("Mul", &[x, &half]);
    let t = graph.op("Tanh", &[&halved]);
    let (twice, rest) = (graph.op("Mul", &[&t, &two]), graph.op("Sub", &[&one, &t]));
    let near = graph.op("Div", &[&twice, &rest]);
    let power = graph.op("Exp", &[x]);
    let far = graph.op("Sub", &[&power, &one]);
    by_size(graph, x, 1.0, &near, &far)
}

/// 2 artanh(x / (2 + x)) near 0, where ln(1 + x) would cancel.
fn log1p<G: Graph + ?Sized>(graph: &mut G, x: &G::Name) -> G::Name {
    let (one, two) = (graph.number(1.0), graph.number(2.0));
    let below = graph.op("Add", &[x, &two]);
    let ratio = graph.op("Div", &[x, &below]);
    let half = graph.op("Atanh", &[&ratio]);
    let near = graph.op("Mul", &[&half, &two]);
    let sum = graph.op("Add", &[x, &one]);
    let far = graph.op("Log", &[&sum]);
    by_size(graph, x, 0.5, &near, &far)
}

/// m √(1 + (s / m)²), where m is the larger and s the smaller of |a| and |b|.
fn hypot<G: Graph + ?Sized>(graph: &mut G, a: &G::Name, b: &G::Name) -> G::Name {
    let (zero, one) = (graph.number(0.0), graph.number(1.0));
    let (a, b) = (graph.op("Abs", &[a]), graph.op("Abs", &[b]));
    let (large, small) = (graph.op("Max", &[&a, &b]), graph.op("Min", &[&a, &b]));
    let is_zero = graph.op("Equal", &[&large, &zero]);
    let below = graph.op("Where", &[&is_zero, &one, &large]);
    let ratio = graph.op("Div", &[&small, &below]);
    let square = graph.op("Mul", &[&ratio, &ratio]);
    let sum = graph.op("Add", &[&square, &one]);
    let root = graph.op("Sqrt", &[&sum]);
    graph.op("Mul", &[&large, &root])
}

/// sin(x) / x, and 1 at 0.
fn sinc<G: Graph + ?Sized>(graph: &mut G, x: &G::Name) -> G::Name {
    let (zero, one) = (graph.number(0.0), graph.number(1.0));
    let is_zero = graph.op("Equal", &[x, &zero]);
    let below = graph.op("Where", &[&is_zero, &one, x]);
    let sine = graph.op("Sin", &[x]);
    let ratio = graph.op("Div", &[&sine, &below]);
    graph.op("Where", &[&is_zero, &one, &ratio])
}
