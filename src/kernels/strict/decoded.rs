//! What strict decoding says of every value: the number or ⊥, and why.

/// Decoded pairs in the order of their denominators; with one numerator to each, [rows, outputs].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decoded {
    /// The quotients, 0 under ⊥.
    pub value: Vec<f32>,
    /// Per denominator: 0 a number, 1 ⊥ by a fault, 2 ⊥ by its meaning (a pole), 3 both.
    pub provenance: Vec<u8>,
    /// Per denominator: whether it is of a number near a pole.
    pub gap: Vec<bool>,
}

impl Decoded {
    /// Appends `count` denominators from the words of the kernel: values, the plane of gaps, provenance codes.
    pub fn append(&mut self, count: usize, value: &[f32], gap: &[u32], provenance: &[u32]) {
        self.value.extend(value);
        self.gap.extend((0..count).map(|i| gap[i / 32] >> (i % 32) & 1 == 1));
        self.provenance.extend((0..count).map(|i| (provenance[i / 16] >> (2 * (i % 16)) & 3) as u8));
    }

    /// Whether denominator `at` makes ⊥.
    pub fn is_bottom(&self, at: usize) -> bool {
        self.provenance[at] != 0
    }

    /// Whether something there was not finite.
    pub fn is_fault(&self, at: usize) -> bool {
        self.provenance[at] & 1 == 1
    }

    /// Whether it is too near a pole.
    pub fn is_semantic(&self, at: usize) -> bool {
        self.provenance[at] & 2 == 2
    }
}
