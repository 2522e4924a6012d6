//! Buffers of words and views of them. A buffer has a block of memory only when its contents must outlive a plan.

use std::cell::Cell;
use std::rc::Rc;

use super::tag::Tag;
use crate::error::Error;

/// The number of a memory block of one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Memory(pub u32);

/// A buffer of 32-bit words. Memory is allocated when its contents must outlive a plan.
#[derive(Clone)]
pub struct Buffer(pub(in crate::device) Rc<Slot>);

/// What a device is called, for messages; two buffers are of one device if they share it.
pub(in crate::device) type Owner = Rc<str>;

/// Gives a block of memory for so many words back to its device, if the device is still there.
pub(in crate::device) type Release = Rc<dyn Fn(Memory, usize)>;

pub(in crate::device) struct Slot {
    /// The device that it belongs to.
    pub(in crate::device) owner: Owner,
    pub(in crate::device) words: usize,
    /// Whether all of its words are floats.
    pub(in crate::device) holds_floats: bool,
    /// What its memory holds.
    pub(in crate::device) tag: Tag,
    pub(in crate::device) memory: Cell<Option<Memory>>,
    /// Why it has no contents, if the device refused to store them. Whatever uses the buffer fails with this error.
    pub(in crate::device) refused: Option<Error>,
    /// Gives its memory back to its device.
    pub(in crate::device) release: Release,
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.get() {
            (self.release)(memory, self.words);
        }
    }
}

impl Buffer {
    /// Its length in 32-bit words.
    pub fn words(&self) -> usize {
        self.0.words
    }

    /// Whether all of its words are floats.
    pub(in crate::device) fn holds_floats(&self) -> bool {
        self.0.holds_floats
    }

    /// The whole buffer as a view.
    pub fn view(&self) -> View {
        View { buffer: self.clone(), offset: 0, words: self.words() }
    }

    /// A run of its words.
    pub fn part(&self, offset: usize, words: usize) -> View {
        self.view().part(offset, words)
    }

    /// Whether two handles name the same buffer.
    pub fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// How many handles there are of it, with those of tensors, views and plans. With one, nothing else sees what is written into it.
    pub fn handles(&self) -> usize {
        Rc::strong_count(&self.0)
    }

    pub(in crate::device) fn key(&self) -> *const Slot {
        Rc::as_ptr(&self.0)
    }
}

/// Offsets of views are multiples of this many words, the portable binding alignment.
pub const VIEW_WORDS: usize = 64;

/// A run of words inside a buffer; its offset is a multiple of `VIEW_WORDS`.
#[derive(Clone)]
pub struct View {
    /// The buffer.
    pub buffer: Buffer,
    /// First word.
    pub offset: usize,
    /// Number of words.
    pub words: usize,
}

impl From<&Buffer> for View {
    fn from(buffer: &Buffer) -> Self {
        buffer.view()
    }
}

impl From<&Self> for View {
    fn from(view: &Self) -> Self {
        view.clone()
    }
}

impl View {
    /// A run of words inside of it.
    pub fn part(&self, offset: usize, words: usize) -> Self {
        Self { buffer: self.buffer.clone(), offset: self.offset + offset, words }
    }
}
