//! Ops as data: for each op that a model file can hold one record, which makes it from its attributes, prints it and writes it as ONNX nodes.
//! Shape rule, kernel and gradient are the op's own (`autograd::Op`).

use std::rc::Rc;
use std::sync::Arc;

use crate::autograd::{Op, Var};
use crate::error::{Error, Result};
use crate::json::{Json, Record};
use crate::program::onnx::Graph;
use crate::program::{Curve, Instruction, Program};
use crate::tensor::Form;

/// An op that a model file can hold.
pub struct OpRecord {
    /// Its name, in files and messages.
    pub name: &'static str,
    /// How many inputs it takes, at least and at most, besides what functions inside it use from outside.
    pub inputs: (usize, usize),
    /// The op of these attributes.
    pub read: fn(&Json, &Reading<'_>) -> Result<Rc<dyn Op>>,
    /// Its value as nodes of an ONNX graph over its inputs, which have these forms for one row. Sizes among the attributes may depend on the number of rows. Errors if ONNX has no
    /// counterpart.
    pub onnx: Nodes,
    /// How it reads as a formula of its inputs, if not as a call with attributes.
    pub text: Option<Text>,
}

/// Writes an op's nodes to a graph, from its attributes, the names of its inputs and their forms for one row; returns the name of its value.
pub type Nodes = fn(&Json, &mut dyn Graph<Name = String>, &[String], &[Form]) -> Result<String>;
/// An op's formula, from its attributes and the names of its inputs.
pub type Text = fn(&Json, &[&str]) -> Result<String>;

/// What reading an op takes besides its attributes.
pub struct Reading<'a> {
    /// Whether gradients will be taken.
    pub is_tracked: bool,
    /// The function of a name or a formula.
    pub curve: fn(&str) -> Result<Arc<Curve>>,
    /// The functions inside it.
    pub bodies: &'a [Rc<dyn Inner>],
}

impl Reading<'_> {
    /// The one function inside an op that needs one.
    pub(super) fn body(&self) -> Result<Rc<dyn Inner>> {
        let [body] = self.bodies else {
            let got = self.bodies.len();
            return Err(Error::new(format!("got {got} functions inside it, expected one")));
        };
        Ok(body.clone())
    }
}

/// A function inside an op that was read.
pub trait Inner {
    /// Forms of its outputs from those of its arguments. Errors if they do not fit.
    fn forms(&self, arguments: &[Form]) -> Result<Vec<Form>>;

    /// Applies its ops.
    fn run(&self, arguments: &[Var]) -> Result<Vec<Var>>;
}

/// An attribute of an op.
pub(crate) fn attribute<T: Record>(attributes: &Json, name: &str) -> Result<T> {
    T::from_json(attributes.field(name)?).map_err(|error| error.within(name))
}

/// A number among the attributes. Errors if a file cannot hold it.
pub(super) fn finite(op: &str, value: f32) -> Result<Json> {
    if value.is_finite() {
        return Ok(value.to_json());
    }
    Err(Error::new(format!("the op \"{op}\" has the number {value}: a model file holds finite numbers only")))
}

/// Errors if a constant of a program is not a finite number of 32 bits, which neither a file nor a shader can hold.
pub(crate) fn check_constants(op: &str, program: &Program) -> Result<()> {
    let constants = program.code.iter().filter_map(|step| match step {
        Instruction::Constant(value) => Some(*value as f32),
        _ => None,
    });
    constants.filter(|value| !value.is_finite()).try_for_each(|value| finite(op, value).map(drop))
}

/// The error of an op that may make ⊥, which is no part of ONNX.
pub(crate) fn no_bottom(_: &Json, _: &mut dyn Graph<Name = String>, _: &[String], _: &[Form]) -> Result<String> {
    Err(Error::new(
        "onnx: a function with masked arithmetic is not exported: expected a model with a projective head or masked layers, or a function of plain ops",
    ))
}

/// The ONNX nodes of an op that passes its first input on: what it does concerns gradients only.
#[expect(clippy::unnecessary_wraps, reason = "as every record takes it")]
pub(super) fn passed(_: &Json, _: &mut dyn Graph<Name = String>, inputs: &[String], _: &[Form]) -> Result<String> {
    Ok(inputs[0].clone())
}
