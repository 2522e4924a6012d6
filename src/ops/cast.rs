//! Changes of type. Halves are only storage: gradients pass through unrounded, in f32.

use std::rc::Rc;

use super::record::OpRecord;
use crate::autograd::{Backward, Op, Var, apply};
use crate::error::{Error, Result};
use crate::json::Json;
use crate::kernels::cast::{Conversion, dispatch};
use crate::program::onnx::{Setting, element};
use crate::tensor::{DType, Form, Tensor};

struct Cast(DType);

pub(super) static CAST: OpRecord = OpRecord {
    name: "cast",
    inputs: (1, 1),
    read: |attributes, _| Ok(Rc::new(Cast(to(attributes)?))),
    onnx: |attributes, graph, inputs, _| {
        // Saturated, as the kernel does; of an index beyond 32 bits only that it is far outside matters.
        let mut within = |x: &String, least: f32, most: f32| {
            let [least, most] = [least, most].map(|limit| graph.number(limit));
            let above = graph.op("Max", &[x, &least]);
            graph.op("Min", &[&above, &most])
        };
        let (value, code) = match to(attributes)? {
            DType::F32 => (inputs[0].clone(), element::FLOAT),
            DType::F16 => (within(&inputs[0], -65504.0, 65504.0), element::HALF),
            DType::U32 => (within(&inputs[0], 0.0, 4_294_967_040.0), element::INT),
        };
        Ok(graph.node("Cast", &[&value], &[Setting::Int("to", code)]))
    },
    text: None,
};

/// The types by their names in files.
const NAMES: [(&str, DType); 3] = [("f32", DType::F32), ("u32", DType::U32), ("f16", DType::F16)];

fn to(attributes: &Json) -> Result<DType> {
    let json = attributes.field("to")?;
    let found = NAMES.iter().find(|(name, _)| json.text() == Some(name));
    found.map(|(_, dtype)| *dtype).ok_or_else(|| json.unlike("one of f32, u32, f16"))
}

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

    fn form(&self, inputs: &[Form]) -> Result<Form> {
        let (from, to) = (inputs[0].dtype, self.0);
        form(from, to).ok_or_else(|| Error::new(format!("not supported from {from:?} to {to:?}")))?;
        Ok(Form { shape: inputs[0].shape.clone(), dtype: to })
    }

    fn attributes(&self) -> Result<Json> {
        let name = NAMES.iter().find(|(_, dtype)| *dtype == self.0).map_or("f32", |(name, _)| name);
        Ok(Json::fields([("to", Json::Text(name.into()))]))
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
