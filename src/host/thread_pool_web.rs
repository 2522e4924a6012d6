//! The thread pool of wasm, which has no threads: the same items, run in order by the caller. Instances of the engine in other workers may
//! run the same training. Each runs all of it, except that `fill` splits its pieces between them, and they exchange the pieces through a [`Share`].

use std::cell::RefCell;

use wasm_bindgen::prelude::wasm_bindgen;

use crate::error::Result;

#[wasm_bindgen]
extern "C" {
    /// Memory through which instances exchange pieces: `web/src/serve/share.ts`.
    #[derive(Clone)]
    pub type Share;
    /// Whether instances share the work on `pieces` pieces of up to `words` words.
    #[wasm_bindgen(method)]
    fn begin(this: &Share, pieces: usize, words: usize) -> bool;
    /// Reserves a piece for this instance; `pieces` if none is left.
    #[wasm_bindgen(method)]
    fn claim(this: &Share) -> usize;
    /// Publishes a piece to the others.
    #[wasm_bindgen(method)]
    fn give(this: &Share, index: usize, piece: &[f32]);
    /// Copies a piece of another instance; false if this instance should compute it.
    #[wasm_bindgen(method)]
    fn take(this: &Share, index: usize, piece: &mut [f32]) -> bool;
}

thread_local! {
    static SHARE: RefCell<Option<Share>> = const { RefCell::new(None) };
}

/// Sets the share that `fill` uses, or none. Returns the previous one.
pub fn sharing(share: Option<Share>) -> Option<Share> {
    SHARE.replace(share)
}

/// The caller, and for `fill` the other instances.
pub struct ThreadPool {
    members: usize,
}

impl ThreadPool {
    /// A pool of `members` instances that may run the same training.
    pub fn new(members: usize) -> Result<ThreadPool> {
        Ok(ThreadPool { members })
    }

    /// The number of instances that share `fill`.
    pub fn members(&self) -> usize {
        self.members
    }

    /// The number of threads of everything else: one.
    pub fn threads(&self) -> usize {
        1
    }

    /// Runs work(0), ..., work(count - 1) in order.
    pub fn parallel(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(work);
    }

    /// Cuts `values` into pieces of `length`. This instance or another runs work(0, i, piece i) for each.
    pub fn fill(&self, values: &mut [f32], length: usize, work: &(dyn Fn(usize, usize, &mut [f32]) + Sync)) {
        let share = SHARE.take();
        let pieces = values.len().div_ceil(length);
        let shared = share.as_ref().filter(|share| share.begin(pieces, length));
        // Bit i: this instance computed piece i. At most 32 pieces are shared.
        let mut made = 0_u32;
        if let Some(share) = shared {
            loop {
                let index = share.claim();
                let Some(piece) = values.chunks_mut(length).nth(index) else { break };
                work(0, index, piece);
                share.give(index, piece);
                made |= 1 << index;
            }
        }
        for (index, piece) in values.chunks_mut(length).enumerate() {
            let is_there = made >> (index % 32) & 1 == 1 || shared.is_some_and(|share| share.take(index, piece));
            if !is_there {
                work(0, index, piece);
                if let Some(share) = shared {
                    share.give(index, piece);
                }
            }
        }
        sharing(share);
    }
}
