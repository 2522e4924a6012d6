//! Reverse mode: records which op made a value and walks backwards. It knows no particular op; gradients are themselves
//! made of recorded ops, so a second `grad` works like the first.

use std::cell::Cell;
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::tensor::{Shape, Tensor};

/// A tensor and how it came about, if a gradient may be asked of it.
#[derive(Clone)]
pub struct Var {
    value: Tensor,
    node: Option<Rc<Node>>,
}

/// One recorded op.
struct Node {
    number: u64,
    made: Option<(Rc<dyn Op>, Vec<Var>)>,
    value: Tensor,
}

/// A differentiable operation: its value from tensors, its gradient from ops.
pub trait Op {
    /// Its name, for messages.
    fn name(&self) -> &'static str;

    /// The value.
    fn forward(&self, inputs: &[&Tensor]) -> Tensor;

    /// The gradient with respect to each input that wants one, in the inputs' own shapes.
    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        let _ = step;
        Err(Error::new(format!("grad: {} has no gradient", self.name())))
    }
}

/// What an op sees on the way back.
pub struct Backward<'a> {
    /// Its inputs.
    pub inputs: &'a [Var],
    /// Its output.
    pub output: &'a Var,
    /// The gradient of the scalar with respect to its output.
    pub gradient: &'a Var,
}

impl Backward<'_> {
    /// Whether anybody asked for the gradient of input `at`.
    pub fn wants(&self, at: usize) -> bool {
        self.inputs[at].node.is_some()
    }
}

thread_local! {
    static NEXT: Cell<u64> = const { Cell::new(0) };
}

impl Var {
    /// A value whose gradient may be asked for.
    pub fn leaf(value: Tensor) -> Self {
        Self { node: Some(Rc::new(Node { number: next(), made: None, value: value.clone() })), value }
    }

    /// A value that gradients do not flow into.
    pub fn constant(value: Tensor) -> Self {
        Self { value, node: None }
    }

    /// The tensor.
    pub fn value(&self) -> &Tensor {
        &self.value
    }

    /// Its shape.
    pub fn shape(&self) -> &Shape {
        self.value.shape()
    }

    /// The same value with its history forgotten.
    pub fn detach(&self) -> Self {
        Self::constant(self.value.clone())
    }
}

/// Applies an op, remembering it if any input is tracked.
#[track_caller]
pub fn apply(op: Rc<dyn Op>, inputs: &[&Var]) -> Var {
    let tensors: Vec<&Tensor> = inputs.iter().map(|input| &input.value).collect();
    let value = op.forward(&tensors);
    if inputs.iter().all(|input| input.node.is_none()) {
        return Var::constant(value);
    }
    let made = Some((op, inputs.iter().map(|&input| input.clone()).collect()));
    Var { node: Some(Rc::new(Node { number: next(), made, value: value.clone() })), value }
}

/// Gradients of Σ seed · output with respect to each of `wanted`; `None` where no path leads there.
/// `add` joins gradients that meet: this room names no op, `ops::grad` passes its own.
pub fn grad(output: &Var, wanted: &[&Var], seed: Var, add: fn(&Var, &Var) -> Var) -> Result<Vec<Option<Var>>> {
    assert_eq!(seed.shape(), output.shape(), "grad: the seed must have the output's shape");
    let Some(root) = &output.node else { return Ok(vec![None; wanted.len()]) };
    // A node's number is larger than those of all its inputs, so the largest waiting one has its whole gradient.
    let mut waiting: Vec<(Rc<Node>, Var)> = vec![(root.clone(), seed)];
    let mut found = vec![None; wanted.len()];
    while let Some((node, gradient)) = waiting.pop() {
        for (found, wanted) in found.iter_mut().zip(wanted) {
            if wanted.node.as_ref().is_some_and(|wanted| wanted.number == node.number) {
                *found = Some(gradient.clone());
            }
        }
        let Some((op, inputs)) = &node.made else { continue };
        let output = Var { value: node.value.clone(), node: Some(node.clone()) };
        let gradients = op.backward(&Backward { inputs, output: &output, gradient: &gradient })?;
        assert_eq!(gradients.len(), inputs.len(), "{}: one gradient per input", op.name());
        for (input, gradient) in inputs.iter().zip(gradients) {
            let (Some(node), Some(gradient)) = (&input.node, gradient) else { continue };
            assert_eq!(gradient.shape(), input.shape(), "{}: a gradient has its input's shape", op.name());
            match waiting.binary_search_by_key(&node.number, |(node, _)| node.number) {
                Ok(at) => waiting[at].1 = add(&waiting[at].1, &gradient),
                Err(at) => waiting.insert(at, (node.clone(), gradient)),
            }
        }
    }
    Ok(found)
}

fn next() -> u64 {
    NEXT.replace(NEXT.get() + 1)
}
