//! Ops that take elements by index, and their transposes. Indices are `U32` tensors and carry no gradient.
//!
//! Shapes are checked where an op is recorded; indices are known to the device only. One that is out of range takes NaN (`take_rows`, `pick`), and
//! what would go to its place is left out (`add_rows`, `place`): the same on every device.

use std::rc::Rc;

use super::record::{OpRecord, attribute};
use crate::autograd::{Backward, Op, Var, apply};
use crate::error::{Error, Result};
use crate::json::{Json, Record};
use crate::kernels::{gather, scatter};
use crate::program::onnx::{Graph, Setting};
use crate::tensor::{DType, Form, Tensor};

/// Which elements are moved.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// out[i, :] = x[index[i], :].
    TakeRows,
    /// out[index[i], :] += x[i, :].
    AddRows,
    /// out[r] = x[r, index[r]].
    Pick,
    /// out[r, c] = x[r] where c = index[r], else 0.
    Place,
}

/// Inputs: x, and the indices.
struct Index {
    kind: Kind,
    /// Rows of the result of `AddRows`, columns of that of `Place`; not used by the others.
    size: usize,
}

/// The element along the last axis that each row's index names.
fn picked(graph: &mut dyn Graph<Name = String>, inputs: &[String]) -> String {
    let (one, flat) = (graph.list(&[-1, 1]), graph.list(&[-1]));
    let index = graph.op("Reshape", &[&inputs[1], &one]);
    let picked = graph.node("GatherElements", &[&inputs[0], &index], &[Setting::Int("axis", 1)]);
    graph.op("Reshape", &[&picked, &flat])
}

/// 1 at the place that each index names, of `size`, and 0 elsewhere: [indices, size].
fn one_hot(graph: &mut dyn Graph<Name = String>, index: &String, size: &Json) -> Result<String> {
    let (flat, one) = (graph.list(&[-1]), graph.list(&[1]));
    let [off, on] = [0.0, 1.0].map(|value| {
        let value = graph.number(value);
        graph.op("Reshape", &[&value, &one])
    });
    let values = graph.node("Concat", &[&off, &on], &[Setting::Int("axis", 0)]);
    let (index, depth) = (graph.op("Reshape", &[index, &flat]), graph.sizes(&Json::List(vec![size.clone()]))?);
    Ok(graph.op("OneHot", &[&index, &depth, &values]))
}

pub(super) static TAKE_ROWS: OpRecord = OpRecord {
    name: "take_rows",
    inputs: (2, 2),
    read: |_, _| Ok(Rc::new(Index { kind: Kind::TakeRows, size: 0 })),
    onnx: |_, graph, inputs, _| {
        let flat = graph.list(&[-1]);
        let index = graph.op("Reshape", &[&inputs[1], &flat]);
        Ok(graph.node("Gather", &[&inputs[0], &index], &[Setting::Int("axis", 0)]))
    },
    text: None,
};

pub(super) static ADD_ROWS: OpRecord = OpRecord {
    name: "add_rows",
    inputs: (2, 2),
    read: |attributes, _| Ok(Rc::new(Index { kind: Kind::AddRows, size: attribute(attributes, "rows")? })),
    onnx: |attributes, graph, inputs, _| {
        let places = one_hot(graph, &inputs[1], attributes.field("rows")?)?;
        let places = graph.node("Transpose", &[&places], &[Setting::Ints("perm", &[1, 0])]);
        Ok(graph.op("MatMul", &[&places, &inputs[0]]))
    },
    text: None,
};

pub(super) static PICK: OpRecord = OpRecord {
    name: "pick",
    inputs: (2, 2),
    read: |_, _| Ok(Rc::new(Index { kind: Kind::Pick, size: 0 })),
    onnx: |_, graph, inputs, _| Ok(picked(graph, inputs)),
    text: None,
};

pub(super) static PLACE: OpRecord = OpRecord {
    name: "place",
    inputs: (2, 2),
    read: |attributes, _| Ok(Rc::new(Index { kind: Kind::Place, size: attribute(attributes, "columns")? })),
    onnx: |attributes, graph, inputs, _| {
        let (places, one) = (one_hot(graph, &inputs[1], attributes.field("columns")?)?, graph.list(&[-1, 1]));
        let (values, none) = (graph.op("Reshape", &[&inputs[0], &one]), graph.number(0.0));
        let is_there = graph.op("Greater", &[&places, &none]);
        Ok(graph.op("Where", &[&is_there, &values, &none]))
    },
    text: None,
};

impl Index {
    /// Its transpose, for x of these sizes.
    fn transposed(&self, sizes: &[usize]) -> Self {
        match self.kind {
            Kind::TakeRows => Self { kind: Kind::AddRows, size: sizes[0] },
            Kind::AddRows => Self { kind: Kind::TakeRows, size: 0 },
            Kind::Pick => Self { kind: Kind::Place, size: sizes[1] },
            Kind::Place => Self { kind: Kind::Pick, size: 0 },
        }
    }

    /// Rows and columns of the matrix that is indexed, x's for `TakeRows` and `Pick`, the result's for their transposes; and the result's sizes.
    fn sizes(&self, x: &[usize], indices: usize) -> ([usize; 2], Vec<usize>) {
        match self.kind {
            Kind::TakeRows => ([x[0], x[1]], vec![indices, x[1]]),
            Kind::AddRows => ([self.size, x[1]], vec![self.size, x[1]]),
            Kind::Pick => ([x[0], x[1]], vec![x[0]]),
            Kind::Place => ([x[0], self.size], vec![x[0], self.size]),
        }
    }
}

impl Op for Index {
    fn name(&self) -> &'static str {
        match self.kind {
            Kind::TakeRows => "take_rows",
            Kind::AddRows => "add_rows",
            Kind::Pick => "pick",
            Kind::Place => "place",
        }
    }

    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        let [x, index] = [inputs[0], inputs[1]];
        let ([rows, columns], shape) = self.sizes(x.shape().sizes(), index.len());
        let out = Tensor::empty(x.device(), shape, DType::F32);
        let launch = match self.kind {
            Kind::TakeRows => gather::take_rows,
            Kind::AddRows => scatter::add_rows,
            Kind::Pick => gather::pick,
            Kind::Place => scatter::place,
        };
        let [values, index, target] = [x, index, &out].map(|tensor| tensor.view().clone());
        out.launch(launch([rows as u32, columns as u32], values, index, target));
        out
    }

    fn form(&self, inputs: &[Form]) -> Result<Form> {
        let [x, index] = [&inputs[0], &inputs[1]];
        let (rank, kind) = if self.kind == Kind::Place { (1, "a vector") } else { (2, "a matrix") };
        if x.shape.rank() != rank || x.dtype != DType::F32 {
            return Err(Error::new(format!("got {}, expected {kind}", x.shape)));
        }
        if index.dtype != DType::U32 {
            return Err(Error::new(format!("got indices of {:?}, expected U32", index.dtype)));
        }
        let (indices, rows) = (index.shape.len(), x.sizes()[0]);
        if self.kind != Kind::TakeRows && indices != rows {
            return Err(Error::new(format!("got {indices} indices for {rows} rows, expected one for each row")));
        }
        Form::checked(&self.sizes(x.sizes(), indices).1)
    }

    fn attributes(&self) -> Result<Json> {
        Ok(match self.kind {
            Kind::TakeRows | Kind::Pick => Json::fields([]),
            Kind::AddRows => Json::fields([("rows", self.size.to_json())]),
            Kind::Place => Json::fields([("columns", self.size.to_json())]),
        })
    }

    /// Each is linear: its gradient is its transpose.
    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        let transposed = self.transposed(step.inputs[0].shape().sizes());
        Ok(vec![Some(apply(Rc::new(transposed), &[step.gradient, &step.inputs[1]])), None])
    }
}

/// Panics if a shape, the type or the number of indices does not fit.
#[track_caller]
fn indexed(kind: Kind, size: usize, x: &Var, index: &Tensor) -> Var {
    let op = Index { kind, size };
    let name = op.name();
    op.form(&[x.value().form(), index.form()]).unwrap_or_else(|error| panic!("{name}: {error}"));
    apply(Rc::new(op), &[x, &Var::constant(index.clone())])
}

/// Rows of `x` [rows, columns] by index. A row of an index that is not below `rows` is NaN.
#[track_caller]
pub fn take_rows(x: &Var, index: &Tensor) -> Var {
    indexed(Kind::TakeRows, 0, x, index)
}

/// Adds row i of `x` to row `index[i]` of zeros [rows, columns]. A row whose index is not below `rows` is left out.
#[track_caller]
pub fn add_rows(x: &Var, index: &Tensor, rows: usize) -> Var {
    indexed(Kind::AddRows, rows, x, index)
}

/// One element of each row of `x` [rows, columns]. It is NaN where an index is not below `columns`.
#[track_caller]
pub fn pick(x: &Var, index: &Tensor) -> Var {
    indexed(Kind::Pick, 0, x, index)
}

/// Puts `x` [rows] into zeros [rows, columns], element r at column `index[r]`. An element whose index is not below `columns` is left out.
#[track_caller]
pub fn place(x: &Var, index: &Tensor, columns: usize) -> Var {
    indexed(Kind::Place, columns, x, index)
}
