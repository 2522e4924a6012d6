//! Tracing: a list of the ops that a function applies, from which it can be written down as data.

use std::cell::RefCell;
use std::rc::Rc;

use super::{Backward, History, Node, Op, Var};
use crate::error::Result;
use crate::json::Json;
use crate::tensor::{Form, Tensor};

/// One op of a trace.
#[derive(Clone)]
pub struct Traced {
    /// The op.
    pub op: Rc<dyn Op>,
    /// Its inputs.
    pub inputs: Vec<Var>,
    /// Its value.
    pub output: Var,
    /// The part of a model that it is in; empty if nobody said.
    pub part: Rc<str>,
}

/// A function inside an op, such as the body of a loop: what it applies to arguments of certain forms. It may use values from outside.
pub struct Body {
    /// Its arguments.
    pub arguments: Vec<Var>,
    /// The ops that it applies, in order.
    pub ops: Vec<Traced>,
    /// What it returns.
    pub outputs: Vec<Var>,
    /// Whether the op can be stored without it.
    pub is_optional: bool,
}

impl Body {
    /// Calls a function of arguments like these and lists what it applies. Nothing of it is part of the trace around it.
    pub fn of(like: &[&Var], function: impl FnOnce(&[Var]) -> Result<Vec<Var>>) -> Result<Self> {
        let leaf = |like: &&Var| {
            let Form { shape, dtype } = like.value.form();
            Var::leaf(Tensor::empty(like.value.device(), shape, dtype))
        };
        let arguments: Vec<Var> = like.iter().map(leaf).collect();
        let (outputs, ops) = trace(|| function(&arguments));
        Ok(Self { arguments, ops, outputs: outputs?, is_optional: false })
    }
}

/// Adds an op with functions inside to the trace that is on: its value, of this form, is not computed.
pub fn note(op: Rc<dyn Op>, inputs: &[&Var], form: &Form) -> Var {
    let device = inputs[0].value.device();
    let label = device.label().of_op(op.name());
    let part = label.layer.clone();
    let inputs: Vec<Var> = inputs.iter().map(|&input| input.clone()).collect();
    let value = Tensor::empty(device, &form.shape, form.dtype);
    let node = Node::new(History::Op(op.clone(), Rc::new(inputs.clone())), value.clone(), label);
    let output = Var { node: Some(node), value };
    add(Traced { op, inputs, output: output.clone(), part });
    output
}

thread_local! {
    static TRACE: RefCell<Option<Vec<Traced>>> = const { RefCell::new(None) };
}

/// The result of `function`, and the ops that it applied, in order: also those on constants, and where gradients end.
pub fn trace<T>(function: impl FnOnce() -> T) -> (T, Vec<Traced>) {
    /// Ends the trace, even if a panic does.
    struct Ended(Option<Vec<Traced>>);
    impl Drop for Ended {
        fn drop(&mut self) {
            TRACE.replace(self.0.take());
        }
    }
    let ended = Ended(TRACE.replace(Some(Vec::new())));
    let result = function();
    let ops = TRACE.take().unwrap_or_default();
    drop(ended);
    (result, ops)
}

/// Whether a trace is on.
pub fn is_tracing() -> bool {
    TRACE.with_borrow(Option::is_some)
}

pub(super) fn add(traced: Traced) {
    TRACE.with_borrow_mut(|trace| trace.as_mut().expect("a trace is on").push(traced));
}

/// The same value, through which no gradient flows. Outside a trace the result has no history.
pub struct Detach;

impl Op for Detach {
    fn name(&self) -> &'static str {
        "detach"
    }

    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        inputs[0].clone()
    }

    fn form(&self, inputs: &[Form]) -> Result<Form> {
        Ok(inputs[0].clone())
    }

    fn attributes(&self) -> Result<Json> {
        Ok(Json::fields([]))
    }

    fn is_barrier(&self) -> bool {
        true
    }

    fn backward(&self, _step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        Ok(vec![None])
    }
}

/// The second result of an op, given its value: a step of a list of ops only.
pub struct Second;

impl Second {
    /// Its name.
    pub const NAME: &str = "second";
}

impl Op for Second {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn forward(&self, _inputs: &[&Tensor]) -> Tensor {
        unreachable!("a second result is there already")
    }

    fn attributes(&self) -> Result<Json> {
        Ok(Json::fields([]))
    }
}
