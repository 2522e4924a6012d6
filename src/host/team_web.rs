//! The team where there are no threads (wasm): the same items, in order on the caller. Instances of the engine in other workers may
//! run the same training, each all of it but for what `fill` fills: there each makes one piece and takes the others' from a [`Share`].

use std::cell::RefCell;

use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// Memory in which instances give each other their pieces: `web/src/serve/share.ts`.
    #[derive(Clone)]
    pub type Share;
    /// The piece that is this instance's to make, of so many of up to so many words; nothing where it has to make them all.
    #[wasm_bindgen(method)]
    fn begin(this: &Share, pieces: u32, words: u32) -> Option<u32>;
    /// Gives the others this instance's piece.
    #[wasm_bindgen(method)]
    fn give(this: &Share, piece: &[f32]);
    /// Fills in another's piece; false where it is better made here.
    #[wasm_bindgen(method)]
    fn take(this: &Share, index: u32, piece: &mut [f32]) -> bool;
}

thread_local! {
    static SHARE: RefCell<Option<Share>> = const { RefCell::new(None) };
}

/// From here on pieces are shared in `share`, with `None` no more; gives what was in use.
pub fn sharing(share: Option<Share>) -> Option<Share> {
    SHARE.replace(share)
}

/// One member: the caller, and those of other instances it works with.
pub struct Team {
    threads: usize,
}

impl Team {
    /// `threads` are the instances that run the same.
    pub fn new(threads: usize) -> Team {
        Team { threads }
    }

    /// Its size.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs work(0), ..., work(count - 1) in order.
    pub fn parallel(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(work);
    }

    /// Runs work(i, piece i) for the pieces of `length` that `values` is cut into, or has another instance run it.
    pub fn fill(&self, values: &mut [f32], length: usize, work: &(dyn Fn(usize, &mut [f32]) + Sync)) {
        let mut pieces: Vec<_> = values.chunks_mut(length).enumerate().collect();
        let share = SHARE.take();
        let own = share.as_ref().and_then(|share| share.begin(pieces.len() as u32, length as u32));
        if let (Some(share), Some(own)) = (&share, own) {
            let (own, piece) = pieces.swap_remove(own as usize);
            work(own, piece);
            share.give(piece);
        }
        for (index, piece) in pieces {
            let is_given = own.is_some() && share.as_ref().is_some_and(|share| share.take(index as u32, piece));
            if !is_given {
                work(index, piece);
            }
        }
        sharing(share);
    }
}
