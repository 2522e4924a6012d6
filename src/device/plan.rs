//! A recording made replayable: pointwise chains are fused, transient buffers share memory by liveness, and everything is bound once.

use std::fmt;

use super::in_place::in_place;
use super::kernel::{Cost, Kernel, SharedBody};
use super::liveness::{Sharing, Uses};
use super::passes::Passes;
use super::recompute::recomputed;
use super::recording::{Buffer, Command, Label, Memory, Recording, View};
use super::{Device, Prepared, compose, compose_sized};
use crate::error::Result;

/// A replayable plan. `run` repeats it; nothing is bound, compiled or uploaded again.
pub struct Plan {
    pub(super) device: Device,
    pub(super) prepared: Box<dyn Prepared>,
    /// Buffers that outlive a run: kept so that their memory is not reused under the plan.
    _held: Vec<Buffer>,
    /// The memory of its intermediate results.
    _blocks: Blocks,
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
    /// The same if every buffer had a block of its own; a launch in place has one buffer less.
    pub unshared_bytes: u64,
    /// Bytes of the buffers it reads and writes that outlive it.
    pub persistent_bytes: u64,
    /// How many of the launches compute again what was dropped, and what they cost.
    pub recomputed: (usize, Cost),
}

/// The code of a launch: a kernel, its body and its uniform.
#[derive(Clone)]
pub struct Code {
    kernel: &'static Kernel,
    body: Option<SharedBody>,
    params: Vec<u32>,
}

impl Code {
    /// Its WGSL for a device whose subgroups have so many lanes; 1 without subgroups.
    pub fn wgsl(&self, lanes: u32) -> String {
        compose(self.kernel, self.body.as_ref(), lanes)
    }

    /// The same with its sizes compiled in; `None` if it has none that are worth it.
    pub fn sized_wgsl(&self, lanes: u32) -> Option<String> {
        compose_sized(self.kernel, self.body.as_ref(), &self.params, lanes)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kernel.name)
    }
}

/// A launch of a plan.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel's name.
    pub kernel: &'static str,
    /// Its code; a copy has none.
    pub code: Option<Code>,
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
type Planned = (Box<dyn Prepared>, Blocks, Summary);

impl Plan {
    pub(super) fn new(device: &Device, recording: Recording, passes: &Passes) -> Result<Self> {
        let (recording, again) = recomputed(device, passes.rewritten(device, recording), passes)?;
        let recording = in_place(recording, passes);
        let uses = Uses::of(&recording);
        let held = uses.persistent(&recording);
        let fresh: Vec<&Buffer> = held.iter().filter(|buffer| buffer.0.memory.get().is_none()).collect();
        let planned = Self::planned(device, &recording, &uses, &held);
        if planned.is_err() {
            // The plan did not run, so the buffers that only it would fill must not seem filled.
            for buffer in fresh {
                device.unback(buffer);
            }
        }
        let (prepared, blocks, summary) = planned?;
        let summary = Summary { recomputed: again, ..summary };
        Ok(Self { device: device.clone(), prepared, _held: held, _blocks: blocks, summary })
    }

    fn planned(device: &Device, recording: &Recording, uses: &Uses, held: &[Buffer]) -> Result<Planned> {
        for buffer in held {
            device.back(buffer)?;
        }
        let sharing = Sharing::of(recording, uses);
        let mut summary = Summary {
            persistent_bytes: held.iter().map(|buffer| 4 * buffer.words() as u64).sum(),
            transient_bytes: sharing.bytes(),
            unshared_bytes: sharing.unshared_bytes,
            ..Summary::default()
        };
        let blocks = Blocks::take(device, &sharing)?;
        let binding = Binding { uses, sharing: &sharing, blocks: &blocks };
        let labelled = recording.commands.iter().zip(&recording.labels);
        let bound = labelled.map(|(command, label)| binding.bind(command, label, &mut summary)).collect();
        let prepared = device.0.backend.prepare(bound)?;
        Ok((prepared, blocks, summary))
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

/// Blocks of a device's memory, released with it.
struct Blocks {
    device: Device,
    taken: Vec<(Memory, usize)>,
}

impl Blocks {
    /// Memory for the intermediate results of a plan.
    fn take(device: &Device, sharing: &Sharing) -> Result<Self> {
        let mut blocks = Self { device: device.clone(), taken: Vec::with_capacity(sharing.blocks.len()) };
        for &(words, tag) in &sharing.blocks {
            let memory = device.0.take(words, tag, true)?;
            blocks.taken.push((memory, words));
        }
        Ok(blocks)
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        for &(memory, words) in &self.taken {
            self.device.0.release(memory, words);
        }
    }
}

/// What turns views into memory.
struct Binding<'b> {
    uses: &'b Uses,
    sharing: &'b Sharing,
    blocks: &'b Blocks,
}

impl Binding<'_> {
    fn region(&self, view: &View) -> Region {
        let own = || self.sharing.block(self.uses, &view.buffer).map(|block| self.blocks.taken[block].0);
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
                let (kernel, body, params) = (dispatch.kernel, dispatch.body.clone(), dispatch.params.clone());
                let code = Some(Code { kernel, body, params });
                summary.launches.push(Launch { kernel: kernel.name, code, label: label.clone(), cost, place });
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
                summary.copies.push(Launch { kernel: "copy", code: None, label: label.clone(), cost, place });
                Bound::Copy { from: self.region(from), to: self.region(to) }
            }
        }
    }
}
