//! The ops of this room that a model file can hold, and those that make ⊥: a node of two results is followed by one that is the second of them.

use std::rc::Rc;

use super::{layers, marks, total};
use crate::autograd::Second;
use crate::ops::{self, OpRecord, no_bottom};

/// Every op with ⊥ that a model file can hold. To add one: its record, next to the op, and its name here.
pub static RECORDS: &[&OpRecord] =
    &[&total::MASKED, &marks::MARKS, &layers::WITH_GRADIENT_POLICY, &ops::RATIONAL, &SECOND];

static SECOND: OpRecord = OpRecord {
    name: Second::NAME,
    inputs: (1, 1),
    read: |_, _| Ok(Rc::new(Second)),
    onnx: no_bottom,
    text: Some(|_, inputs| Ok(format!("mask({})", inputs[0]))),
};
