//! Bits of planes as numbers.

use std::rc::Rc;

use crate::autograd::{Op, Var, apply};
use crate::device::View;
use crate::error::{Error, Result};
use crate::json::{Json, Record};
use crate::kernels::cast::{Conversion, dispatch};
use crate::kernels::masked::plane_words;
use crate::ops::{OpRecord, attribute, no_bottom};
use crate::tensor::{DType, Form, Shape, Tensor};

/// 1 for each bit of a plane that is set, else 0.
struct Marks {
    /// Whether the bits of faults are meant, instead of those of ⊥.
    are_faults: bool,
    shape: Shape,
}

pub(super) static MARKS: OpRecord = OpRecord {
    name: "marks",
    inputs: (1, 1),
    read: |attributes, _| {
        let shape = Form::checked(&attribute::<Vec<usize>>(attributes, "shape")?)?.shape;
        Ok(Rc::new(Marks { are_faults: attribute(attributes, "faults")?, shape }))
    },
    onnx: no_bottom,
    text: None,
};

impl Marks {
    /// The words of the plane among those of all planes.
    fn words(&self) -> (usize, usize) {
        let count = self.shape.len();
        (if self.are_faults { plane_words(count) } else { 0 }, count.div_ceil(32))
    }
}

impl Op for Marks {
    fn name(&self) -> &'static str {
        "marks"
    }

    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        let out = Tensor::empty(inputs[0].device(), &self.shape, DType::F32);
        let ((from, words), View { buffer, offset, .. }) = (self.words(), inputs[0].view().clone());
        let plane = View { buffer, offset: offset + from, words };
        out.launch(dispatch(Conversion::BitToFloat, out.len() as u32, plane, out.view().clone()));
        out
    }

    fn form(&self, inputs: &[Form]) -> Result<Form> {
        let ((from, words), got) = (self.words(), &inputs[0]);
        if got.dtype != DType::U32 || got.shape.rank() != 1 || got.shape.len() < from + words {
            let shape = &self.shape;
            return Err(Error::new(format!("got {}, expected the words of a mask for {shape}", got.shape)));
        }
        Ok(Form::floats(&self.shape))
    }

    fn attributes(&self) -> Result<Json> {
        Ok(Json::fields([("faults", self.are_faults.to_json()), ("shape", self.shape.sizes().to_vec().to_json())]))
    }

    fn is_barrier(&self) -> bool {
        true
    }
}

/// The bits of ⊥, or those of faults, among planes of numbers of this shape, as 1 and 0.
pub(super) fn marks(planes: &Tensor, are_faults: bool, shape: &Shape) -> Var {
    apply(Rc::new(Marks { are_faults, shape: shape.clone() }), &[&Var::constant(planes.clone())])
}
