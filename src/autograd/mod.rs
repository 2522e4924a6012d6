//! Reverse-mode differentiation: records the op that computed each value and traverses them backwards. It depends on no
//! particular op; gradients are recorded ops themselves, so `grad` can be applied to them again.

use std::cell::Cell;
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::tensor::{Shape, Tensor};

/// A tensor and, if it is tracked, the op that computed it.
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

/// A differentiable operation: its value from tensors, its gradient as ops.
pub trait Op {
    /// Its name, for messages.
    fn name(&self) -> &'static str;

    /// The value.
    fn forward(&self, inputs: &[&Tensor]) -> Tensor;

    /// The gradient with respect to each input that needs one, in the input's shape.
    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        let _ = step;
        Err(Error::new(format!("grad: {} has no gradient", self.name())))
    }
}

/// The arguments of an op's backward pass.
pub struct Backward<'a> {
    /// Its inputs.
    pub inputs: &'a [Var],
    /// Its output.
    pub output: &'a Var,
    /// The gradient of the scalar with respect to its output.
    pub gradient: &'a Var,
}

impl Backward<'_> {
    /// Whether the gradient of input `at` is needed.
    pub fn wants(&self, at: usize) -> bool {
        self.inputs[at].node.is_some()
    }
}

thread_local! {
    static NEXT: Cell<u64> = const { Cell::new(0) };
}

impl Var {
    /// A value whose gradient can be computed.
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

    /// Whether a gradient with respect to it, or to what it was computed from, can be asked for.
    pub fn is_tracked(&self) -> bool {
        self.node.is_some()
    }

    /// Its shape.
    pub fn shape(&self) -> &Shape {
        self.value.shape()
    }

    /// The same value without its history, so that no gradient flows back.
    pub fn detach(&self) -> Self {
        Self::constant(self.value.clone())
    }
}

/// Applies an op and records it if any input is tracked.
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

/// Gradients of Σ seed · output with respect to each of `variables`; `None` where no path leads there.
/// `add` sums gradients of a value that is used several times; it is an argument because this module has no ops.
pub fn grad(output: &Var, variables: &[&Var], seed: Var, add: fn(&Var, &Var) -> Var) -> Result<Vec<Option<Var>>> {
    assert_eq!(seed.shape(), output.shape(), "grad: the seed must have the output's shape");
    let Some(root) = &output.node else { return Ok(vec![None; variables.len()]) };
    // A node's number is larger than those of all its inputs, so the gradient of the waiting node with the largest number is complete.
    let mut waiting: Vec<(Rc<Node>, Var)> = vec![(root.clone(), seed)];
    let mut found = vec![None; variables.len()];
    while let Some((node, gradient)) = waiting.pop() {
        for (found, variable) in found.iter_mut().zip(variables) {
            if variable.node.as_ref().is_some_and(|known| known.number == node.number) {
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
