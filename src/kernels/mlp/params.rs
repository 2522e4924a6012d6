//! The uniform of the fused kernels.

use crate::params;

/// Linear layers, at most: the length of the uniform's list.
pub const MAX_LAYERS: usize = 16;

/// One linear layer: its sizes and the word offsets of weights [outputs, inputs] and bias [outputs] in the parameters.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Layer {
    /// Values per row that go in.
    pub inputs: u32,
    /// Values per row that come out.
    pub outputs: u32,
    /// First word of the weight.
    pub weight: u32,
    /// First word of the bias.
    pub bias: u32,
}

params! {
    /// A layer is (inputs, outputs, offset of its weight, offset of its bias), in words of the flat parameters.
    /// `span` is a part's rows; `stride` is a row's scratch in quads of words. From `gamma` on the fields belong to
    /// pairs; `shift` is added to each denominator.
    pub struct Params {
        rows: u32,
        batch: u32,
        steps: u32,
        parts: u32,
        inputs: u32,
        outputs: u32,
        targets: u32,
        total: u32,
        depth: u32,
        span: u32,
        stride: u32,
        smoothing: f32,
        gamma: f32,
        shift: f32,
        scale: f32,
        tau_low: f32,
        tau_high: f32,
        implicit: f32,
        chordal: f32,
        decoded: f32,
        margin: f32,
        sign: f32,
        sign_within: f32,
        numerator: u32,
        denominator: u32,
        seed_low: u32,
        seed_high: u32,
        stream: u32,
        layers: [[u32; 4]; MAX_LAYERS],
    }
}
