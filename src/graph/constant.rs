//! Constants of a graph: numbers or indices that its function brought along.

use crate::device::Device;
use crate::error::{Error, Result};
use crate::json::{Json, Record};
use crate::tensor::{DType, Form, Tensor};

/// Most elements of a constant; more belong into a parameter.
const MOST: usize = 1 << 20;

/// A constant tensor of finite floats or of indices.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its elements.
    pub values: Values,
}

/// The elements of a constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Floats.
    F32(Vec<f32>),
    /// Indices.
    U32(Vec<u32>),
}

impl Constant {
    /// From the words of a tensor. Errors if they are neither finite floats nor indices, or too many.
    pub(super) fn of(form: &Form, words: &[u32]) -> Result<Self> {
        let values = match form.dtype {
            DType::F32 => Values::F32(bytemuck::pod_collect_to_vec(words)),
            DType::U32 => Values::U32(words.to_vec()),
            DType::F16 => return Err(Error::new("a constant is F16, expected F32 or U32")),
        };
        let constant = Self { shape: form.sizes().to_vec(), values };
        constant.check()?;
        Ok(constant)
    }

    fn len(&self) -> usize {
        match &self.values {
            Values::F32(values) => values.len(),
            Values::U32(values) => values.len(),
        }
    }

    /// Errors if it makes no sense.
    pub(super) fn check(&self) -> Result<()> {
        let (form, got) = (Form::checked(&self.shape)?, self.len());
        if got > MOST {
            return Err(Error::new(format!(
                "a constant of shape {} has {got} values, expected at most {MOST}: pass it as a parameter",
                form.shape
            )));
        }
        if form.shape.len() != got {
            return Err(Error::new(format!("a constant of shape {} has {got} values", form.shape)));
        }
        match &self.values {
            Values::F32(values) if values.iter().any(|value| !value.is_finite()) => {
                Err(Error::new("a constant holds a number that is not finite, which a model file cannot hold"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn form(&self) -> Form {
        let dtype = if matches!(self.values, Values::F32(_)) { DType::F32 } else { DType::U32 };
        Form { shape: self.shape.clone().into(), dtype }
    }

    /// On a device.
    pub(super) fn tensor(&self, device: &Device) -> Tensor {
        match &self.values {
            Values::F32(values) => Tensor::constant(device, self.shape.clone(), values),
            Values::U32(values) => Tensor::indices(device, self.shape.clone(), values),
        }
    }

    /// The constant of one row, if it is the same for each of `rows` rows along the first axis.
    pub(super) fn of_one_row(&self, rows: usize) -> Option<Self> {
        let Values::F32(values) = &self.values else { return None };
        if self.shape.first() != Some(&rows) || rows == 0 {
            return None;
        }
        let width = values.len() / rows;
        let (first, shape) = (&values[..width], [&[1], &self.shape[1..]].concat());
        let bits = |row: &[f32]| row.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        let is_same = width == 0 || values.chunks(width).all(|row| bits(row) == bits(first));
        is_same.then(|| Self { shape, values: Values::F32(first.to_vec()) })
    }
}

impl Record for Constant {
    fn blank() -> Self {
        Self { shape: Vec::new(), values: Values::F32(Vec::new()) }
    }

    fn to_json(&self) -> Json {
        let (name, values) = match &self.values {
            Values::F32(values) => ("f32", values.to_json()),
            Values::U32(values) => ("u32", values.to_json()),
        };
        Json::fields([("shape", self.shape.to_json()), (name, values)])
    }

    fn read(&mut self, json: &Json) -> Result<()> {
        self.shape = Vec::from_json(json.field("shape")?).map_err(|error| error.within("shape"))?;
        self.values = match json.get("u32") {
            Some(values) => Values::U32(Vec::from_json(values)?),
            None => Values::F32(Vec::from_json(json.field("f32")?)?),
        };
        Ok(())
    }
}
