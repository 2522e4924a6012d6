//! Checks whether a model fits in memory before anything is allocated: a failed allocation would abort the program.

use crate::error::{Error, Result};
use crate::host::memory_bytes;
use super::data::Data;
use crate::nn::Layout;

/// Bytes per parameter of a run, 32 words: the parameter, its best value, moments and gradients, on the device and during uploads, and
/// the copies that a checkpoint is written from.
const BYTES_EACH: f64 = 128.0;

/// The same per value of the rows: on the host, on the device and during the upload.
const BYTES_OF_VALUE: f64 = 12.0;

/// Errors if a run of a model over these rows needs more memory than there is.
pub(super) fn check(layout: &Layout, data: &Data) -> Result<()> {
    check_within(layout, data, memory_bytes() as f64)
}

fn check_within(layout: &Layout, data: &Data, most: f64) -> Result<()> {
    let (mut count, mut widest) = (0.0, 0);
    for parameter in &layout.parameters {
        // In floating point, which does not overflow for very wide layers.
        let mut values = 1.0;
        for &size in parameter.shape.sizes() {
            values *= size as f64;
            widest = size.max(widest);
        }
        count += values;
    }
    let parts = [&data.train, &data.validation, &data.test];
    let values: usize = parts.iter().map(|part| part.x.len() + part.y.len()).sum();
    let bytes = BYTES_EACH * count + BYTES_OF_VALUE * values as f64;
    if bytes <= most {
        return Ok(());
    }
    let [count, needed, most] = [count, (bytes / GIB).ceil(), most / GIB].map(|value| value as u64);
    Err(Error::new(format!(
        "train: {values} values of rows and {count} parameters, of layers up to {widest} wide, take about {needed} GiB; there are at most {most} GiB; choose a smaller hidden"
    )))
}

const GIB: f64 = (1_u64 << 30) as f64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::{Activation, Spec};
    use crate::train::Examples;

    #[test]
    fn what_no_memory_holds_is_refused() {
        let data = Data { train: Examples { x: vec![0.0; 20], y: vec![0.0; 10] }, ..Data::default() };
        let said = |hidden: &[usize]| {
            let layout = Layout::of(&Spec::mlp(2, hidden, 1, Activation::silu()));
            check_within(&layout, &data, 64.0 * GIB).map_err(|error| error.to_string())
        };
        assert_eq!(said(&[64, 64, 64]), Ok(()));
        assert_eq!(said(&[20_000, 20_000]), Ok(()));
        let cases: [(&[usize], _); 3] = [
            (&[1_000_000, 1_000_000], "1000005000001 parameters, of layers up to 1000000 wide, take about 119210 GiB"),
            (&[30_000, 30_000], "900150001 parameters, of layers up to 30000 wide, take about 108 GiB"),
            (
                &[usize::MAX, usize::MAX],
                "18446744073709551615 parameters, of layers up to 18446744073709551615 wide, take about 18446744073709551615 GiB",
            ),
        ];
        for (hidden, what) in cases {
            let wanted = format!(
                "train: 30 values of rows and {what}; there are at most 64 GiB; choose a smaller hidden"
            );
            assert_eq!(said(hidden), Err(wanted));
        }
    }
}
