//! The sizes of a model and of a step.

use super::pairs::pairing::Pairing;
use super::params::{Layer, MAX_LAYERS, Params};

/// Rows of tiles and packed weights are padded to this many words: one cache line, one AVX-512 vector.
pub(super) const PAD: usize = 16;

/// What the CPU path computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MlpShape {
    pub rows: u32,
    pub batch: u32,
    pub steps: u32,
    pub parts: u32,
    pub inputs: u32,
    pub outputs: u32,
    pub targets: u32,
    pub total: u32,
    pub depth: u32,
    pub layers: [Layer; MAX_LAYERS],
    pub pairs: Option<Pairing>,
}

impl MlpShape {
    /// From the uniform, and what the last layer's outputs become.
    pub(crate) fn of(params: &Params, pairs: Option<Pairing>) -> Self {
        let layers = params.layers.map(|[inputs, outputs, weight, bias]| Layer { inputs, outputs, weight, bias });
        let Params { rows, batch, steps, parts, inputs, outputs, targets, total, depth, .. } = *params;
        Self { rows, batch, steps, parts, inputs, outputs, targets, total, depth, layers, pairs }
    }

    /// Words of a prediction per row.
    pub(super) fn output_words(&self) -> usize {
        self.pairs.map_or(self.outputs as usize, |pairs| 2 * pairs.outputs)
    }

    pub(crate) fn layers(&self) -> &[Layer] {
        &self.layers[..self.depth as usize]
    }
}

/// The widest of all inputs and outputs.
pub(super) fn widest(layers: &[Layer]) -> u32 {
    layers.iter().map(|layer| layer.inputs.max(layer.outputs)).max().unwrap_or(1)
}

/// Quads that hold so many words.
pub(super) fn quads(words: u32) -> u32 {
    words.div_ceil(4)
}
