//! Checks whether a model fits in memory before anything is allocated: a failed allocation would abort the program.

use crate::device::Device;
use crate::error::{Error, Result};
use crate::host::{has_room, memory_bytes};
use crate::nn::Layout;
use crate::train::data::Data;

/// Bytes per parameter of a run, 32 words: the parameter, its best value, moments and gradients, on the device and during uploads, and
/// the copies that a checkpoint is written from.
const BYTES_EACH: f64 = 128.0;

/// Errors if the parameters of a model need more memory than there is.
pub(crate) fn check(layout: &Layout, members: usize) -> Result<()> {
    check_within(layout, memory_bytes() as f64 / members.max(1) as f64)
}

/// Errors if the training and the validation rows do not fit in memory once more, where a device computes in that of the host.
pub(crate) fn check_rows(device: &Device, data: &Data) -> Result<()> {
    if !device.info().runs_cpu_path() {
        return Ok(());
    }
    let words: usize = [&data.train, &data.validation].map(|part| part.x.len() + part.y.len()).iter().sum();
    let rows = data.train.rows(data.targets) + data.validation.rows(data.targets);
    let what = || format!("{rows} rows of {} inputs on the {}", data.inputs, device.info().device);
    has_room(size_of::<f32>() as u64 * words as u64, what)
        .map_err(|what| Error::new(format!("train: {what}; use fewer rows or columns")))
}

fn check_within(layout: &Layout, most: f64) -> Result<()> {
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
    let bytes = BYTES_EACH * count;
    if bytes <= most {
        return Ok(());
    }
    let [count, needed, most] = [count, bytes / GIB, most / GIB].map(|value| value as u64);
    Err(Error::new(format!(
        "train: a model with layers up to {widest} wide has {count} parameters, which take about {needed} GiB; there are at most {most} GiB; choose a smaller hidden"
    )))
}

const GIB: f64 = (1_u64 << 30) as f64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::{Activation, Spec};

    #[test]
    fn what_no_memory_holds_is_refused() {
        let said = |hidden: &[usize]| {
            let layout = Layout::of(&Spec::mlp(2, hidden, 1, Activation::silu()));
            check_within(&layout, 64.0 * GIB).map_err(|error| error.to_string())
        };
        assert_eq!(said(&[64, 64, 64]), Ok(()));
        assert_eq!(said(&[20_000, 20_000]), Ok(()));
        let cases: [(&[usize], _); 3] = [
            (&[1_000_000, 1_000_000], "1000000 wide has 1000005000001 parameters, which take about 119209 GiB"),
            (&[30_000, 30_000], "30000 wide has 900150001 parameters, which take about 107 GiB"),
            (
                &[usize::MAX, usize::MAX],
                "18446744073709551615 wide has 18446744073709551615 parameters, which take about 18446744073709551615 GiB",
            ),
        ];
        for (hidden, what) in cases {
            let expected =
                format!("train: a model with layers up to {what}; there are at most 64 GiB; choose a smaller hidden");
            assert_eq!(said(hidden), Err(expected));
        }
    }
}
