//! What the closures of a model see and return: named parameters and inputs, the rows of a step, outputs, a loss.

use std::ops::Index;
use std::rc::Rc;

use crate::autograd::Var;
use crate::error::{Error, Result};
use crate::graph::{Input, split};
use crate::ops;
use crate::scm::Masked;

/// The rows of one step, or those that evaluate an epoch, and the parameters.
pub struct Batch {
    /// Inputs [rows, inputs]. `ops::grad` of an output by them is its derivative in each row, and can be differentiated again.
    pub x: Var,
    /// Targets [rows, targets].
    pub y: Var,
    /// Weights [rows, 1]: 1, or 0 for rows that only fill the last batch.
    pub weight: Var,
    /// The model's parameters, as for a penalty on some of them.
    pub parameters: Parameters,
    /// The model's inputs.
    pub(crate) inputs: Rc<[Input]>,
}

impl Batch {
    /// The same rows with these parameters.
    pub(crate) fn at(&self, parameters: Parameters) -> Self {
        let Self { x, y, weight, inputs, .. } = self;
        Self { x: x.clone(), y: y.clone(), weight: weight.clone(), inputs: inputs.clone(), parameters }
    }

    /// The inputs by name, [rows, shape…], in values for each column of the rows: in `batch.x`, or in a gradient by it. Indices have no gradient.
    pub fn inputs(&self, of: &Var) -> Inputs {
        Inputs::new(self.inputs.clone(), split(&self.inputs, of))
    }

    /// Whether the rows train the model; otherwise they evaluate it.
    pub fn is_training(&self) -> bool {
        self.parameters.is_training
    }

    /// The weighted mean of `x` [rows, columns] over rows and columns, of shape [1].
    #[track_caller]
    pub fn mean(&self, x: &Var) -> Var {
        let columns = x.shape().sizes()[1] as f32;
        let weighted = ops::mul(x, &self.weight);
        ops::fused(&[&total(&weighted), &total(&self.weight)], |v| v[0] / (v[1] * columns))
    }
}

/// The sum of `x` [rows, columns], of shape [1].
pub(super) fn total(x: &Var) -> Var {
    ops::reshape(&ops::sum(x, 0..2), [1])
}

/// The parameters of a model, by name.
#[derive(Clone)]
pub struct Parameters {
    names: Rc<[String]>,
    values: Vec<Var>,
    is_training: bool,
}

impl Parameters {
    pub(crate) fn new(names: Rc<[String]>, values: Vec<Var>, is_training: bool) -> Self {
        Self { names, values, is_training }
    }

    /// Whether the pass trains the model; otherwise it predicts.
    pub fn is_training(&self) -> bool {
        self.is_training
    }

    /// The parameter `name`; an unknown name is an error that lists the names there are.
    pub fn get(&self, name: &str) -> Result<&Var> {
        named(name, "parameter", self.names.iter().zip(&self.values))
    }

    /// All parameters in the order in which the model lists them.
    pub fn values(&self) -> &[Var] {
        &self.values
    }
}

/// `parameters["name"]`; an unknown name panics, where [`Parameters::get`] returns an error.
impl Index<&str> for Parameters {
    type Output = Var;

    #[track_caller]
    fn index(&self, name: &str) -> &Var {
        self.get(name).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// The value of that name; an unknown name is an error that lists those there are.
fn named<'a>(name: &str, what: &str, values: impl Iterator<Item = (&'a String, &'a Var)> + Clone) -> Result<&'a Var> {
    let found = values.clone().find(|(known, _)| *known == name).map(|(_, value)| value);
    found.ok_or_else(|| {
        let names: Vec<&str> = values.map(|(known, _)| known.as_str()).collect();
        Error::new(format!("network: unknown {what}: got \"{name}\", expected one of {}", names.join(", ")))
    })
}

/// The inputs of a model, by name.
#[derive(Clone)]
pub struct Inputs {
    inputs: Rc<[Input]>,
    values: Vec<Var>,
}

impl Inputs {
    pub(crate) fn new(inputs: Rc<[Input]>, values: Vec<Var>) -> Self {
        Self { inputs, values }
    }

    /// The input `name`, [rows, shape…]; an unknown name is an error that lists the names there are.
    pub fn get(&self, name: &str) -> Result<&Var> {
        named(name, "input", self.inputs.iter().map(|input| &input.name).zip(&self.values))
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.values.first().map_or(0, |value| value.shape().sizes()[0])
    }

    /// All inputs in the order in which the model lists them.
    pub fn values(&self) -> &[Var] {
        &self.values
    }
}

/// `inputs["name"]`; an unknown name panics, where [`Inputs::get`] returns an error.
impl Index<&str> for Inputs {
    type Output = Var;

    #[track_caller]
    fn index(&self, name: &str) -> &Var {
        self.get(name).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// What a function model returns: one `Var`, several, masked numbers, or an error.
pub struct Outputs(pub(super) Result<Vec<Var>>);

impl From<Var> for Outputs {
    fn from(output: Var) -> Self {
        Self(Ok(vec![output]))
    }
}

/// Infinity under ⊥, where predictions have no value ([`Masked::or_infinite`]).
impl From<Masked> for Outputs {
    fn from(output: Masked) -> Self {
        output.or_infinite().into()
    }
}

impl From<Vec<Var>> for Outputs {
    fn from(outputs: Vec<Var>) -> Self {
        Self(Ok(outputs))
    }
}

impl<const N: usize> From<[Var; N]> for Outputs {
    fn from(outputs: [Var; N]) -> Self {
        Self(Ok(outputs.into()))
    }
}

impl<T: Into<Self>> From<Result<T>> for Outputs {
    fn from(outputs: Result<T>) -> Self {
        outputs.map_or_else(|error| Self(Err(error)), Into::into)
    }
}

/// What a closure loss returns: a mean over the rows of shape [1], the losses of rows [rows, columns], or an error.
pub struct LossValue(pub(super) Result<Var>);

impl From<Var> for LossValue {
    fn from(loss: Var) -> Self {
        Self(Ok(loss))
    }
}

impl From<Result<Var>> for LossValue {
    fn from(loss: Result<Var>) -> Self {
        Self(loss)
    }
}
