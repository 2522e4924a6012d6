//! A device's memory, taken from its pool of blocks, and its counters.

use super::pool::size_class;
use super::recording::Memory;
use super::tag::{Block, Tag};
use super::{Counters, Inner, POOLED_BYTES, Summary};
use crate::error::Result;

impl Inner {
    pub(super) fn take(&self, words: usize, tag: Tag, is_planned: bool) -> Result<Memory> {
        let words = size_class(words);
        let pooled = self.pool.borrow_mut().take(words);
        let memory = match pooled {
            Some(memory) => memory,
            None => self.backend.allocate(words).or_else(|_| {
                // Freeing unused blocks may make space.
                self.drain();
                self.backend.allocate(words)
            })?,
        };
        self.count(|counters| {
            counters.live_bytes += 4 * words as u64;
            counters.peak_bytes = counters.peak_bytes.max(counters.live_bytes);
        });
        if let Some(watch) = &*self.watch.borrow() {
            watch.taken(Block { memory, bytes: 4 * words as u64, tag, is_planned });
        }
        Ok(memory)
    }

    pub(super) fn release(&self, memory: Memory, words: usize) {
        let words = size_class(words);
        self.count(|counters| counters.live_bytes -= 4 * words as u64);
        if let Some(watch) = &*self.watch.borrow() {
            watch.released(memory, 4 * words as u64);
        }
        self.pool.borrow_mut().put(words, memory);
        // Otherwise blocks of sizes that are no longer used would never be freed.
        if self.pool.borrow().words() * 4 > POOLED_BYTES.max(self.counters.get().live_bytes as usize) {
            self.drain();
        }
    }

    pub(super) fn drain(&self) {
        for memory in self.pool.borrow_mut().drain() {
            self.backend.free(memory);
        }
    }

    pub(super) fn count(&self, change: impl FnOnce(&mut Counters)) {
        let mut counters = self.counters.get();
        change(&mut counters);
        self.counters.set(counters);
    }

    pub(super) fn note_run(&self, summary: &Summary, times: usize) {
        self.count(|counters| {
            counters.launches += (summary.launches.len() * times) as u64;
            counters.flops += summary.cost.flops * times as u64;
        });
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.drain();
    }
}
