//! A recording made replayable: pointwise chains are fused, transient buffers share memory by liveness, and everything is bound once.

use super::summary::{Code, Launch, Summary};
use crate::device::backend::{Prepared, Soon};
use crate::device::handle::Device;
use crate::device::passes::{Passes, Sharing, Uses, in_place, recomputed, rewritten};
use crate::device::record::{BoundCommand, Buffer, Command, Cost, Label, Memory, Recording, Region, View};
use crate::device::timings::Timings;
use crate::error::{Error, Result};

/// A replayable plan. `run` repeats it; nothing is bound, compiled or uploaded again.
pub struct Plan {
    device: Device,
    prepared: Box<dyn Prepared>,
    /// Buffers that outlive a run: kept so that their memory is not reused under the plan.
    _held: Vec<Buffer>,
    /// The memory of its intermediate results.
    _blocks: Blocks,
    summary: Summary,
}

/// A plan compiled by a backend, the plan's own memory, and its summary.
type Planned = (Box<dyn Prepared>, Blocks, Summary);

impl Plan {
    pub(super) fn new(device: &Device, recording: Recording, passes: &Passes) -> Result<Self> {
        let (recording, again) = recomputed(device, rewritten(device, recording, passes), passes)?;
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
        let live = uses.live_bytes(recording);
        let binding = Binding { uses, sharing: &sharing, blocks: &blocks, live: &live };
        let labelled = recording.commands.iter().zip(&recording.labels);
        let bound = labelled.map(|(command, label)| binding.bind(command, label, &mut summary)).collect();
        let prepared = device.0.backend.prepare(bound)?;
        Ok((prepared, blocks, summary))
    }

    /// Runs the plan `times` times, in order. Returns once the work is submitted; `Device::read` waits for it.
    pub fn run(&self, times: usize) -> Result<()> {
        self.device.flush()?;
        self.note_run(times);
        self.device.0.backend.run(&*self.prepared, times)
    }

    /// Runs the plan `times` times, in order, measures every command, and waits for the end. Errors if the device cannot measure commands: a GPU does
    /// with timestamps, if it was opened for it (`Request::timestamps`).
    pub async fn run_timed(&self, times: usize) -> Result<Timings> {
        self.start_timed(times)?.await
    }

    /// The same without waiting: everything is submitted when this returns, and the future waits for the end.
    pub(crate) fn start_timed(&self, times: usize) -> Result<Soon<'static, Result<Timings>>> {
        self.device.flush()?;
        let backend = &self.device.0.backend;
        let Some(timed) = backend.run_timed(&*self.prepared, times) else {
            let info = backend.info();
            return Err(Error::usage(format!(
                "profile: device \"{}\" ({}) cannot measure launches: got no timestamps, expected a GPU opened with them, or the device \"cpu\"",
                info.device, info.name
            )));
        };
        self.note_run(times);
        Ok(timed)
    }

    fn note_run(&self, times: usize) {
        self.device.0.count(|counters| {
            counters.launches += (self.summary.launches.len() * times) as u64;
            counters.flops += self.summary.cost.flops * times as u64;
        });
    }

    /// The launches, memory and cost of one run.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }
}

impl Device {
    /// Runs everything recorded so far.
    pub fn flush(&self) -> Result<()> {
        if self.0.is_capturing.get() {
            return Err(Error::usage(
                "read: a value cannot be read while ops are recorded, which would depend on it: choose with ops (ops::select), or read it before",
            ));
        }
        let recording = std::mem::take(&mut *self.0.pending.borrow_mut());
        if recording.commands.is_empty() {
            return Ok(());
        }
        Plan::new(self, recording, &Passes::default())?.run(1)
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
    /// Bytes of intermediate results in use by command.
    live: &'b [u64],
}

impl Binding<'_> {
    fn region(&self, view: &View) -> Region {
        let own = || self.sharing.block(self.uses, &view.buffer).map(|block| self.blocks.taken[block].0);
        let memory = view.buffer.0.memory.get().or_else(own).expect("a buffer has memory before it is bound");
        Region { memory, offset: view.offset, words: view.words }
    }

    fn bind(&self, command: &Command, label: &Label, summary: &mut Summary) -> BoundCommand {
        let regions = |views: &[View]| views.iter().map(|view| self.region(view)).collect();
        let place = summary.launches.len() + summary.copies.len();
        let (label, live_bytes) = (label.clone(), self.live[place]);
        match command {
            Command::Dispatch(dispatch) => {
                let cost = (dispatch.kernel.cost)(dispatch);
                summary.cost = summary.cost + cost;
                let (kernel, body, params) = (dispatch.kernel, dispatch.body.clone(), dispatch.params.clone());
                let code = Some(Code { kernel, body, params });
                summary.launches.push(Launch { kernel: kernel.name, code, label, cost, place, live_bytes });
                BoundCommand::Dispatch {
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
                summary.copies.push(Launch { kernel: "copy", code: None, label, cost, place, live_bytes });
                BoundCommand::Copy { from: self.region(from), to: self.region(to) }
            }
        }
    }
}
