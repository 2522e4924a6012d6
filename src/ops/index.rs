//! Ops that take elements by index, and their transposes. Indices are `U32` tensors and carry no gradient.
//!
//! Shapes are checked where an op is recorded; indices are known to the device only. One that is out of range takes NaN (`take_rows`, `pick`), and
//! what would go to its place is left out (`add_rows`, `place`): the same on every device.

use std::rc::Rc;

use crate::autograd::{Backward, Op, Var, apply, one_device};
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

/// Panics if a shape, the type or the number of indices does not fit. `rank` is that of `x`, `each` says whether there is one index for each of its rows.
#[track_caller]
fn indexed(op: Index, x: &Var, rank: usize, each: bool) -> Var {
    let (name, index) = (op.name(), op.index.clone());
    let expected = if rank == 2 { "a matrix" } else { "a vector" };
    assert!(x.shape().rank() == rank, "{name}: got {}, expected {expected}", x.shape());
    assert!(index.dtype() == DType::U32, "{name}: got indices of {:?}, expected U32", index.dtype());
    let rows = x.shape().sizes()[0];
    assert!(
        !each || index.len() == rows,
        "{name}: got {} indices for {rows} rows, expected one for each row",
        index.len()
    );
    one_device(name, &[x.value(), &index]);
    apply(Rc::new(op), &[x])
}

/// Rows of `x` [rows, columns] by index. A row of an index that is not below `rows` is NaN.
#[track_caller]
pub fn take_rows(x: &Var, index: &Tensor) -> Var {
    indexed(Index { kind: Kind::TakeRows, index: index.clone(), shape: x.shape().clone() }, x, 2, false)
}

/// Adds row i of `x` to row `index[i]` of zeros [rows, columns]. A row whose index is not below `rows` is left out.
#[track_caller]
pub fn add_rows(x: &Var, index: &Tensor, rows: usize) -> Var {
    let columns = x.shape().sizes().get(1).copied().unwrap_or_default();
    indexed(Index { kind: Kind::AddRows, index: index.clone(), shape: [rows, columns].into() }, x, 2, true)
}

/// One element of each row of `x` [rows, columns]. It is NaN where an index is not below `columns`.
#[track_caller]
pub fn pick(x: &Var, index: &Tensor) -> Var {
    indexed(Index { kind: Kind::Pick, index: index.clone(), shape: x.shape().clone() }, x, 2, true)
}

/// Puts `x` [rows] into zeros [rows, columns], element r at column `index[r]`. An element whose index is not below `columns` is left out.
#[track_caller]
pub fn place(x: &Var, index: &Tensor, columns: usize) -> Var {
    indexed(Index { kind: Kind::Place, index: index.clone(), shape: [x.shape().len(), columns].into() }, x, 1, true)
}
