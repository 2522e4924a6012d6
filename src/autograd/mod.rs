//! Reverse-mode differentiation: records the op that computed each value and traverses them backwards. It depends on no
//! particular op; gradients are recorded ops themselves, so `grad` can be applied to them again. What was computed in a capture loses its history
//! when the capture ends: otherwise a plan whose result is tracked would keep every intermediate result.

mod history;
mod trace;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

pub use history::{Applied, applied};
pub use trace::{Body, Detach, Second, Traced, is_tracing, note, trace};

use crate::device::Label;
use crate::error::{Error, Result};
use crate::json::Json;
use crate::tensor::{Form, Shape, Tensor};

/// A tensor and, if it is tracked, the op that computed it.
#[derive(Clone)]
pub struct Var {
    value: Tensor,
    node: Option<Rc<Node>>,
}

/// One recorded op.
struct Node {
    number: u64,
    history: RefCell<History>,
    value: Tensor,
    /// The label of its launches, and of those of its gradient.
    label: Label,
}

/// Where a tracked value comes from.
#[derive(Clone)]
enum History {
    /// It is a leaf.
    Leaf,
    /// An op and its inputs.
    Op(Rc<dyn Op>, Rc<Vec<Var>>),
    /// A capture that has ended.
    Ended,
}

/// A long history is released node by node: a chain of ops that each own the one before would need a stack as deep as the chain is long.
impl Drop for Node {
    fn drop(&mut self) {
        let mut waiting = self.released(History::Leaf);
        while let Some(Var { node, .. }) = waiting.pop() {
            if let Some(last) = node.and_then(|node| Rc::try_unwrap(node).ok()) {
                waiting.extend(last.released(History::Leaf));
            }
        }
    }
}

impl Node {
    fn new(history: History, value: Tensor, label: Label) -> Rc<Self> {
        Rc::new(Self { number: next(), history: RefCell::new(history), value, label })
    }

    /// Replaces its history; the inputs that nothing else holds.
    fn released(&self, history: History) -> Vec<Var> {
        match self.history.replace(history) {
            History::Op(_, inputs) => Rc::try_unwrap(inputs).unwrap_or_default(),
            History::Leaf | History::Ended => Vec::new(),
        }
    }

    fn history(&self) -> History {
        self.history.borrow().clone()
    }
}

/// A differentiable operation: its value from tensors, its gradient as ops.
pub trait Op {
    /// Its name, for messages.
    fn name(&self) -> &'static str;

    /// The value.
    fn forward(&self, inputs: &[&Tensor]) -> Tensor;

    /// The shape and type of the value from those of the inputs. An error says what is wrong with them.
    fn form(&self, inputs: &[Form]) -> Result<Form> {
        let _ = inputs;
        Err(self.unstored())
    }

    /// What its record needs, besides the inputs, to make it again. Errors if it cannot be stored.
    fn attributes(&self) -> Result<Json> {
        Err(self.unstored())
    }

    /// The error of an op that cannot be stored.
    fn unstored(&self) -> Error {
        Error::new(format!("the op \"{}\" cannot be stored in a model", self.name()))
    }

    /// Whether it may have functions inside.
    fn has_bodies(&self) -> bool {
        false
    }

    /// The functions inside it, if it is traced.
    fn bodies(&self) -> &[Body] {
        &[]
    }

    /// The ops that it stands for, applied to `inputs`; `None` if it is an op itself.
    fn composed(&self, inputs: &[&Var]) -> Option<Result<Var>> {
        let _ = inputs;
        None
    }

    /// A second result, which the launch of its value makes as well, once that is recorded. No gradient flows through it.
    fn second(&self) -> Option<Tensor> {
        None
    }

    /// Shape and type of the second result, from those of the inputs.
    fn second_form(&self, inputs: &[Form]) -> Result<Form> {
        let _ = inputs;
        Err(Error::new(format!("the op \"{}\" has no second result", self.name())))
    }

    /// Whether gradients never flow through it.
    fn is_barrier(&self) -> bool {
        false
    }

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
    dependent: &'a Dependent,
}

impl Backward<'_> {
    /// Whether the gradient of input `at` is needed.
    pub fn wants(&self, at: usize) -> bool {
        self.dependent.contains(&self.inputs[at])
    }
}

thread_local! {
    static NEXT: Cell<u64> = const { Cell::new(0) };
}

impl Var {
    /// A value whose gradient can be computed.
    pub fn leaf(value: Tensor) -> Self {
        Self { node: Some(Node::new(History::Leaf, value.clone(), Label::default())), value }
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

    /// The same value, of which gradients can be asked for: itself if it is tracked, or a value whose gradient can be computed. A function of a model that
    /// takes derivatives by its inputs tracks them first, as predictions come without.
    #[must_use]
    pub fn tracked(&self) -> Self {
        if self.is_tracked() { self.clone() } else { Self::leaf(self.value.clone()) }
    }

    /// Its shape.
    pub fn shape(&self) -> &Shape {
        self.value.shape()
    }

    /// The same value without its history, so that no gradient flows back.
    pub fn detach(&self) -> Self {
        if is_tracing() { apply(Rc::new(Detach), &[self]) } else { Self::constant(self.value.clone()) }
    }

    /// What identifies a tracked value.
    pub fn id(&self) -> Option<u64> {
        self.node.as_ref().map(|node| node.number)
    }
}

/// Panics unless the tensors that an op reads are all on one device.
#[track_caller]
pub fn one_device(name: &str, tensors: &[&Tensor]) {
    let Some((first, others)) = tensors.split_first() else { return };
    let own = first.device();
    if let Some(other) = others.iter().map(|tensor| tensor.device()).find(|other| !other.is(own)) {
        let other = if other.title() == own.title() { "another " } else { "" }.to_owned() + other.title();
        panic!("{name}: got tensors of two devices, {} and {other}: expected tensors of one device", own.title());
    }
}

/// Applies an op and records it if any input is tracked.
///
/// Panics if the inputs are on several devices.
#[track_caller]
pub fn apply(op: Rc<dyn Op>, inputs: &[&Var]) -> Var {
    let tensors: Vec<&Tensor> = inputs.iter().map(|input| &input.value).collect();
    one_device(op.name(), &tensors);
    let (value, label) = match inputs.first().map(|input| input.value.device()) {
        Some(device) => {
            let label = device.label().of_op(op.name());
            (device.labelled(label.clone(), || op.forward(&tensors)), label)
        }
        None => (op.forward(&tensors), Label::default()),
    };
    let is_traced = is_tracing();
    if !is_traced && (op.is_barrier() || inputs.iter().all(|input| input.node.is_none())) {
        return Var::constant(value);
    }
    let history = History::Op(op.clone(), Rc::new(inputs.iter().map(|&input| input.clone()).collect()));
    let part = label.layer.clone();
    let node = Node::new(history, value.clone(), label);
    if is_traced {
        let output = Var { node: Some(node.clone()), value: value.clone() };
        trace::add(Traced { op, inputs: inputs.iter().map(|&input| input.clone()).collect(), output, part });
    }
    let recorded = Rc::downgrade(&node);
    value.device().at_end_of_capture(move || {
        if let Some(node) = recorded.upgrade() {
            drop(node.released(History::Ended));
        }
    });
    Var { node: Some(node), value }
}

/// Gradients of the sum of seed · output over `outputs` with their seeds, with respect to each of `variables`; `None` where no path leads
/// there. Only ops that depend on a variable are traversed. `add` sums gradients of a value that is used several times; it is an argument
/// because this module has no ops.
#[track_caller]
pub fn grad(outputs: &[(&Var, &Var)], variables: &[&Var], add: fn(&Var, &Var) -> Var) -> Result<Vec<Option<Var>>> {
    let dependent = Dependent::on(variables, outputs.iter().map(|(output, _)| *output))?;
    // A node's number is larger than those of all its inputs, so the gradient of the waiting node with the largest number is complete.
    let mut waiting: Vec<(Rc<Node>, Var)> = Vec::new();
    let join = |waiting: &mut Vec<(Rc<Node>, Var)>, to: &Var, gradient: Var| {
        let Some(node) = to.node.as_ref().filter(|_| dependent.contains(to)) else { return };
        match waiting.binary_search_by_key(&node.number, |(node, _)| node.number) {
            Ok(at) => {
                let label = node.label.of_gradient();
                waiting[at].1 = node.value.device().labelled(label, || add(&waiting[at].1, &gradient));
            }
            Err(at) => waiting.insert(at, (node.clone(), gradient)),
        }
    };
    for (output, seed) in outputs {
        assert_eq!(seed.shape(), output.shape(), "grad: the seed must have the output's shape");
        join(&mut waiting, output, (*seed).clone());
    }
    let mut found = vec![None; variables.len()];
    while let Some((node, gradient)) = waiting.pop() {
        for (found, variable) in found.iter_mut().zip(variables) {
            if variable.node.as_ref().is_some_and(|known| known.number == node.number) {
                *found = Some(gradient.clone());
            }
        }
        let History::Op(op, inputs) = node.history() else { continue };
        // A variable that is itself the result of ops may depend on no other one.
        if !inputs.iter().any(|input| dependent.contains(input)) {
            continue;
        }
        let output = Var { value: node.value.clone(), node: Some(node.clone()) };
        let step = Backward { inputs: &inputs, output: &output, gradient: &gradient, dependent: &dependent };
        // The launches of a gradient carry the label of the op that it belongs to.
        let gradients = node.value.device().labelled(node.label.of_gradient(), || op.backward(&step))?;
        assert_eq!(gradients.len(), inputs.len(), "{}: one gradient per input", op.name());
        for (input, gradient) in inputs.iter().zip(gradients) {
            let Some(gradient) = gradient else { continue };
            assert_eq!(gradient.shape(), input.shape(), "{}: a gradient has its input's shape", op.name());
            join(&mut waiting, input, gradient);
        }
    }
    Ok(found)
}

/// The numbers, in order, of the nodes that are a variable or depend on one.
struct Dependent(Vec<u64>);

impl Dependent {
    /// Those among the nodes that `outputs` were computed from. Errors if one of them may depend on a variable but has lost its history.
    fn on<'a>(variables: &[&Var], outputs: impl Iterator<Item = &'a Var>) -> Result<Self> {
        let numbers = variables.iter().filter_map(|variable| variable.node.as_ref().map(|node| node.number));
        let mut variables: Vec<u64> = numbers.collect();
        variables.sort_unstable();
        // A node older than every variable depends on none.
        let oldest = variables.first().copied().unwrap_or(u64::MAX);
        let is_variable = |node: &Node| variables.binary_search(&node.number).is_ok();
        let join = |waiting: &mut Vec<Rc<Node>>, var: &Var| {
            let Some(node) = var.node.as_ref().filter(|node| node.number >= oldest) else { return };
            if let Err(at) = waiting.binary_search_by_key(&node.number, |node| node.number) {
                waiting.insert(at, node.clone());
            }
        };
        let mut waiting = Vec::new();
        outputs.for_each(|output| join(&mut waiting, output));
        let mut nodes = Vec::new();
        while let Some(node) = waiting.pop() {
            match node.history() {
                History::Op(_, inputs) => inputs.iter().for_each(|input| join(&mut waiting, input)),
                History::Ended if !is_variable(&node) => {
                    return Err(Error::usage(
                        "grad: a value was computed in a capture that has ended: expected gradients to be taken inside the capture, or the value detached".to_owned(),
                    ));
                }
                History::Leaf | History::Ended => {}
            }
            nodes.push(node);
        }
        let mut dependent = Self(Vec::new());
        for node in nodes.iter().rev() {
            let is_dependent = match node.history() {
                History::Op(_, inputs) => inputs.iter().any(|input| dependent.contains(input)),
                History::Leaf | History::Ended => false,
            };
            if is_variable(node) || is_dependent {
                dependent.0.push(node.number);
            }
        }
        Ok(dependent)
    }

    fn contains(&self, var: &Var) -> bool {
        var.node.as_ref().is_some_and(|node| self.0.binary_search(&node.number).is_ok())
    }
}

fn next() -> u64 {
    NEXT.replace(NEXT.get() + 1)
}
