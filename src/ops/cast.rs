//! Changes of type. Halves are only storage: gradients pass through unrounded, in f32.

use std::rc::Rc;

use crate::autograd::{Backward, Op, Var, apply};
use crate::error::{Error, Result};
use crate::kernels::cast::{Conversion, dispatch};
use crate::tensor::{DType, Tensor};

struct Cast(DType);

/// The kernel's conversion for a change of type, if there is one.
fn form(from: DType, to: DType) -> Option<Conversion> {
    match (from, to) {
        (DType::F32, DType::U32) => Some(Conversion::FloatToWord),
        (DType::U32, DType::F32) => Some(Conversion::WordToFloat),
        (DType::F32, DType::F16) => Some(Conversion::FloatToHalf),
        (DType::F16, DType::F32) => Some(Conversion::HalfToFloat),
        _ => None,
    }
}

impl Op for Cast {
    fn name(&self) -> &'static str {
        "cast"
    }

    #[track_caller]
    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        let x = inputs[0];
        let form = form(x.dtype(), self.0)
            .unwrap_or_else(|| panic!("cast: not supported from {:?} to {:?}", x.dtype(), self.0));
        let out = Tensor::empty(x.device(), x.shape(), self.0);
        out.launch(dispatch(form, x.len() as u32, x.view().clone(), out.view().clone()));
        out
    }

    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        if self.0 == DType::U32 || step.inputs[0].value().dtype() == DType::U32 {
            return Err(Error::new("grad: a cast to or from integers has no gradient"));
        }
        Ok(vec![Some(step.gradient.clone())])
    }
}

/// `x` as another type: f32 to u32 truncates and saturates, f32 to f16 rounds to nearest and saturates.
#[track_caller]
pub fn cast(x: &Var, to: DType) -> Var {
    if x.value().dtype() == to { x.clone() } else { apply(Rc::new(Cast(to)), &[x]) }
}
