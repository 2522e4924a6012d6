//! Loops: a function that is applied again and again to what it returned. A file holds the function once; recording a loop records each of its steps, so
//! that gradients of any order flow through them.

use std::rc::Rc;

use super::record::{Inner, OpRecord, attribute};
use super::{reshape, slice, stack};
use crate::autograd::{Backward, Body, Op, Var, is_tracing, note};
use crate::error::{Error, Result};
use crate::json::{Json, Record};
use crate::program::onnx::Graph;
use crate::tensor::{Form, Tensor};

/// Most steps of a loop.
const MOST_STEPS: usize = 1 << 14;

/// Inputs: the first state, and sequences [steps, …], of which each step takes one element.
struct Loop {
    steps: usize,
    /// Whether the value is every state, [steps, …], or the last one.
    keeps_all: bool,
    traced: Vec<Body>,
    read: Option<Rc<dyn Inner>>,
}

pub(super) static REPEAT: OpRecord = OpRecord {
    name: "repeat",
    inputs: (1, 1),
    read: |attributes, reading| Ok(Rc::new(Loop::read(attributes, reading.body()?, false)?)),
    onnx: unrolled,
    text: None,
};

pub(super) static SCAN: OpRecord = OpRecord {
    name: "scan",
    inputs: (1, usize::MAX),
    read: |attributes, reading| Ok(Rc::new(Loop::read(attributes, reading.body()?, true)?)),
    onnx: unrolled,
    text: None,
};

/// Whoever writes a loop for others writes its steps.
fn unrolled(_: &Json, _: &mut dyn Graph<Name = String>, _: &[String], _: &[Form]) -> Result<String> {
    Err(Error::internal("a loop is written step by step"))
}

impl Loop {
    fn read(attributes: &Json, body: Rc<dyn Inner>, keeps_all: bool) -> Result<Self> {
        let steps: usize = attribute(attributes, "steps")?;
        if !(1..=MOST_STEPS).contains(&steps) {
            return Err(Error::new(format!("got {steps} steps, expected 1 to {MOST_STEPS}")));
        }
        Ok(Self { steps, keeps_all, traced: Vec::new(), read: Some(body) })
    }

    /// Form of the value, for a state and elements of these forms; an error if `after` is not a state like the first.
    fn checked(&self, state: &Form, after: &Form) -> Result<Form> {
        if after != state {
            return Err(Error::new(format!(
                "a step must return a state like the one it takes: got {} of {:?}, expected {} of {:?}",
                after.shape, after.dtype, state.shape, state.dtype
            )));
        }
        if !self.keeps_all {
            return Ok(state.clone());
        }
        state.require(None)?;
        Form::checked(&[&[self.steps], state.sizes()].concat())
    }

    /// The steps one after the other, each of which is `step` of the state and of one element of each sequence.
    fn run(&self, inputs: &[&Var], step: &dyn Fn(&[Var]) -> Result<Var>) -> Result<Var> {
        let (start, sequences) = (inputs[0], &inputs[1..]);
        let (mut state, mut all) = (start.clone(), Vec::new());
        for at in 0..self.steps {
            let elements = sequences.iter().map(|sequence| element(sequence, at));
            state = step(&[state].into_iter().chain(elements).collect::<Vec<_>>())?;
            self.checked(&start.value().form(), &state.value().form())?;
            if self.keeps_all {
                all.push(state.clone());
            }
        }
        Ok(if self.keeps_all { stack(&all.iter().collect::<Vec<_>>()) } else { state })
    }
}

/// Element `at` of a sequence [steps, …].
fn element(sequence: &Var, at: usize) -> Var {
    reshape(&slice(sequence, 0, at..at + 1), sequence.shape().sizes()[1..].to_vec())
}

/// Form of one element of a sequence of so many steps.
fn form_of_element(sequence: &Form, steps: usize) -> Result<Form> {
    sequence.require(None).map_err(|error| error.within("a sequence"))?;
    match sequence.sizes() {
        [first, own @ ..] if *first == steps => Ok(Form::floats(own.to_vec())),
        _ => Err(Error::new(format!("got a sequence {}, expected {steps} along the first axis", sequence.shape))),
    }
}

impl Op for Loop {
    fn name(&self) -> &'static str {
        if self.keeps_all { "scan" } else { "repeat" }
    }

    fn forward(&self, _inputs: &[&Tensor]) -> Tensor {
        unreachable!("a loop is its steps")
    }

    fn form(&self, inputs: &[Form]) -> Result<Form> {
        let body = self.read.as_ref().ok_or_else(|| self.unstored())?;
        let elements = inputs[1..].iter().map(|sequence| form_of_element(sequence, self.steps));
        let arguments = [inputs[0].clone()].into_iter().map(Ok).chain(elements).collect::<Result<Vec<_>>>()?;
        match &body.forms(&arguments)?[..] {
            [after] => self.checked(&inputs[0], after),
            several => Err(Error::new(format!("a step returns {} values, expected one", several.len()))),
        }
    }

    fn attributes(&self) -> Result<Json> {
        Ok(Json::fields([("steps", self.steps.to_json())]))
    }

    fn has_bodies(&self) -> bool {
        true
    }

    fn bodies(&self) -> &[Body] {
        &self.traced
    }

    fn composed(&self, inputs: &[&Var]) -> Option<Result<Var>> {
        let body = self.read.as_ref()?;
        Some(self.run(inputs, &|arguments| Ok(body.run(arguments)?.swap_remove(0))))
    }

    fn backward(&self, _step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        let name = self.name();
        Err(Error::usage(format!(
            "save: a function takes a gradient through ops::{name}, which no file holds: write its steps as ops"
        )))
    }
}

fn looped(inputs: &[&Var], (steps, keeps_all): (usize, bool), step: &dyn Fn(&[Var]) -> Result<Var>) -> Result<Var> {
    let mut own = Loop { steps, keeps_all, traced: Vec::new(), read: None };
    let name = own.name();
    if !(1..=MOST_STEPS).contains(&steps) {
        return Err(Error::usage(format!("{name}: got {steps} steps, expected 1 to {MOST_STEPS}")));
    }
    let run = || {
        if !is_tracing() {
            return own.run(inputs, step);
        }
        let elements: Vec<Var> = inputs[1..].iter().map(|sequence| element(sequence, 0)).collect();
        let like: Vec<&Var> = [inputs[0]].into_iter().chain(&elements).collect();
        let body = Body::of(&like, |arguments| Ok(vec![step(arguments)?]))?;
        let form = own.checked(&inputs[0].value().form(), &body.outputs[0].value().form())?;
        own.traced.push(body);
        Ok(note(Rc::new(own), inputs, &form))
    };
    run().map_err(|error| error.within(name))
}

/// `step(step(… step(start)))`, so many times: an iteration of a solver, a layer that is applied again. Every state has the shape of the first one, and
/// every step applies the same ops to it: what differs from step to step is a sequence of [`scan`]. A file holds the ops of one step.
///
/// Errors for no steps or more than 16,384, and where `step` does.
///
/// ```
/// # use meromorph::{Device, Result, autograd::Var, ops, tensor::Tensor};
/// # fn main() -> Result<()> {
/// // Newton's iteration for √2: x ← (x + 2 / x) / 2.
/// let start = Var::constant(Tensor::scalar(&Device::cpu(1), 1.0));
/// let root = ops::repeat(5, &start, |x| Ok(ops::fused(&[x], |v| (v[0] + 2.0 / v[0]) / 2.0)))?;
/// assert_eq!(pollster::block_on(root.value().to_f32())?, [2.0_f32.sqrt()]);
/// # Ok(())
/// # }
/// ```
pub fn repeat(steps: usize, start: &Var, step: impl Fn(&Var) -> Result<Var>) -> Result<Var> {
    looped(&[start], (steps, false), &|arguments| step(&arguments[0]))
}

/// Every state of `state ← step(state, elements)`, stacked: [steps, …] for states […]. Each step takes the next element of every sequence, whose first axis
/// is the steps: a recurrent layer over rows in time, [steps, rows, columns].
///
/// Errors for no sequence, sequences of unequal length, more than 16,384 steps, and where `step` does.
///
/// ```
/// # use meromorph::{Device, Result, autograd::Var, ops, tensor::Tensor};
/// # fn main() -> Result<()> {
/// let device = Device::cpu(1);
/// let start = Var::constant(Tensor::from_f32(&device, [1], &[0.0])?);
/// let numbers = Var::constant(Tensor::from_f32(&device, [4, 1], &[1.0, 2.0, 3.0, 4.0])?);
/// let sums = ops::scan(&start, &[&numbers], |sum, element| Ok(ops::add(sum, &element[0])))?;
/// assert_eq!(pollster::block_on(sums.value().to_f32())?, [1.0, 3.0, 6.0, 10.0]);
/// # Ok(())
/// # }
/// ```
pub fn scan(start: &Var, sequences: &[&Var], step: impl Fn(&Var, &[Var]) -> Result<Var>) -> Result<Var> {
    let steps = sequences.first().and_then(|first| first.shape().sizes().first()).copied();
    let steps = steps.ok_or_else(|| Error::usage("scan: got no sequence with a first axis, expected one of steps"))?;
    for sequence in sequences {
        form_of_element(&sequence.value().form(), steps).map_err(|error| error.within("scan"))?;
    }
    let inputs: Vec<&Var> = [start].into_iter().chain(sequences.iter().copied()).collect();
    looped(&inputs, (steps, true), &|arguments| step(&arguments[0], &arguments[1..]))
}
