//! Rows of a target that is a function of the inputs.

use crate::noise::noise;
use meromorph::train::{Data, Examples};

/// So many training and validation rows with random inputs in [-1, 1), and eight test rows.
pub(crate) fn rows(inputs: usize, [train, validation]: [usize; 2], target: impl Fn(&[f32]) -> f32) -> Data {
    let part = |rows: usize, seed| {
        let x = noise(rows * inputs, seed);
        let y = x.chunks_exact(inputs).map(&target).collect();
        Examples { x, y }
    };
    Data { inputs, targets: 1, train: part(train, 1), validation: part(validation, 2), test: part(8, 3) }
}
