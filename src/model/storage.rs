//! Storage types of the weights of linear layers in a model file; everything else is small and stays f32. Loading converts to f32.
//! f16: rounded to the nearest. int8: row r of W is q[r, c] · s[r] with s[r] = max |W[r, ·]| / 127, so 0 stays 0 and signs stay.

use half::f16;

use crate::error::{Error, Result};
use crate::files::tensors::{Array, Data, Tensors};
use crate::host::number;
use crate::nn::Parameter;
use crate::record;

/// The type of the weights in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Storage {
    /// As trained.
    #[default]
    F32,
    /// Half the bytes.
    F16,
    /// A quarter of the bytes, plus a scale per output.
    Int8,
}

record! { enum Storage { F32, F16, Int8 } }

impl Storage {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Int8 => "int8",
        }
    }

    /// Adds a parameter of so many models, [members, …], to a file. Errors if a weight exceeds the range of the type.
    pub(crate) fn put(
        self,
        content: &mut Tensors,
        parameter: &Parameter,
        members: usize,
        values: &[f32],
    ) -> Result<()> {
        let (name, shape) = (&parameter.name, &shape_of(parameter, members)[..]);
        let data = match self.of(parameter) {
            Self::F32 => Data::F32(values.to_vec()),
            Self::F16 => Data::F16(halves(name, values)?),
            Self::Int8 => {
                let (rows, columns) = shape.split_at(shape.len() - 1);
                let (codes, scales) = codes(values, columns[0]);
                content.put_f32(&scale_of(name), rows, scales);
                Data::I8(codes)
            }
        };
        content.tensors.insert(name.clone(), Array { shape: shape.to_vec(), data });
        Ok(())
    }

    /// Removes a parameter of so many models from a file's content, as f32. Errors if its type or shape differs.
    pub(crate) fn take(self, content: &mut Tensors, parameter: &Parameter, members: usize) -> Result<Vec<f32>> {
        let (name, shape) = (&parameter.name, &shape_of(parameter, members)[..]);
        match self.of(parameter) {
            Self::F32 => content.take_f32(name, shape),
            Self::F16 => Ok(content.take_f16(name, shape)?.into_iter().map(f16::to_f32).collect()),
            Self::Int8 => {
                let codes = content.take_i8(name, shape)?;
                let (rows, columns) = shape.split_at(shape.len() - 1);
                let scales = content.take_f32(&scale_of(name), rows)?;
                let rows = codes.chunks(columns[0].max(1)).zip(scales);
                Ok(rows.flat_map(|(row, scale)| row.iter().map(move |&code| f32::from(code) * scale)).collect())
            }
        }
    }

    /// The storage type of this parameter.
    fn of(self, parameter: &Parameter) -> Self {
        let is_weight = parameter.name.ends_with(".weight") && parameter.shape.rank() == 2;
        if is_weight { self } else { Self::F32 }
    }
}

/// The shape in a file: several models are one more dimension.
fn shape_of(parameter: &Parameter, members: usize) -> Vec<usize> {
    let members = Some(members).filter(|&members| members > 1);
    members.into_iter().chain(parameter.shape.sizes().iter().copied()).collect()
}

fn scale_of(name: &str) -> String {
    format!("{name}.scale")
}

fn halves(name: &str, values: &[f32]) -> Result<Vec<f16>> {
    let half = |&value: &f32| {
        let half = f16::from_f32(value);
        let refused = || {
            let [value, most] = [value, f16::MAX.to_f32()].map(number);
            Error::new(format!("parameter {name} holds {value}; float16 ends at {most}"))
        };
        half.is_finite().then_some(half).ok_or_else(refused)
    };
    values.iter().map(half).collect()
}

/// Codes [rows, columns] and a scale per row.
fn codes(values: &[f32], columns: usize) -> (Vec<i8>, Vec<f32>) {
    let mut codes = Vec::with_capacity(values.len());
    let mut scales = Vec::new();
    for row in values.chunks(columns.max(1)) {
        let largest = row.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        let scale = largest / f32::from(i8::MAX);
        // A row of zeros, or whose scale underflows to 0, has codes of 0.
        let code = |value: &f32| if scale > 0.0 { (value / scale).round() as i8 } else { 0 };
        codes.extend(row.iter().map(code));
        scales.push(scale);
    }
    (codes, scales)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::tensors;
    use crate::nn::Init;

    #[test]
    fn codes_are_symmetric_and_rows_have_their_own_scale() {
        let (codes, scales) = codes(&[1.27, -1.27, 0.0, 0.635, 0.0, 0.0, 0.0, 0.0, 1e-3, -2.54e-2, 0.0, 0.0], 4);
        assert_eq!(codes, [127, -127, 0, 64, 0, 0, 0, 0, 5, -127, 0, 0]);
        assert_eq!(scales, [0.01, 0.0, 2e-4]);
    }

    #[test]
    fn what_is_put_is_taken() {
        let weight = |name: &str| Parameter {
            name: name.into(),
            shape: [2, 2].into(),
            offset: 0,
            init: Init::Linear,
            fan: (2, 2),
            is_statistic: false,
        };
        let values = [1.27, 0.3, -0.01, 0.0];
        for (storage, expected) in [
            (Storage::F32, values),
            (Storage::F16, values.map(|value| f16::from_f32(value).to_f32())),
            (Storage::Int8, [127.0 * 0.01, 30.0 * 0.01, -127.0 * (0.01 / 127.0), 0.0]),
        ] {
            let mut content = Tensors::default();
            storage.put(&mut content, &weight("a.weight"), 1, &values).unwrap();
            storage.put(&mut content, &weight("a.gain"), 1, &values).unwrap();
            let mut read = tensors::read(&tensors::write(&content).unwrap(), "m").unwrap();
            assert_eq!(storage.take(&mut read, &weight("a.weight"), 1).unwrap(), expected, "{storage:?}");
            assert_eq!(storage.take(&mut read, &weight("a.gain"), 1).unwrap(), values, "{storage:?}");
        }
        let mut content = Tensors::default();
        Storage::F32.put(&mut content, &weight("a.weight"), 1, &values).unwrap();
        let said = Storage::Int8.take(&mut content, &weight("a.weight"), 1).unwrap_err().to_string();
        assert_eq!(said, "tensor \"a.weight\" is F32 [2, 2], expected I8 [2, 2]");
    }

    #[test]
    fn what_float16_has_no_number_for_is_refused() {
        assert_eq!(halves("w", &[65504.0, 1e-9]).unwrap().len(), 2);
        assert_eq!(halves("w", &[7e4]).unwrap_err().to_string(), "parameter w holds 70000; float16 ends at 65504");
    }
}
