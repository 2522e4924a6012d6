//! The layout of the scratch of the CPU path.
#![allow(unsafe_code, reason = "vector registers are read and written through pointers inside checked ranges")]
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]

use super::pairs::tile;
use super::params::MAX_LAYERS;
use super::shape::{MlpShape, PAD};

/// Samples per tile, at most.
pub(super) const TILE: usize = 64;
/// Blocks of rows may run over a tile's end by fewer than this.
pub(super) const SLACK: usize = 8;
/// The scratch words that a step needs with `members` threads.
pub(super) fn scratch_words(p: &MlpShape, members: usize) -> usize {
    Plan::new(p).words(members) + PAD
}

/// Offsets of one layer: packed weights in the shared region, rows and slopes in each thread's region.
#[derive(Clone, Copy, Default)]
pub(super) struct LayerOffsets {
    pub inputs: usize,
    pub outputs: usize,
    /// Padded sizes.
    pub input_stride: usize,
    pub stride: usize,
    /// [inputs, stride], [stride], [outputs, input_stride].
    pub down: usize,
    pub bias: usize,
    pub up: usize,
    /// [tile, input_stride]: what the layer reads.
    pub input: usize,
    /// [tile, stride]: f'(z) going down, dl/dz coming up.
    pub delta: usize,
}

pub(super) struct Plan {
    pub parts: usize,
    pub part_rows: usize,
    pub tile: usize,
    pub shared_words: usize,
    pub member_words: usize,
    /// [tile, padded outputs]: outputs of the last layer.
    pub last: usize,
    /// Working memory of the loss: three rows of tile * outputs words, or the table of pairs.
    pub loss: usize,
    pub loss_words: usize,
    pub depth: usize,
    places: [LayerOffsets; MAX_LAYERS],
}

impl Plan {
    /// Splits the batch into parts of equal size, and a part into tiles of equal size.
    pub(super) fn new(p: &MlpShape) -> Plan {
        let part_rows = (p.batch as usize).div_ceil(p.parts as usize);
        Plan { part_rows, ..Plan::of_tile(p, part_rows.div_ceil(part_rows.div_ceil(TILE))) }
    }

    pub(super) fn of_tile(p: &MlpShape, tile: usize) -> Plan {
        let depth = p.depth as usize;
        assert!((1..=MAX_LAYERS).contains(&depth), "mlp: got {depth} layers, expected 1 to {MAX_LAYERS}");
        let joined = p.layers().windows(2).all(|pair| pair[0].outputs == pair[1].inputs);
        let ends = (p.layers[0].inputs, p.layers[depth - 1].outputs) == (p.inputs, p.outputs);
        assert!(
            joined && ends,
            "mlp: sizes of neighbouring layers differ: {} to {} through {:?}",
            p.inputs,
            p.outputs,
            p.layers()
        );
        let mut plan = Plan {
            parts: p.parts as usize,
            part_rows: tile,
            tile,
            shared_words: 0,
            member_words: 0,
            last: 0,
            loss: 0,
            loss_words: 0,
            depth,
            places: [LayerOffsets::default(); MAX_LAYERS],
        };
        let rows = tile + SLACK;
        for (place, layer) in plan.places.iter_mut().zip(p.layers()) {
            let (inputs, outputs) = (layer.inputs as usize, layer.outputs as usize);
            let (input_stride, stride) = (inputs.next_multiple_of(PAD), outputs.next_multiple_of(PAD));
            let mut shared = |words| take(&mut plan.shared_words, words);
            let (down, bias, up) = (shared(inputs * stride), shared(stride), shared(outputs * input_stride));
            let mut own = |words| take(&mut plan.member_words, words);
            let (input, delta) = (own(rows * input_stride), own(rows * stride));
            *place = LayerOffsets { inputs, outputs, input_stride, stride, down, bias, up, input, delta };
        }
        let outputs = p.outputs as usize;
        plan.last = take(&mut plan.member_words, rows * outputs.next_multiple_of(PAD));
        let plain = 3 * (tile * outputs).next_multiple_of(PAD);
        plan.loss_words = p.pairs.map_or(plain, |pairs| tile::work_words(&pairs, tile));
        plan.loss = take(&mut plan.member_words, plan.loss_words);
        plan
    }

    pub(super) fn words(&self, members: usize) -> usize {
        self.shared_words + members * self.member_words
    }

    pub(super) fn places(&self) -> &[LayerOffsets] {
        &self.places[..self.depth]
    }

    /// Offset at which layer l writes its activations: the next layer's input.
    pub(super) fn output(&self, l: usize) -> usize {
        self.places().get(l + 1).map_or(self.last, |next| next.input)
    }

    pub(super) fn part_rows<'a>(&self, rows: &'a [u32], part: usize) -> &'a [u32] {
        &rows[(part * self.part_rows).min(rows.len())..((part + 1) * self.part_rows).min(rows.len())]
    }
}

fn take(used: &mut usize, words: usize) -> usize {
    let at = *used;
    *used += words.next_multiple_of(PAD);
    at
}
