//! What strict decoding says of every value: the number or ⊥, and why.

use super::model::Prediction;
use crate::io::Preparation;

/// Decoded pairs, [rows, outputs], in the order of their rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decoded {
    /// The quotients, 0 under ⊥.
    pub value: Vec<f32>,
    /// Per value: 0 a number, 1 ⊥ by a fault, 2 ⊥ by its meaning (a pole), 3 both.
    pub provenance: Vec<u8>,
    /// Per value: whether it is a number near a pole.
    pub gap: Vec<bool>,
}

impl Decoded {
    /// Appends `count` values from the words of the `strict` kernel: values, the plane of gaps, provenance codes.
    pub(super) fn append(&mut self, count: usize, value: &[f32], gap: &[u32], provenance: &[u32]) {
        self.value.extend(&value[..count]);
        self.gap.extend((0..count).map(|i| gap[i / 32] >> (i % 32) & 1 == 1));
        self.provenance.extend((0..count).map(|i| (provenance[i / 16] >> (2 * (i % 16)) & 3) as u8));
    }

    /// Whether value `at` is ⊥.
    pub fn is_bottom(&self, at: usize) -> bool {
        self.provenance[at] != 0
    }

    /// Each in the target's own units.
    pub(super) fn tell(&self, preparation: &Preparation) -> Vec<Prediction> {
        let tell = |at: usize| Prediction::Decoded {
            value: (!self.is_bottom(at)).then(|| preparation.decode_target(self.value[at])),
            is_gap: self.gap[at],
            is_fault: self.provenance[at] & 1 == 1,
        };
        (0..self.value.len()).map(tell).collect()
    }
}
