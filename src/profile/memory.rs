//! The memory of a device by what it holds: bytes in use and their peak per tag, differences between marks, and leaks. It follows the device's pool,
//! so the sum over tags is the bytes in use at any time.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::device::{Block, Device, Memory, MemoryWatch, Tag};
use crate::error::{Error, Result, hint};

/// Follows a device's memory from its creation until it is dropped.
pub struct MemoryProfile {
    device: Device,
    ledger: Rc<Ledger>,
}

/// Bytes of each tag, in the order of [`Tag::ALL`]; differences may be negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TagBytes([i64; Tag::ALL.len()]);

/// The memory in use at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Its name.
    pub name: String,
    /// Bytes in use.
    pub live: TagBytes,
    /// The most bytes in use at once since the mark before.
    pub peak: i64,
    /// Blocks in use.
    pub blocks: usize,
}

/// Memory that is probably never given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leak {
    /// A buffer of results or of workspace that was made after the first mark and is still there some marks later.
    Buffer {
        /// What it holds.
        tag: Tag,
        /// Its size.
        bytes: u64,
        /// Marks since it was made.
        marks: usize,
    },
    /// A tag whose bytes have grown from mark to mark, up to the latest.
    Growth {
        /// The tag.
        tag: Tag,
        /// By how much.
        bytes: u64,
        /// Over so many marks.
        marks: usize,
    },
}

/// Marks that a buffer of results or of workspace may outlive.
const MARKS_OF_BUFFER: usize = 3;
/// Marks over which a tag may not grow steadily.
const MARKS_OF_GROWTH: usize = 4;

#[derive(Default)]
struct Ledger(RefCell<State>);

#[derive(Default)]
struct State {
    live: TagBytes,
    peak: TagBytes,
    /// The most bytes in use at once, ever and since the latest mark.
    most: [i64; 2],
    /// Blocks taken since the profile began, each with the number of marks before it.
    blocks: HashMap<Memory, (Block, usize)>,
    marks: Vec<Mark>,
}

impl MemoryProfile {
    /// Follows a device from here on, instead of an earlier profile. Memory already in use counts as workspace.
    pub fn of(device: &Device) -> Self {
        let ledger = Rc::new(Ledger::default());
        ledger.0.borrow_mut().add(Tag::Workspace, device.counters().live_bytes.cast_signed());
        device.watch_memory(Some(ledger.clone()));
        Self { device: device.clone(), ledger }
    }

    /// The device that it follows.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Stops following the device; what was seen stays.
    pub fn end(&self) {
        self.device.unwatch_memory(&*self.ledger);
    }

    /// Notes the memory in use under a name.
    pub fn mark(&self, name: impl Into<String>) {
        let mut state = self.ledger.0.borrow_mut();
        let total = state.live.total();
        let peak = std::mem::replace(&mut state.most[1], total);
        let mark = Mark { name: name.into(), live: state.live, peak, blocks: state.blocks.len() };
        state.marks.push(mark);
    }

    /// The marks so far.
    pub fn marks(&self) -> Vec<Mark> {
        self.ledger.0.borrow().marks.clone()
    }

    /// Bytes in use now; their sum is `Counters::live_bytes`.
    pub fn live(&self) -> TagBytes {
        self.ledger.0.borrow().live
    }

    /// The most bytes of each tag; the tags need not have had them at the same time.
    pub fn peak(&self) -> TagBytes {
        self.ledger.0.borrow().peak
    }

    /// The most bytes in use at once.
    pub fn peak_bytes(&self) -> i64 {
        self.ledger.0.borrow().most[0]
    }

    /// What is in use at mark `to` and not at mark `from`; of several marks with a name, the latest. Errors if no mark has that name.
    pub fn delta(&self, from: &str, to: &str) -> Result<TagBytes> {
        let state = self.ledger.0.borrow();
        let find = |name: &str| {
            let mark = state.marks.iter().rfind(|mark| mark.name == name);
            mark.map(|mark| mark.live).ok_or_else(|| {
                let near = hint(name, state.marks.iter().map(|mark| mark.name.as_str()));
                let count = state.marks.len();
                Error::usage(format!(
                    "memory: no mark has this name: got \"{name}\", expected one of {count} marks{near}"
                ))
            })
        };
        Ok(find(to)?.minus(find(from)?))
    }

    /// What is probably never given back, the largest first.
    pub fn leaks(&self) -> Vec<Leak> {
        let state = self.ledger.0.borrow();
        let kept = state.blocks.values().filter_map(|(block, before)| {
            let marks = state.marks.len() - before;
            let is_short_lived = matches!(block.tag, Tag::Activations | Tag::Workspace) && !block.is_planned;
            let is_kept = *before > 0 && is_short_lived && marks >= MARKS_OF_BUFFER;
            is_kept.then_some(Leak::Buffer { tag: block.tag, bytes: block.bytes, marks })
        });
        let growing = Tag::ALL.into_iter().filter_map(|tag| {
            let bytes = |mark: &Mark| mark.live.of(tag);
            let rises = state.marks.windows(2).rev().take_while(|two| bytes(&two[0]) < bytes(&two[1])).count();
            let [.., last] = &state.marks[..] else { return None };
            let grown = bytes(last) - bytes(&state.marks[state.marks.len() - 1 - rises]);
            let marks = rises + 1;
            (marks >= MARKS_OF_GROWTH).then_some(Leak::Growth { tag, bytes: grown.unsigned_abs(), marks })
        });
        let mut leaks: Vec<Leak> = kept.chain(growing).collect();
        leaks.sort_by_key(|leak| std::cmp::Reverse((leak.bytes(), leak.marks())));
        leaks
    }
}

impl Drop for MemoryProfile {
    fn drop(&mut self) {
        self.end();
    }
}

impl TagBytes {
    /// The bytes of a tag.
    pub fn of(&self, tag: Tag) -> i64 {
        self.0[tag as usize]
    }

    /// The sum over tags.
    pub fn total(&self) -> i64 {
        self.0.iter().sum()
    }

    fn minus(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] - other.0[at]))
    }
}

impl Leak {
    /// Its size.
    pub fn bytes(&self) -> u64 {
        let (Self::Buffer { bytes, .. } | Self::Growth { bytes, .. }) = self;
        *bytes
    }

    /// What it holds.
    pub fn tag(&self) -> Tag {
        let (Self::Buffer { tag, .. } | Self::Growth { tag, .. }) = self;
        *tag
    }

    /// Over how many marks it was seen.
    pub fn marks(&self) -> usize {
        let (Self::Buffer { marks, .. } | Self::Growth { marks, .. }) = self;
        *marks
    }
}

impl State {
    fn add(&mut self, tag: Tag, bytes: i64) {
        let at = tag as usize;
        self.live.0[at] += bytes;
        self.peak.0[at] = self.peak.0[at].max(self.live.0[at]);
        let total = self.live.total();
        self.most = self.most.map(|most| most.max(total));
    }
}

impl MemoryWatch for Ledger {
    fn taken(&self, block: Block) {
        let mut state = self.0.borrow_mut();
        state.add(block.tag, block.bytes.cast_signed());
        let before = state.marks.len();
        state.blocks.insert(block.memory, (block, before));
    }

    fn released(&self, memory: Memory, bytes: u64) {
        let mut state = self.0.borrow_mut();
        let tag = state.blocks.remove(&memory).map_or(Tag::Workspace, |(block, _)| block.tag);
        state.add(tag, -bytes.cast_signed());
    }
}
