//! The ops with ⊥ that a model file can hold. An op that makes ⊥ has a mask as a second result, which is a node of its own.

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
