//! Keeps freed memory for the next buffer of the same size class.

use super::record::Memory;

/// Sizes are rounded up so that nearby sizes share blocks: to 64 words, above 4,096 words to an eighth of the power of two below.
pub(super) fn size_class(words: usize) -> usize {
    let step = (words.max(1).next_power_of_two() / 16).max(64);
    words.max(1).div_ceil(step) * step
}

/// Free blocks with their sizes, the latest last.
#[derive(Default)]
pub(super) struct Pool {
    free: Vec<(usize, Memory)>,
    words: usize,
}

impl Pool {
    pub(super) fn take(&mut self, words: usize) -> Option<Memory> {
        let at = self.free.iter().rposition(|(size, _)| *size == words)?;
        self.words -= words;
        Some(self.free.remove(at).1)
    }

    pub(super) fn put(&mut self, words: usize, memory: Memory) {
        self.words += words;
        self.free.push((words, memory));
    }

    /// The number of words in its blocks.
    pub(super) fn words(&self) -> usize {
        self.words
    }

    /// Removes and returns every block.
    pub(super) fn drain(&mut self) -> Vec<Memory> {
        self.words = 0;
        self.free.drain(..).map(|(_, memory)| memory).collect()
    }
}
