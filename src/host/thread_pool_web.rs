//! The thread pool where there are no threads (wasm): the same items, in order on the caller. Instances of the engine in other workers may
//! run the same training, each all of it but for what `fill` fills: there each makes one piece and takes the others' from a [`Share`].

use std::cell::RefCell;

use wasm_bindgen::prelude::wasm_bindgen;

use crate::error::Result;

#[wasm_bindgen]
extern "C" {
    /// Memory in which instances give each other their pieces: `web/src/serve/share.ts`.
    #[derive(Clone)]
    pub type Share;
    /// Whether a list of so many pieces of up to so many words is made together.
    #[wasm_bindgen(method)]
    fn begin(this: &Share, pieces: usize, words: usize) -> bool;
    /// The piece that is now this instance's to make; `pieces` where none is left.
    #[wasm_bindgen(method)]
    fn claim(this: &Share) -> usize;
    /// Gives the others a piece.
    #[wasm_bindgen(method)]
    fn give(this: &Share, index: usize, piece: &[f32]);
    /// Fills in another's piece; false where it is better made here.
    #[wasm_bindgen(method)]
    fn take(this: &Share, index: usize, piece: &mut [f32]) -> bool;
}

thread_local! {
    static SHARE: RefCell<Option<Share>> = const { RefCell::new(None) };
}

/// From here on pieces are shared in `share`, with `None` no more; gives what was in use.
pub fn sharing(share: Option<Share>) -> Option<Share> {
    SHARE.replace(share)
}

/// The caller, and where pieces are filled the other instances.
pub struct ThreadPool {
    members: usize,
}

impl ThreadPool {
    /// `members` are the instances that may run the same training.
    pub fn new(members: usize) -> Result<ThreadPool> {
        Ok(ThreadPool { members })
    }

    /// Its size where `fill` fills.
    pub fn members(&self) -> usize {
        self.members
    }

    /// Its size for all else: one.
    pub fn threads(&self) -> usize {
        1
    }

    /// Runs work(0), ..., work(count - 1) in order.
    pub fn parallel(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(work);
    }

    /// Runs work(0, i, piece i) for the pieces of `length` that `values` is cut into, or has another instance run it.
    pub fn fill(&self, values: &mut [f32], length: usize, work: &(dyn Fn(usize, usize, &mut [f32]) + Sync)) {
        let share = SHARE.take();
        let pieces = values.len().div_ceil(length);
        let shared = share.as_ref().filter(|share| share.begin(pieces, length));
        // Bit i: piece i is made here. No more than 32 are shared.
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
