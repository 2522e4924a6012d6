//! What blocks of memory hold, and a watch over them. Without a watch, a tag is one byte of a buffer.

use std::rc::Rc;

use super::Device;
use super::capture::Finally;
use super::recording::Memory;

/// What a block of memory holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tag {
    /// Weights, and copies of them.
    Parameters,
    /// Gradients and their sums.
    Gradients,
    /// What an optimiser remembers.
    Optimizer,
    /// Results of a forward pass.
    Activations,
    /// Rows and their order.
    Data,
    /// Anything else.
    #[default]
    Workspace,
}

impl Tag {
    /// Every tag in order.
    pub const ALL: [Self; 6] =
        [Self::Parameters, Self::Gradients, Self::Optimizer, Self::Activations, Self::Data, Self::Workspace];
}

/// A block of memory as a watch sees it.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Which.
    pub memory: Memory,
    /// Its size, after rounding up to a size class.
    pub bytes: u64,
    /// What it holds. A block that a plan shares between results has the tag of the first.
    pub tag: Tag,
    /// Whether a plan holds it as long as it exists; otherwise a buffer does.
    pub is_planned: bool,
}

/// Learns of every block that is taken from a device's memory and given back.
pub trait MemoryWatch {
    /// A block is in use from now on.
    fn taken(&self, block: Block);
    /// It is free again. The watch may have started after it was taken.
    fn released(&self, memory: Memory, bytes: u64);
}

impl Device {
    /// Buffers made by `work` get a tag.
    pub fn tagged<T>(&self, tag: Tag, work: impl FnOnce() -> T) -> T {
        let before = self.0.tag.replace(tag);
        let _restored = Finally::new(|| self.0.tag.set(before));
        work()
    }

    /// Reports to `watch`, instead of an earlier one, what memory is taken and released; `None` ends it.
    pub fn watch_memory(&self, watch: Option<Rc<dyn MemoryWatch>>) {
        self.0.watch.replace(watch);
    }

    /// Reports blocks no longer, if it is this watch that they are reported to.
    pub fn unwatch_memory(&self, watch: &dyn MemoryWatch) {
        let mut known = self.0.watch.borrow_mut();
        if known.as_ref().is_some_and(|known| std::ptr::addr_eq(Rc::as_ptr(known), std::ptr::from_ref(watch))) {
            *known = None;
        }
    }
}
