//! A ring of labelled keys: rows go to consecutive slots, and the oldest are overwritten.

#[derive(Clone, Debug)]
pub(crate) struct Bank {
    pub(crate) n: usize,
    pub(crate) d: usize,
    /// [C, n]
    pub(crate) keys: Vec<f64>,
    /// [C, d]
    pub(crate) states: Vec<f64>,
    /// The slot that the next row goes to.
    pub(crate) pointer: usize,
    /// How many slots hold a row; they are the first ones.
    pub(crate) filled: usize,
}

impl Bank {
    pub(crate) fn new(capacity: usize, n: usize, d: usize) -> Self {
        Self { n, d, keys: vec![0.0; capacity * n], states: vec![0.0; capacity * d], pointer: 0, filled: 0 }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.keys.len() / self.n
    }

    /// Rows one after the other, so that of more rows than slots the last remain.
    pub(crate) fn append(&mut self, keys: &[f64], states: &[f64]) {
        for (key, state) in keys.chunks_exact(self.n).zip(states.chunks_exact(self.d)) {
            let at = self.pointer;
            self.keys[at * self.n..(at + 1) * self.n].copy_from_slice(key);
            self.states[at * self.d..(at + 1) * self.d].copy_from_slice(state);
            self.pointer = (at + 1) % self.capacity();
            self.filled = (self.filled + 1).min(self.capacity());
        }
    }

    /// The keys [filled, n] and states [filled, d] of the slots that hold a row.
    pub(crate) fn valid(&self) -> (&[f64], &[f64]) {
        (&self.keys[..self.filled * self.n], &self.states[..self.filled * self.d])
    }
}
