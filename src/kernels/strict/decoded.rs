//! The result of strict decoding: for every value the number or ⊥, and the cause of ⊥.

/// Decoded pairs in the order of their denominators; with one numerator each, [rows, outputs].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decoded {
    /// The quotients, 0 under ⊥.
    pub value: Vec<f32>,
    /// Per denominator: 0 a number, 1 ⊥ by a fault, 2 semantic ⊥ (a pole), 3 both.
    pub provenance: Vec<u8>,
    /// Per denominator: whether it gives a number near a pole.
    pub gap: Vec<bool>,
}

impl Decoded {
    /// Appends the results of `count` denominators from the kernel's words: values, the gap plane, provenance codes.
    pub fn append(&mut self, count: usize, value: &[f32], gap: &[u32], provenance: &[u32]) {
        self.value.extend(value);
        self.gap.extend((0..count).map(|i| gap[i / 32] >> (i % 32) & 1 == 1));
        self.provenance.extend((0..count).map(|i| (provenance[i / 16] >> (2 * (i % 16)) & 3) as u8));
    }

    /// Whether denominator `at` gives ⊥.
    pub fn is_bottom(&self, at: usize) -> bool {
        self.provenance[at] != 0
    }

    /// Whether an operand of it was not finite.
    pub fn is_fault(&self, at: usize) -> bool {
        self.provenance[at] & 1 == 1
    }

    /// Whether it is too near a pole.
    pub fn is_semantic(&self, at: usize) -> bool {
        self.provenance[at] & 2 == 2
    }
}
