//! Whether there can be memory for a model, asked before any is taken: an allocation that fails is the end of the program.

use crate::error::{Error, Result};
use crate::host::{MEMORY_BYTES, number};
use crate::nn::Layout;

/// Words for each parameter of a run: itself and its best, moments and gradients on the device and on their way to it, and the copies
/// that a checkpoint is written from.
pub(super) const TRAINED: f64 = 32.0;
/// Words for each parameter of a model that is loaded: in the file, as it is read, among the others, on the device.
pub(super) const LOADED: f64 = 4.0;

/// Refuses parameters of which each takes so many words, if they are more than memory can hold.
pub(super) fn check(layout: &Layout, words_each: f64) -> Result<()> {
    let sizes = || layout.parameters.iter().map(|parameter| parameter.shape.sizes());
    // In numbers that do not overflow, however wide the layers are.
    let count: f64 = sizes().map(|sizes| sizes.iter().map(|&size| size as f64).product::<f64>()).sum();
    let bytes = 4.0 * words_each * count;
    let most = MEMORY_BYTES as f64;
    if bytes <= most {
        return Ok(());
    }
    let widest = sizes().flatten().max().copied().unwrap_or(0);
    let [count, needed, most] = [count, bytes / GIB, most / GIB].map(|value| number(value.round()));
    Err(Error::new(format!(
        "a model with layers up to {widest} wide has {count} parameters, which take about {needed} GiB; there are at most {most} GiB"
    )))
}

const GIB: f64 = (1_u64 << 30) as f64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::{Activation, Spec};

    #[test]
    fn what_no_memory_holds_is_refused() {
        let said = |hidden: &[usize], words| {
            let checked = check(&Layout::of(&Spec::mlp(2, hidden, 1, Activation::Silu)), words);
            checked.map_err(|error| error.to_string())
        };
        assert_eq!(said(&[64, 64, 64], TRAINED), Ok(()));
        assert_eq!(said(&[20_000, 20_000], TRAINED), Ok(()));
        let cases: [(&[usize], _, _); 4] = [
            (
                &[1_000_000, 1_000_000],
                TRAINED,
                "a model with layers up to 1000000 wide has 1000005000001 parameters, which take about 119210 GiB; there are at most 64 GiB",
            ),
            (
                &[30_000, 30_000],
                TRAINED,
                "a model with layers up to 30000 wide has 900150001 parameters, which take about 107 GiB; there are at most 64 GiB",
            ),
            (
                &[100_000, 100_000],
                LOADED,
                "a model with layers up to 100000 wide has 10000500001 parameters, which take about 149 GiB; there are at most 64 GiB",
            ),
            (
                &[usize::MAX, usize::MAX],
                TRAINED,
                "a model with layers up to 18446744073709551615 wide has 340282366920938500000000000000000000000 parameters, which take about 40564819207303340000000000000000 GiB; there are at most 64 GiB",
            ),
        ];
        for (hidden, words, wanted) in cases {
            assert_eq!(said(hidden, words), Err(wanted.to_owned()));
        }
    }
}
