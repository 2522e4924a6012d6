//! Ops that take elements by index, and their transposes. Indices are `U32` tensors and carry no gradient.

use std::rc::Rc;

use crate::autograd::{Backward, Op, Var, apply};
use crate::error::Result;
use crate::kernels::{gather, scatter};
use crate::tensor::{DType, Shape, Tensor};

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

struct Index {
    kind: Kind,
    index: Tensor,
    /// The shape with rows and columns: of x for `TakeRows` and `Pick`, of the result for their transposes.
    shape: Shape,
}

impl Index {
    fn transposed(&self) -> Self {
        let kind = match self.kind {
            Kind::TakeRows => Kind::AddRows,
            Kind::AddRows => Kind::TakeRows,
            Kind::Pick => Kind::Place,
            Kind::Place => Kind::Pick,
        };
        Self { kind, index: self.index.clone(), shape: self.shape.clone() }
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
        let x = inputs[0];
        let [rows, columns] = [self.shape.sizes()[0], self.shape.sizes()[1]];
        let shape = match self.kind {
            Kind::TakeRows => Shape::from([self.index.len(), columns]),
            Kind::Pick => Shape::from([rows]),
            Kind::AddRows | Kind::Place => self.shape.clone(),
        };
        let out = Tensor::empty(x.device(), shape, DType::F32);
        let launch = match self.kind {
            Kind::TakeRows => gather::take_rows,
            Kind::AddRows => scatter::add_rows,
            Kind::Pick => gather::pick,
            Kind::Place => scatter::place,
        };
        let [values, index, target] = [x, &self.index, &out].map(|tensor| tensor.view().clone());
        out.launch(launch([rows as u32, columns as u32], values, index, target));
        out
    }

    /// Each is linear: its gradient is its transpose.
    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        Ok(vec![Some(apply(Rc::new(self.transposed()), &[step.gradient]))])
    }
}

#[track_caller]
fn indexed(kind: Kind, x: &Var, index: &Tensor, shape: Shape) -> Var {
    assert_eq!(index.dtype(), DType::U32, "indices must be U32");
    assert!(shape.rank() == 2, "take_rows and pick: got {shape}, expected a matrix");
    apply(Rc::new(Index { kind, index: index.clone(), shape }), &[x])
}

/// Rows of `x` [rows, columns] by index; every index is below `rows`.
#[track_caller]
pub fn take_rows(x: &Var, index: &Tensor) -> Var {
    indexed(Kind::TakeRows, x, index, x.shape().clone())
}

/// Adds row i of `x` to row `index[i]` of zeros [rows, columns].
#[track_caller]
pub fn add_rows(x: &Var, index: &Tensor, rows: usize) -> Var {
    let columns = x.shape().sizes()[1];
    indexed(Kind::AddRows, x, index, [rows, columns].into())
}

/// One element of each row of `x` [rows, columns]; every index is below `columns`.
#[track_caller]
pub fn pick(x: &Var, index: &Tensor) -> Var {
    indexed(Kind::Pick, x, index, x.shape().clone())
}

/// Puts `x` [rows] into zeros [rows, columns], element r at column `index[r]`.
#[track_caller]
pub fn place(x: &Var, index: &Tensor, columns: usize) -> Var {
    let rows = x.shape().len();
    indexed(Kind::Place, x, index, [rows, columns].into())
}
