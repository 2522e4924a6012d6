//! Freed memory kept for the next buffer of the same size class.

use std::collections::HashMap;

use super::recording::Memory;

/// Sizes are rounded up so that nearby sizes share blocks: to 64 words, above 4,096 words to an eighth of the power of two below.
pub(super) fn size_class(words: usize) -> usize {
    let step = (words.max(1).next_power_of_two() / 16).max(64);
    words.max(1).div_ceil(step) * step
}

/// Free blocks by size.
#[derive(Default)]
pub(super) struct Pool {
    free: HashMap<usize, Vec<Memory>>,
    words: usize,
}

impl Pool {
    pub(super) fn take(&mut self, words: usize) -> Option<Memory> {
        let memory = self.free.get_mut(&words)?.pop()?;
        self.words -= words;
        Some(memory)
    }

    pub(super) fn put(&mut self, words: usize, memory: Memory) {
        self.words += words;
        self.free.entry(words).or_default().push(memory);
    }

    /// Words it holds.
    pub(super) fn words(&self) -> usize {
        self.words
    }

    /// Everything it holds, for giving back.
    pub(super) fn drain(&mut self) -> Vec<Memory> {
        self.words = 0;
        self.free.drain().flat_map(|(_, blocks)| blocks).collect()
    }
}
