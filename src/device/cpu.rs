//! The CPU device: blocks of words in host memory, and the kernels' CPU paths on a thread pool.

use std::any::Any;
use std::cell::RefCell;
use std::future::{Future, ready};
use std::pin::Pin;

use super::backend::{Backend, Entry, Prepared, Soon};
use super::info::{Execution, Info, Tiles};
use super::record::{BoundCommand, Call, Kernel, Memory, Region, SharedBody};
use super::timings::Timings;
use crate::error::{Error, Result};
use crate::host::{self, ThreadPool};

pub(super) struct Cpu {
    info: Info,
    pool: ThreadPool,
    blocks: RefCell<Vec<Vec<Line>>>,
    spare: RefCell<Vec<Memory>>,
}

/// A cache line: blocks start on one, so vector loads do not straddle.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
struct Line([u32; 16]);

const LINE_WORDS: usize = 16;
/// Inputs or outputs of a launch, at most: more than a GPU has bindings.
const MOST_VIEWS: usize = 10;

pub(super) static ENTRY: Entry = Entry {
    name: "cpu",
    summary: "the processor: SIMD and threads",
    is_here: true,
    is_choice: true,
    open: |opening| {
        let cpu = Cpu::new(opening.request.threads());
        Box::pin(ready(cpu.map(|cpu| Box::new(cpu) as Box<dyn Backend>)))
    },
    list: || Box::pin(ready(vec![describe(host::threads())])),
};

fn describe(threads: usize) -> Info {
    Info {
        device: ENTRY.name,
        name: host::processor(),
        driver: host::instruction_set(),
        execution: Execution::CpuPath,
        tiles: Tiles::ManySmall,
        is_software: false,
        threads,
        max_binding_bytes: u64::from(u32::MAX),
        workgroup_bytes: 0,
        subgroup: 1,
        features: Vec::new(),
    }
}

impl Cpu {
    pub(super) fn new(threads: usize) -> Result<Self> {
        let pool = ThreadPool::new(threads)?;
        Ok(Self { info: describe(threads), pool, blocks: RefCell::default(), spare: RefCell::default() })
    }

    fn launch(&self, launch: &Launch) {
        let mut blocks = self.blocks.borrow_mut();
        let mut base = |region: &Region| {
            let block = &mut blocks[region.memory.0 as usize];
            let end = region.offset.checked_add(region.words);
            let is_inside = end.is_some_and(|end| end <= block.len() * LINE_WORDS);
            assert!(is_inside, "{}: region past its block", launch.kernel.name);
            block.as_mut_ptr().cast::<u32>().wrapping_add(region.offset)
        };
        // Why the slices below are sound: `base` checks that the region lies inside a live block. Inputs and outputs of a dispatch never share
        // a buffer (`Device::record` and the plan's liveness ensure it), outputs are distinct, and the blocks outlive
        // the call: `free` and `allocate` cannot run while `self.blocks` is borrowed. Taking a pointer into a block again does not move the block.
        #[allow(unsafe_code, reason = "kernels see several regions of the block table at once, some of them mutable")]
        let inputs: [&[u32]; MOST_VIEWS] = std::array::from_fn(|at| match launch.inputs.get(at) {
            // SAFETY: as said above.
            Some(region) => unsafe { std::slice::from_raw_parts(base(region).cast_const(), region.words) },
            None => &[],
        });
        #[allow(unsafe_code, reason = "as above")]
        let mut outputs: [&mut [u32]; MOST_VIEWS] = std::array::from_fn(|at| match launch.outputs.get(at) {
            // SAFETY: as said above.
            Some(region) => unsafe { std::slice::from_raw_parts_mut(base(region), region.words) },
            None => &mut [],
        });
        let (inputs, outputs) = (&inputs[..launch.inputs.len()], &mut outputs[..launch.outputs.len()]);
        let body = launch.body.as_deref();
        let (params, pool) = (&launch.params[..], &self.pool);
        (launch.kernel.cpu)(Call { params, body, inputs, outputs, pool });
    }

    /// Runs the commands in order, and calls `after` after each. Returns their number.
    fn replay(&self, prepared: &dyn Prepared, times: usize, mut after: impl FnMut()) -> usize {
        let Program(steps) = (prepared as &dyn Any).downcast_ref().expect("a plan runs on the device it was made for");
        for step in std::iter::repeat_n(steps, times).flatten() {
            match step {
                Step::Launch(launch) => self.launch(launch),
                Step::Copy(from, to) => self.copy(*from, *to),
            }
            after();
        }
        steps.len()
    }

    fn copy(&self, from: Region, to: Region) {
        let mut blocks = self.blocks.borrow_mut();
        let source = words(&blocks[from.memory.0 as usize])[from.offset..from.offset + from.words].to_vec();
        words_mut(&mut blocks[to.memory.0 as usize])[to.offset..to.offset + to.words].copy_from_slice(&source);
    }
}

impl Drop for Cpu {
    fn drop(&mut self) {
        for block in self.blocks.get_mut() {
            host::release(size_of_val(&block[..]));
        }
    }
}

fn words(block: &[Line]) -> &[u32] {
    bytemuck::cast_slice(block)
}

fn words_mut(block: &mut [Line]) -> &mut [u32] {
    bytemuck::cast_slice_mut(block)
}

struct Launch {
    kernel: &'static Kernel,
    body: Option<SharedBody>,
    params: Vec<u32>,
    inputs: Vec<Region>,
    outputs: Vec<Region>,
}

enum Step {
    Launch(Launch),
    Copy(Region, Region),
}

struct Program(Vec<Step>);

impl Prepared for Program {}

impl Backend for Cpu {
    fn info(&self) -> &Info {
        &self.info
    }

    fn allocate(&self, words: usize) -> Result<Memory> {
        let lines = words.div_ceil(LINE_WORDS);
        let mut block = Vec::new();
        let bytes = lines * size_of::<Line>();
        if !host::claim(bytes) || host::trying(|| block.try_reserve_exact(lines)).is_err() {
            host::release(bytes);
            let [needed, most] = [bytes as u64, host::memory_bytes()].map(host::gib);
            let what = format!("cpu: a buffer does not fit in memory: got {needed}, expected at most {most}");
            return Err(Error::device(what));
        }
        block.resize(lines, Line([0; 16]));
        let mut blocks = self.blocks.borrow_mut();
        let memory = self.spare.borrow_mut().pop().unwrap_or(Memory(blocks.len() as u32));
        if memory.0 as usize == blocks.len() {
            blocks.push(block);
        } else {
            blocks[memory.0 as usize] = block;
        }
        Ok(memory)
    }

    fn free(&self, memory: Memory) {
        let block = std::mem::take(&mut self.blocks.borrow_mut()[memory.0 as usize]);
        host::release(size_of_val(&block[..]));
        self.spare.borrow_mut().push(memory);
    }

    fn write(&self, memory: Memory, offset: usize, data: &[u32]) -> Result<()> {
        words_mut(&mut self.blocks.borrow_mut()[memory.0 as usize])[offset..offset + data.len()].copy_from_slice(data);
        Ok(())
    }

    fn prepare(&self, commands: Vec<BoundCommand>) -> Result<Box<dyn Prepared>> {
        let steps = commands.into_iter().map(|command| match command {
            BoundCommand::Dispatch { kernel, body, params, inputs, outputs, .. } => {
                Step::Launch(Launch { kernel, body, params, inputs, outputs })
            }
            BoundCommand::Copy { from, to } => Step::Copy(from, to),
        });
        Ok(Box::new(Program(steps.collect())))
    }

    fn run(&self, prepared: &dyn Prepared, times: usize) -> Result<()> {
        self.replay(prepared, times, || ());
        Ok(())
    }

    fn run_timed(&self, prepared: &dyn Prepared, times: usize) -> Option<Soon<'static, Result<Timings>>> {
        let mut spans: Vec<[f64; 2]> = Vec::new();
        let mut last = host::now_ms();
        let start = last;
        // One reading of the clock ends a command and begins the next.
        let commands = self.replay(prepared, times, || {
            let now = host::now_ms();
            spans.push([last, now]);
            last = now;
        });
        Some(Box::pin(ready(Ok(Timings::new(commands, [start, host::now_ms()], spans)))))
    }

    fn read(&self, region: Region) -> Pin<Box<dyn Future<Output = Result<Vec<u32>>> + '_>> {
        let block = &self.blocks.borrow()[region.memory.0 as usize];
        let data = words(block)[region.offset..region.offset + region.words].to_vec();
        Box::pin(ready(Ok(data)))
    }

    fn read_now(&self, region: Region, out: &mut [u32]) -> bool {
        let block = &self.blocks.borrow()[region.memory.0 as usize];
        out.copy_from_slice(&words(block)[region.offset..region.offset + region.words]);
        true
    }

    fn made(&self) -> (u64, u64) {
        (0, 0)
    }
}
