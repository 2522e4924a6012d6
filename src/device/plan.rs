//! A recording made replayable: pointwise chains are fused, transient buffers share memory by liveness, and everything is bound once.

use std::rc::Rc;

use super::kernel::{Cost, Kernel, SharedBody};
use super::pool::size_class;
use super::recording::{Buffer, Command, Dispatch, Memory, Recording, Slot, VIEW_WORDS, View};
use super::{Device, Prepared};
use crate::error::Result;

/// A replayable plan. `run` repeats it; nothing is bound, compiled or uploaded again.
pub struct Plan {
    device: Device,
    prepared: Box<dyn Prepared>,
    /// Buffers that outlive a run: kept so that their memory is not reused under the plan.
    _held: Vec<Buffer>,
    slots: Vec<(Memory, usize)>,
    summary: Summary,
}

/// The launches, memory and cost of a plan, known before it runs.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// One line per launch: kernel name and cost.
    pub launches: Vec<(&'static str, Cost)>,
    /// Arithmetic and traffic of one run.
    pub cost: Cost,
    /// Bytes of memory that only the plan's intermediate results take, after sharing.
    pub transient_bytes: u64,
    /// The same with no sharing, for comparison.
    pub unshared_bytes: u64,
    /// Bytes of the buffers it reads and writes that outlive it.
    pub persistent_bytes: u64,
}

/// A command whose views have become memory.
pub enum Bound {
    /// Run a kernel over regions.
    Dispatch {
        /// The kernel.
        kernel: &'static Kernel,
        /// Its body.
        body: Option<SharedBody>,
        /// Its uniform.
        params: Vec<u32>,
        /// Workgroups.
        grid: [u32; 3],
        /// Arithmetic and traffic.
        cost: Cost,
        /// Inputs in order.
        inputs: Vec<Region>,
        /// Outputs in order.
        outputs: Vec<Region>,
    },
    /// Copy between regions.
    Copy {
        /// Source.
        from: Region,
        /// Destination.
        to: Region,
    },
}

/// A run of words in a device's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The block.
    pub memory: Memory,
    /// First word.
    pub offset: usize,
    /// Number of words.
    pub words: usize,
}

/// A plan compiled by a backend, the plan's own memory, and its summary.
type Planned = (Box<dyn Prepared>, Vec<(Memory, usize)>, Summary);

impl Plan {
    pub(super) fn new(device: &Device, recording: Recording) -> Result<Self> {
        let recording = without_copies(fuse(recording));
        let uses = Uses::of(&recording);
        let held = uses.persistent(&recording);
        let fresh: Vec<&Buffer> = held.iter().filter(|buffer| buffer.0.memory.get().is_none()).collect();
        let planned = Self::planned(device, &recording, uses, &held);
        if planned.is_err() {
            // The plan did not run, so the buffers that only it would fill must not seem filled.
            for buffer in fresh {
                device.unback(buffer);
            }
        }
        let (prepared, slots, summary) = planned?;
        Ok(Self { device: device.clone(), prepared, _held: held, slots, summary })
    }

    fn planned(device: &Device, recording: &Recording, uses: Uses, held: &[Buffer]) -> Result<Planned> {
        for buffer in held {
            device.back(buffer)?;
        }
        let mut summary = Summary {
            persistent_bytes: held.iter().map(|buffer| 4 * buffer.words() as u64).sum(),
            ..Summary::default()
        };
        let mut slots = Slots { device, uses, free: Vec::new(), all: Vec::new() };
        let mut bound = Vec::with_capacity(recording.commands.len());
        for (at, command) in recording.commands.iter().enumerate() {
            for view in command.writes().iter().chain(command.reads()) {
                summary.unshared_bytes += slots.place(&view.buffer)?;
            }
            bound.push(slots.bind(command, &mut summary));
            slots.retire(at, command);
        }
        summary.transient_bytes = slots.all.iter().map(|(_, words)| 4 * *words as u64).sum();
        let prepared = device.0.backend.prepare(bound)?;
        Ok((prepared, std::mem::take(&mut slots.all), summary))
    }

    /// Runs the plan `times` times, in order. Returns once the work is submitted; `Device::read` waits for it.
    pub fn run(&self, times: usize) -> Result<()> {
        self.device.flush()?;
        self.device.0.note_run(&self.summary, times);
        self.device.0.backend.run(&*self.prepared, times)
    }

    /// The launches, memory and cost of one run.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        for &(memory, words) in &self.slots {
            self.device.0.release(memory, words);
        }
    }
}

/// Where each buffer is used and how many handles the recording has, sorted by key.
struct Uses(Vec<(*const Slot, Use)>);

struct Use {
    handles: usize,
    /// The first command that uses it, and the place among the command's views.
    first: (usize, usize),
    first_write: usize,
    first_read: usize,
    last: usize,
    /// Its slot of the plan's memory while it is in use.
    slot: Option<usize>,
}

impl Uses {
    fn of(recording: &Recording) -> Self {
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
        uses
    }

    fn place(&self, buffer: &Buffer) -> std::result::Result<usize, usize> {
        self.0.binary_search_by_key(&buffer.key(), |(key, _)| *key)
    }

    /// The use of a buffer; a new one begins at `first`.
    fn entry(&mut self, buffer: &Buffer, first: (usize, usize)) -> &mut Use {
        let at = self.place(buffer).unwrap_or_else(|at| {
            let never = usize::MAX;
            let unused = Use { handles: 0, first, first_write: never, first_read: never, last: 0, slot: None };
            self.0.insert(at, (buffer.key(), unused));
            at
        });
        &mut self.0[at].1
    }

    fn get(&self, buffer: &Buffer) -> &Use {
        &self.0[self.place(buffer).expect("a buffer of the recording")].1
    }

    fn slot(&mut self, buffer: &Buffer) -> &mut Option<usize> {
        let at = self.place(buffer).expect("a buffer of the recording");
        &mut self.0[at].1.slot
    }

    /// Held outside the recording, already holding data, or read before written: it must keep its contents between runs.
    fn is_persistent(&self, buffer: &Buffer) -> bool {
        let used = self.get(buffer);
        buffer.0.memory.get().is_some()
            || Rc::strong_count(&buffer.0) > used.handles
            || used.first_read <= used.first_write
    }

    fn persistent(&self, recording: &Recording) -> Vec<Buffer> {
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

/// Memory for transient buffers. A block is free again after its last reader; the plan takes all blocks, or they are released.
struct Slots<'a> {
    device: &'a Device,
    uses: Uses,
    free: Vec<usize>,
    all: Vec<(Memory, usize)>,
}

impl Drop for Slots<'_> {
    fn drop(&mut self) {
        for &(memory, words) in &self.all {
            self.device.0.release(memory, words);
        }
    }
}

impl Slots<'_> {
    /// Assigns a block to a transient buffer. Returns the bytes it would need without sharing, or zero if it already has memory.
    fn place(&mut self, buffer: &Buffer) -> Result<u64> {
        if buffer.0.memory.get().is_some() || self.uses.get(buffer).slot.is_some() {
            return Ok(0);
        }
        let words = size_class(buffer.words());
        let fits = |&(_, &slot): &(usize, &usize)| self.all[slot].1 >= words;
        let best = self.free.iter().enumerate().filter(fits).min_by_key(|&(_, &slot)| self.all[slot].1);
        let slot = if let Some((at, _)) = best {
            self.free.swap_remove(at)
        } else {
            self.all.push((self.device.0.take(words)?, words));
            self.all.len() - 1
        };
        *self.uses.slot(buffer) = Some(slot);
        Ok(4 * words as u64)
    }

    fn region(&self, view: &View) -> Region {
        let own = || self.uses.get(&view.buffer).slot.map(|slot| self.all[slot].0);
        let memory = view.buffer.0.memory.get().or_else(own).expect("a buffer has memory before it is bound");
        Region { memory, offset: view.offset, words: view.words }
    }

    fn bind(&self, command: &Command, summary: &mut Summary) -> Bound {
        let regions = |views: &[View]| views.iter().map(|view| self.region(view)).collect();
        match command {
            Command::Dispatch(dispatch) => {
                let cost = (dispatch.kernel.cost)(dispatch);
                summary.cost = summary.cost + cost;
                summary.launches.push((dispatch.kernel.name, cost));
                Bound::Dispatch {
                    kernel: dispatch.kernel,
                    body: dispatch.body.clone(),
                    params: dispatch.params.clone(),
                    grid: (dispatch.kernel.grid)(dispatch),
                    cost,
                    inputs: regions(&dispatch.inputs),
                    outputs: regions(&dispatch.outputs),
                }
            }
            Command::Copy { from, to } => Bound::Copy { from: self.region(from), to: self.region(to) },
        }
    }

    fn retire(&mut self, at: usize, command: &Command) {
        for view in command.reads().iter().chain(command.writes()) {
            if self.uses.get(&view.buffer).last == at
                && let Some(slot) = self.uses.slot(&view.buffer).take()
            {
                self.free.push(slot);
            }
        }
    }
}

/// Merges each dispatch whose only result has one reader into that reader, if the reader's kernel has a `fuse` rule.
fn fuse(mut recording: Recording) -> Recording {
    let mut at = 0;
    while at < recording.commands.len() {
        if let Some((reader, merged)) = merged_into_reader(&recording, at) {
            recording.commands[reader] = Command::Dispatch(merged);
            recording.commands.remove(at);
            // The merged dispatch may itself be merged now, and so may the commands before it.
            at = at.saturating_sub(1);
        } else {
            at += 1;
        }
    }
    recording
}

/// Lets a dispatch write straight to where its result is only copied to.
fn without_copies(mut recording: Recording) -> Recording {
    let mut at = 0;
    while at < recording.commands.len() {
        if let Some((writer, place, target)) = copied_result(&recording, at) {
            recording.commands.remove(at);
            if let Command::Dispatch(dispatch) = &mut recording.commands[writer] {
                dispatch.outputs[place] = target;
            }
        } else {
            at += 1;
        }
    }
    recording
}

/// For a copy: the command and the output that make what it copies, and the target, if nothing else sees the result and nothing uses the
/// target before the copy does.
fn copied_result(recording: &Recording, at: usize) -> Option<(usize, usize, View)> {
    let Command::Copy { from, to } = &recording.commands[at] else { return None };
    let makes = |command: &Command| command.writes().iter().position(|view| view.buffer.is(&from.buffer));
    let (writer, place) =
        recording.commands[..at].iter().enumerate().find_map(|(writer, command)| Some((writer, makes(command)?)))?;
    let Command::Dispatch(dispatch) = &recording.commands[writer] else { return None };
    let is_whole = |view: &View| view.offset == 0 && view.words == from.buffer.words();
    // One handle is the writer's and one the copy's.
    let is_alone = Rc::strong_count(&from.buffer.0) == 2 && from.buffer.0.memory.get().is_none();
    let overlaps = |view: &View| {
        view.buffer.is(&to.buffer) && view.offset < to.offset + to.words && to.offset < view.offset + view.words
    };
    // No buffer is both an input and an output of a dispatch.
    let is_read = dispatch.inputs.iter().any(|view| view.buffer.is(&to.buffer));
    let is_used = recording.commands[writer..at]
        .iter()
        .any(|command| command.reads().iter().chain(command.writes()).any(overlaps));
    let fits = is_whole(from) && is_whole(&dispatch.outputs[place]) && to.offset.is_multiple_of(VIEW_WORDS);
    (fits && is_alone && !is_read && !is_used).then(|| (writer, place, to.clone()))
}

fn merged_into_reader(recording: &Recording, at: usize) -> Option<(usize, Dispatch)> {
    let Command::Dispatch(producer) = &recording.commands[at] else { return None };
    let [result] = &producer.outputs[..] else { return None };
    let later = &recording.commands[at + 1..];
    let reads_it = |command: &Command| command.reads().iter().any(|view| view.buffer.is(&result.buffer));
    let reader = at + 1 + later.iter().position(reads_it)?;
    let Command::Dispatch(consumer) = &recording.commands[reader] else { return None };
    let fuse = consumer.kernel.fuse?;
    let mentions = consumer.inputs.iter().filter(|view| view.buffer.is(&result.buffer)).count();
    // One handle is in the producer and the rest in this reader: no other code uses the intermediate result.
    if Rc::strong_count(&result.buffer.0) != 1 + mentions || result.buffer.0.memory.get().is_some() {
        return None;
    }
    // This includes the reader: merged, it would read and write one buffer.
    let overwritten = recording.commands[at + 1..=reader]
        .iter()
        .flat_map(Command::writes)
        .any(|written| producer.inputs.iter().any(|input| input.buffer.is(&written.buffer)));
    if overwritten {
        return None;
    }
    let mut merged = consumer.clone();
    while let Some(input) = merged.inputs.iter().position(|view| view.buffer.is(&result.buffer)) {
        merged = fuse(producer, &merged, input)?;
    }
    Some((reader, merged))
}
