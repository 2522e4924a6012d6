//! A watch over the blocks of a device's memory.

use super::record::{Memory, Tag};

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
