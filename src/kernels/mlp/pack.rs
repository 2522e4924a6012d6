//! Packing the weights for the products, once per step.
#![allow(unsafe_code, reason = "pieces write disjoint ranges of one slice")]
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]

use super::plan::{LayerOffsets, Plan};
use super::shape::{MlpShape, PAD};
use crate::host::Disjoint;
use pulp::{Simd, WithSimd};

/// Packs every layer's weights into `shared`; piece k of n takes every n-th band of `PAD` outputs.
pub(super) struct Pack<'a> {
    pub p: &'a MlpShape,
    pub plan: &'a Plan,
    pub params: &'a [f32],
    pub shared: &'a Disjoint<'a, f32>,
    pub piece: usize,
    pub pieces: usize,
}

impl WithSimd for Pack<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let mut band = 0;
        for (place, layer) in self.plan.places().iter().zip(self.p.layers()) {
            let weight = &self.params[layer.weight as usize..][..place.inputs * place.outputs];
            let bias = &self.params[layer.bias as usize..][..place.outputs];
            for first in (0..place.outputs).step_by(PAD) {
                if band % self.pieces == self.piece {
                    self.band(place, weight, bias, first);
                }
                band += 1;
            }
        }
    }
}

impl Pack<'_> {
    /// Packs outputs first..first + PAD of one layer: PAD columns of `down`, and as many rows of `up`.
    #[inline(always)]
    fn band(&self, place: &LayerOffsets, weight: &[f32], bias: &[f32], first: usize) {
        let count = PAD.min(place.outputs - first);
        // SAFETY: the ranges written here belong to this band, and each band belongs to one piece.
        let packed = |start, len| unsafe { self.shared.range(start..start + len) };
        let padded = packed(place.bias + first, PAD);
        padded.fill(0.0);
        padded[..count].copy_from_slice(&bias[first..first + count]);
        for o in first..first + count {
            let row = packed(place.up + o * place.input_stride, place.input_stride);
            row[..place.inputs].copy_from_slice(&weight[o * place.inputs..][..place.inputs]);
            row[place.inputs..].fill(0.0);
        }
        let mut square = [[0.0; PAD]; PAD];
        for i in (0..place.inputs).step_by(PAD) {
            for (o, row) in square.iter_mut().take(count).enumerate() {
                row.copy_from_slice(packed(place.up + (first + o) * place.input_stride + i, PAD));
            }
            for (k, row) in transposed(&square).iter().take(place.inputs - i).enumerate() {
                packed(place.down + (i + k) * place.stride + first, PAD).copy_from_slice(row);
            }
        }
    }
}

#[inline(always)]
fn transposed(square: &[[f32; PAD]; PAD]) -> [[f32; PAD]; PAD] {
    let mut turned = [[0.0; PAD]; PAD];
    for i in 0..PAD {
        for j in 0..PAD {
            turned[j][i] = square[i][j];
        }
    }
    turned
}
