//! A recording made replayable: pointwise chains are fused, transient buffers share memory by liveness, and everything is bound once.

use std::rc::Rc;

use super::kernel::{Cost, Kernel, SharedBody};
use super::passes::Passes;
use super::pool::size_class;
use super::recompute::recomputed;
use super::recording::{Buffer, Command, Label, Memory, Recording, Slot, View};
use super::{Device, Prepared};
use crate::error::Result;

/// A replayable plan. `run` repeats it; nothing is bound, compiled or uploaded again.
pub struct Plan {
    pub(super) device: Device,
    pub(super) prepared: Box<dyn Prepared>,
    /// Buffers that outlive a run: kept so that their memory is not reused under the plan.
    _held: Vec<Buffer>,
    slots: Vec<(Memory, usize)>,
    pub(super) summary: Summary,
}

/// The launches, memory and cost of a plan, known before it runs.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The launches in order.
    pub launches: Vec<Launch>,
    /// The copies in order, as launches of `copy`.
    pub copies: Vec<Launch>,
    /// Arithmetic and traffic of one run.
    pub cost: Cost,
    /// Bytes of memory that only the plan's intermediate results take, after sharing.
    pub transient_bytes: u64,
    /// The same with no sharing, for comparison.
    pub unshared_bytes: u64,
    /// Bytes of the buffers it reads and writes that outlive it.
    pub persistent_bytes: u64,
    /// How many of the launches compute again what was dropped, and what they cost.
    pub recomputed: (usize, Cost),
}

/// A launch of a plan.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel's name.
    pub kernel: &'static str,
    /// What it is part of.
    pub label: Label,
    /// Its arithmetic and traffic.
    pub cost: Cost,
    /// Its place among the commands of the plan, copies included.
    pub place: usize,
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
    pub(super) fn new(device: &Device, recording: Recording, passes: &Passes) -> Result<Self> {
        let (recording, again) = recomputed(device, passes.rewritten(device, recording), passes)?;
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
        let summary = Summary { recomputed: again, ..summary };
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
        let is_tight = shared(recording, &uses)?.1;
        let mut slots = Slots { device: Some(device), uses, is_tight, free: Vec::new(), all: Vec::new() };
        let mut bound = Vec::with_capacity(recording.commands.len());
        for (at, command) in recording.commands.iter().enumerate() {
            summary.unshared_bytes += slots.place_all(command)?;
            bound.push(slots.bind(command, &recording.labels[at], &mut summary));
            slots.retire(at, command);
        }
        summary.transient_bytes = slots.bytes();
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

/// Bytes of memory that the intermediate results of a recording will take, after sharing; nothing is allocated. `known` says of the buffers of another
/// recording which of them are persistent, where both are held at once.
pub(super) fn transient_bytes(recording: &Recording, known: Option<&Uses>) -> Result<u64> {
    Ok(shared(recording, &Uses::among(recording, known))?.0)
}

/// The fewest bytes of the intermediate results, and whether tight slots need no more than others.
fn shared(recording: &Recording, uses: &Uses) -> Result<(u64, bool)> {
    let bytes = |is_tight: bool| -> Result<u64> {
        let uses = Uses::among(recording, Some(uses));
        let mut slots = Slots { device: None, uses, is_tight, free: Vec::new(), all: Vec::new() };
        for (at, command) in recording.commands.iter().enumerate() {
            slots.place_all(command)?;
            slots.retire(at, command);
        }
        Ok(slots.bytes())
    };
    let (loose, tight) = (bytes(false)?, bytes(true)?);
    Ok((loose.min(tight), tight <= loose))
}

/// Where each buffer is used and how many handles the recording has, sorted by key.
pub(super) struct Uses(Vec<(*const Slot, Use)>);

pub(super) struct Use {
    handles: usize,
    /// The first command that uses it, and the place among the command's views.
    first: (usize, usize),
    first_write: usize,
    first_read: usize,
    last: usize,
    /// Its slot of the plan's memory while it is in use.
    slot: Option<usize>,
    is_persistent: bool,
}

impl Uses {
    pub(super) fn of(recording: &Recording) -> Self {
        Self::among(recording, None)
    }

    fn among(recording: &Recording, known: Option<&Self>) -> Self {
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

    fn place(&self, buffer: &Buffer) -> std::result::Result<usize, usize> {
        self.0.binary_search_by_key(&buffer.key(), |(key, _)| *key)
    }

    /// The use of a buffer; a new one begins at `first`.
    fn entry(&mut self, buffer: &Buffer, first: (usize, usize)) -> &mut Use {
        let at = self.place(buffer).unwrap_or_else(|at| {
            let never = usize::MAX;
            let unused = Use {
                handles: 0,
                first,
                first_write: never,
                first_read: never,
                last: 0,
                slot: None,
                is_persistent: false,
            };
            self.0.insert(at, (buffer.key(), unused));
            at
        });
        &mut self.0[at].1
    }

    pub(super) fn get(&self, buffer: &Buffer) -> &Use {
        &self.0[self.place(buffer).expect("a buffer of the recording")].1
    }

    fn slot(&mut self, buffer: &Buffer) -> &mut Option<usize> {
        let at = self.place(buffer).expect("a buffer of the recording");
        &mut self.0[at].1.slot
    }

    pub(super) fn is_persistent(&self, buffer: &Buffer) -> bool {
        self.get(buffer).is_persistent
    }

    /// Held outside the recording, already holding data, or read before written: it must keep its contents between runs.
    fn must_persist(&self, buffer: &Buffer) -> bool {
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
    /// `None` if memory is only counted.
    device: Option<&'a Device>,
    uses: Uses,
    /// Whether a block is left for larger results if only half of it or less is needed.
    is_tight: bool,
    free: Vec<usize>,
    all: Vec<(Memory, usize)>,
}

impl Drop for Slots<'_> {
    fn drop(&mut self) {
        let Some(device) = self.device else { return };
        for &(memory, words) in &self.all {
            device.0.release(memory, words);
        }
    }
}

impl Slots<'_> {
    /// Bytes of all blocks.
    fn bytes(&self) -> u64 {
        self.all.iter().map(|(_, words)| 4 * *words as u64).sum()
    }

    /// Assigns blocks to what a command uses. Returns the bytes that they would need without sharing.
    fn place_all(&mut self, command: &Command) -> Result<u64> {
        command.writes().iter().chain(command.reads()).map(|view| self.place(&view.buffer)).sum()
    }

    /// Assigns a block to a transient buffer. Returns the bytes it would need without sharing, or zero if it already has memory.
    fn place(&mut self, buffer: &Buffer) -> Result<u64> {
        let is_placed = buffer.0.memory.get().is_some() || self.uses.get(buffer).slot.is_some();
        // What is only counted has no memory yet.
        if is_placed || (self.device.is_none() && self.uses.is_persistent(buffer)) {
            return Ok(0);
        }
        let words = size_class(buffer.words());
        let fits = |&(_, &slot): &(usize, &usize)| {
            let size = self.all[slot].1;
            size >= words && !(self.is_tight && size >= 2 * words)
        };
        let best = self.free.iter().enumerate().filter(fits).min_by_key(|&(_, &slot)| self.all[slot].1);
        let slot = if let Some((at, _)) = best {
            self.free.swap_remove(at)
        } else {
            let memory = self.device.map_or(Ok(Memory(0)), |device| device.0.take(words, buffer.0.tag, true))?;
            self.all.push((memory, words));
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

    fn bind(&self, command: &Command, label: &Label, summary: &mut Summary) -> Bound {
        let regions = |views: &[View]| views.iter().map(|view| self.region(view)).collect();
        let place = summary.launches.len() + summary.copies.len();
        match command {
            Command::Dispatch(dispatch) => {
                let cost = (dispatch.kernel.cost)(dispatch);
                summary.cost = summary.cost + cost;
                summary.launches.push(Launch { kernel: dispatch.kernel.name, label: label.clone(), cost, place });
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
            Command::Copy { from, to } => {
                let cost = Cost { flops: 0, bytes: 8 * from.words as u64 };
                summary.copies.push(Launch { kernel: "copy", label: label.clone(), cost, place });
                Bound::Copy { from: self.region(from), to: self.region(to) }
            }
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
