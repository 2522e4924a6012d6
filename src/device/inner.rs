//! The state of an open device: its memory, taken from its pool of blocks, its counters, and what is recorded and not yet run.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use super::backend::Backend;
use super::geometry::{Chosen, Geometries, Geometry};
use super::info::Counters;
use super::pool::{Pool, size_class};
use super::record::{Label, Memory, Owner, Recording, Release, Tag};
use super::watch::{Block, MemoryWatch};
use crate::error::Result;

/// Unused memory that is always kept for reuse.
const POOLED_BYTES: usize = 64 << 20;

/// What handles of a device share.
pub(super) struct Inner {
    pub(super) backend: Box<dyn Backend>,
    /// What it is called in messages; its buffers share it.
    pub(super) owner: Owner,
    pub(super) pending: RefCell<Recording>,
    pool: RefCell<Pool>,
    pub(super) counters: Cell<Counters>,
    pub(super) is_capturing: Cell<bool>,
    /// What is done when the capture ends.
    pub(super) at_end: RefCell<Vec<Box<dyn FnOnce()>>>,
    pub(super) label: RefCell<Label>,
    pub(super) tag: Cell<Tag>,
    pub(super) watch: RefCell<Option<Rc<dyn MemoryWatch>>>,
    pub(super) geometries: Cell<Chosen>,
    /// What a dropped buffer calls.
    pub(super) release: Release,
}

impl Inner {
    pub(super) fn new(backend: Box<dyn Backend>) -> Rc<Self> {
        Rc::new_cyclic(|inner: &Weak<Self>| {
            let inner = inner.clone();
            let release = move |memory, words| {
                if let Some(inner) = inner.upgrade() {
                    inner.release(memory, words);
                }
            };
            let info = backend.info();
            let owner = Rc::from(if info.name.is_empty() {
                info.device.into()
            } else {
                format!("{} ({})", info.device, info.name)
            });
            Self {
                backend,
                owner,
                pending: RefCell::default(),
                pool: RefCell::default(),
                counters: Cell::default(),
                is_capturing: Cell::new(false),
                at_end: RefCell::default(),
                label: RefCell::default(),
                tag: Cell::default(),
                watch: RefCell::default(),
                geometries: Cell::new(Geometries::Fixed(Geometry::DEFAULT).into()),
                release: Rc::new(release),
            }
        })
    }

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
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.drain();
    }
}
