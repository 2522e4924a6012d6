//! When buffers of a recording are in use, and which intermediate results share memory because they are not in use at the same time.

use std::rc::Rc;

use crate::device::pool::size_class;
use crate::device::record::{Buffer, Command, Recording, Slot, Tag, View};

/// Where each buffer is used and how many handles the recording has, sorted by key.
pub(in crate::device) struct Uses(Vec<(*const Slot, Use)>);

struct Use {
    handles: usize,
    /// The first command that uses it, and the place among the command's views.
    first: (usize, usize),
    first_write: usize,
    first_read: usize,
    last: usize,
    is_persistent: bool,
}

impl Uses {
    pub(in crate::device) fn of(recording: &Recording) -> Self {
        Self::among(recording, None)
    }

    /// `known` says of the buffers of another recording which of them are persistent, where both are held at once.
    pub(in crate::device) fn among(recording: &Recording, known: Option<&Self>) -> Self {
        let mut uses = Self(Vec::new());
        for (at, command) in recording.commands.iter().enumerate() {
            let reads = command.reads().len();
            for (place, view) in command.reads().iter().chain(command.writes()).enumerate() {
                let used = uses.entry(&view.buffer, (at, place));
                let first = if place < reads { &mut used.first_read } else { &mut used.first_write };
                *first = (*first).min(at);
                used.handles += 1;
                used.last = at;
            }
        }
        for view in recording.commands.iter().flat_map(|command| command.reads().iter().chain(command.writes())) {
            let is_persistent = match known {
                None => uses.must_persist(&view.buffer),
                Some(known) => known.place(&view.buffer).is_ok_and(|at| known.0[at].1.is_persistent),
            };
            if let Ok(at) = uses.place(&view.buffer) {
                uses.0[at].1.is_persistent = is_persistent;
            }
        }
        uses
    }

    fn place(&self, buffer: &Buffer) -> Result<usize, usize> {
        self.0.binary_search_by_key(&buffer.key(), |(key, _)| *key)
    }

    /// The use of a buffer; a new one begins at `first`.
    fn entry(&mut self, buffer: &Buffer, first: (usize, usize)) -> &mut Use {
        let at = self.place(buffer).unwrap_or_else(|at| {
            let never = usize::MAX;
            let unused =
                Use { handles: 0, first, first_write: never, first_read: never, last: 0, is_persistent: false };
            self.0.insert(at, (buffer.key(), unused));
            at
        });
        &mut self.0[at].1
    }

    fn at(&self, buffer: &Buffer) -> usize {
        self.place(buffer).expect("a buffer of the recording")
    }

    fn get(&self, buffer: &Buffer) -> &Use {
        &self.0[self.at(buffer)].1
    }

    pub(in crate::device) fn is_persistent(&self, buffer: &Buffer) -> bool {
        self.get(buffer).is_persistent
    }

    /// The first and the last command that use a buffer.
    pub(in crate::device) fn span(&self, buffer: &Buffer) -> [usize; 2] {
        let used = self.get(buffer);
        [used.first.0, used.last]
    }

    /// Bytes of intermediate results in use while each command runs.
    pub(in crate::device) fn live_bytes(&self, recording: &Recording) -> Vec<u64> {
        let count = recording.commands.len();
        let (mut begin, mut end) = (vec![0; count], vec![0; count]);
        for (at, command) in recording.commands.iter().enumerate() {
            for (place, view) in command.reads().iter().chain(command.writes()).enumerate() {
                let used = self.get(&view.buffer);
                if used.first == (at, place) && !used.is_persistent {
                    let bytes = 4 * view.buffer.words() as u64;
                    begin[at] += bytes;
                    end[used.last] += bytes;
                }
            }
        }
        let mut live = 0;
        for (bytes, ended) in begin.iter_mut().zip(end) {
            live += *bytes;
            *bytes = live;
            live -= ended;
        }
        begin
    }

    /// Held outside the recording, already holding data, or read before written: it must keep its contents between runs.
    fn must_persist(&self, buffer: &Buffer) -> bool {
        let used = self.get(buffer);
        buffer.0.memory.get().is_some()
            || Rc::strong_count(&buffer.0) > used.handles
            || used.first_read <= used.first_write
    }

    pub(in crate::device) fn persistent(&self, recording: &Recording) -> Vec<Buffer> {
        // This decides for all buffers before it clones any handle: a clone would count as a holder outside.
        let mut chosen = Vec::new();
        for (at, command) in recording.commands.iter().enumerate() {
            for (place, view) in command.reads().iter().chain(command.writes()).enumerate() {
                if self.get(&view.buffer).first == (at, place) && self.is_persistent(&view.buffer) {
                    chosen.push((at, place));
                }
            }
        }
        let view = |&(at, place): &(usize, usize)| {
            let command: &Command = &recording.commands[at];
            command.reads().iter().chain(command.writes()).nth(place).map(|view: &View| view.buffer.clone())
        };
        chosen.iter().filter_map(view).collect()
    }
}

/// Blocks of memory for the intermediate results of a recording. A block is free again after the last reader of its result.
pub(in crate::device) struct Sharing {
    /// The block of each intermediate result, in the order of [`Uses`].
    block_of: Vec<Option<usize>>,
    /// Words of each block, and what its first result holds.
    pub blocks: Vec<(usize, Tag)>,
    /// Bytes if nothing were shared.
    pub unshared_bytes: u64,
    /// Whether a result has a block of at least twice its size.
    is_wasteful: bool,
}

impl Sharing {
    /// With as few bytes as two ways of choosing a free block give: the smallest that is large enough, or that only if less than twice as large. Halves
    /// would otherwise lie in blocks for floats.
    pub(in crate::device) fn of(recording: &Recording, uses: &Uses) -> Self {
        let any = Self::within(recording, uses, usize::MAX);
        if !any.is_wasteful {
            return any;
        }
        let tight = Self::within(recording, uses, 2);
        if tight.bytes() <= any.bytes() { tight } else { any }
    }

    /// With no result in a block of `most` times its size or more.
    fn within(recording: &Recording, uses: &Uses, most: usize) -> Self {
        let none = vec![None; uses.0.len()];
        let mut sharing = Self { block_of: none, blocks: Vec::new(), unshared_bytes: 0, is_wasteful: false };
        let mut free: Vec<usize> = Vec::new();
        let mut is_freed = vec![false; uses.0.len()];
        for (at, command) in recording.commands.iter().enumerate() {
            for View { buffer, .. } in command.writes().iter().chain(command.reads()) {
                let place = uses.at(buffer);
                if !uses.0[place].1.is_persistent && sharing.block_of[place].is_none() {
                    sharing.block_of[place] = Some(sharing.take(&mut free, buffer, most));
                }
            }
            for View { buffer, .. } in command.reads().iter().chain(command.writes()) {
                let place = uses.at(buffer);
                if let Some(block) = sharing.block_of[place].filter(|_| uses.0[place].1.last == at && !is_freed[place])
                {
                    is_freed[place] = true;
                    free.push(block);
                }
            }
        }
        sharing
    }

    /// The smallest free block that is large enough, or a new one.
    fn take(&mut self, free: &mut Vec<usize>, buffer: &Buffer, most: usize) -> usize {
        let words = size_class(buffer.words());
        self.unshared_bytes += 4 * words as u64;
        let size = |block: usize| self.blocks[block].0;
        let fits = |&(_, &block): &(usize, &usize)| size(block) >= words && size(block) < words.saturating_mul(most);
        let best = free.iter().enumerate().filter(fits).min_by_key(|&(_, &block)| size(block));
        if let Some((at, &block)) = best {
            self.is_wasteful |= size(block) >= 2 * words;
            free.swap_remove(at);
            return block;
        }
        self.blocks.push((words, buffer.0.tag));
        self.blocks.len() - 1
    }

    /// Bytes of all blocks.
    pub(in crate::device) fn bytes(&self) -> u64 {
        self.blocks.iter().map(|(words, _)| 4 * *words as u64).sum()
    }

    /// The block of an intermediate result; `None` for buffers that outlive the plan.
    pub(in crate::device) fn block(&self, uses: &Uses, buffer: &Buffer) -> Option<usize> {
        self.block_of[uses.at(buffer)]
    }
}
