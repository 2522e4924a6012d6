//! Numbers of every type of an HDF5 file as `f64`, for the crate `hdf5-reader`.

use hdf5_reader::error::Error;
use hdf5_reader::{Datatype, H5Type};

/// A number that was read.
#[derive(Clone, Copy)]
pub(crate) struct Number(pub f64);

/// Whether numbers of a type are read.
pub(crate) fn is_number(dtype: &Datatype) -> bool {
    match dtype {
        Datatype::FixedPoint { size, .. } => matches!(size, 1 | 2 | 4 | 8),
        Datatype::FloatingPoint { size, .. } => matches!(size, 4 | 8),
        Datatype::Enum { base, .. } => matches!(**base, Datatype::FixedPoint { .. }) && is_number(base),
        _ => false,
    }
}

/// Calls a function of [`H5Type`] of the Rust type that a type of a file is.
macro_rules! by_type {
    (@ $rust:ident, $type:ident => $value:expr) => {{
        type $type = $rust;
        Some($value)
    }};
    ($dtype:expr, $type:ident => $value:expr) => {
        match $dtype {
            Datatype::FloatingPoint { size: 4, .. } => by_type!(@ f32, $type => $value),
            Datatype::FloatingPoint { size: 8, .. } => by_type!(@ f64, $type => $value),
            Datatype::FixedPoint { size: 1, signed: true, .. } => by_type!(@ i8, $type => $value),
            Datatype::FixedPoint { size: 2, signed: true, .. } => by_type!(@ i16, $type => $value),
            Datatype::FixedPoint { size: 4, signed: true, .. } => by_type!(@ i32, $type => $value),
            Datatype::FixedPoint { size: 8, signed: true, .. } => by_type!(@ i64, $type => $value),
            Datatype::FixedPoint { size: 1, signed: false, .. } => by_type!(@ u8, $type => $value),
            Datatype::FixedPoint { size: 2, signed: false, .. } => by_type!(@ u16, $type => $value),
            Datatype::FixedPoint { size: 4, signed: false, .. } => by_type!(@ u32, $type => $value),
            Datatype::FixedPoint { size: 8, signed: false, .. } => by_type!(@ u64, $type => $value),
            _ => None,
        }
    };
}

#[expect(clippy::unnecessary_cast, reason = "one of the types is f64")]
impl H5Type for Number {
    fn hdf5_type() -> Datatype {
        f64::hdf5_type()
    }

    fn from_bytes(bytes: &[u8], dtype: &Datatype) -> Result<Self, Error> {
        let dtype = plain(dtype);
        let number = by_type!(dtype, T => T::from_bytes(bytes, dtype).map(|x| Self(x as f64)));
        number.unwrap_or_else(|| Err(Error::Other(format!("{dtype:?} is no number"))))
    }

    fn element_size(dtype: &Datatype) -> usize {
        let dtype = plain(dtype);
        by_type!(dtype, T => size_of::<T>()).unwrap_or(0)
    }

    fn decode_vec(raw: &[u8], dtype: &Datatype, count: usize) -> Option<Result<Vec<Self>, Error>> {
        let dtype = plain(dtype);
        by_type!(dtype, T => {
            let numbers = T::decode_vec(raw, dtype, count)?;
            numbers.map(|all| all.into_iter().map(|x| Self(x as f64)).collect())
        })
    }
}

/// The type of the numbers; that of an enumeration, such as numpy's booleans, is its base.
fn plain(dtype: &Datatype) -> &Datatype {
    match dtype {
        Datatype::Enum { base, .. } => base,
        _ => dtype,
    }
}
