//! Devices: what a kernel is, and how a recording of kernels runs on buffers of words.
//! Nothing here depends on a particular kernel, on tensor shapes or on gradients.

mod adapter;
mod capture;
mod compose;
mod cpu;
#[cfg(not(target_arch = "wasm32"))]
pub mod cuda;
mod dry;
#[cfg(not(target_arch = "wasm32"))]
mod encode;
#[cfg(target_arch = "wasm32")]
#[path = "encode_web.rs"]
mod encode;
mod geometry;
mod halves;
mod in_place;
mod inner;
mod kernel;
mod liveness;
mod passes;
mod plan;
mod pool;
mod product;
mod recompute;
mod recording;
mod request;
mod signal;
mod source;
mod subgroups;
mod switches;
mod table;
mod tag;
mod timed;
#[cfg(not(target_arch = "wasm32"))]
mod timestamps;
#[cfg(target_arch = "wasm32")]
#[path = "timestamps_web.rs"]
mod timestamps;
mod webgpu;

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

pub use adapter::{MATRICES_BYTES, MATRICES_FEATURE};
pub use compose::{compose, compose_sized};
pub use geometry::{Geometries, Geometry, MANY_ROWS};
pub use halves::Halves;
pub use kernel::{Body, Bound, Call, Case, Cost, Expected, Field, Fuse, InPlace, Kernel, SharedBody, groups};
pub use passes::{Choice, Passes};
pub use plan::{Bound as BoundCommand, Code, Launch, Plan, Region, Summary};
pub use product::{Factor, Numbers, Product, Products};
pub use recompute::{Outline, Recompute};
pub use recording::{Buffer, Command, Dispatch, Label, Memory, Recording, VIEW_WORDS, View};
pub use request::Request;
pub use source::{lean, lean_length};
pub use subgroups::EXCHANGE;
pub use table::{AUTO, Entry, choices, entries, find, split};
pub use tag::{Block, MemoryWatch, Tag};
pub use timed::Timings;

use crate::error::{Error, Result};
use pool::Pool;
use recording::Slot;

/// The devices in the order in which `auto` tries them.
#[cfg(not(target_arch = "wasm32"))]
static DEVICES: [&Entry; 4] = [&cuda::ENTRY, &webgpu::ENTRY, &cpu::ENTRY, &dry::ENTRY];
#[cfg(target_arch = "wasm32")]
static DEVICES: [&Entry; 3] = [&webgpu::ENTRY, &cpu::ENTRY, &dry::ENTRY];

/// The contract of a device: blocks of words and prepared commands, and no op names.
pub trait Backend {
    /// What the device is and what it can do.
    fn info(&self) -> &Info;
    /// A new block of `words` words; contents unspecified.
    fn allocate(&self, words: usize) -> Result<Memory>;
    /// Frees a block.
    fn free(&self, memory: Memory);
    /// Copies words in, ordered after everything run before.
    fn write(&self, memory: Memory, offset: usize, data: &[u32]) -> Result<()>;
    /// Compiles and binds commands for any number of runs.
    fn prepare(&self, commands: Vec<BoundCommand>) -> Result<Box<dyn Prepared>>;
    /// Runs prepared commands `times` times in order.
    fn run(&self, prepared: &dyn Prepared, times: usize) -> Result<()>;
    /// The same, with every command measured; `None` if the device cannot measure commands. Everything is submitted before this returns, and the
    /// future waits for the end.
    fn run_timed(&self, prepared: &dyn Prepared, times: usize) -> Option<table::Soon<'static, Result<Timings>>> {
        let _ = (prepared, times);
        None
    }
    /// Waits for everything before it and copies words out.
    fn read(&self, region: Region) -> Pin<Box<dyn Future<Output = Result<Vec<u32>>> + '_>>;
    /// Copies words out at once, if nothing has to be waited for.
    fn read_now(&self, region: Region, out: &mut [u32]) -> bool {
        let _ = (region, out);
        false
    }
    /// Whether matrix products can be left to a library.
    fn has_library(&self) -> Result<bool> {
        Ok(false)
    }
    /// Counts of pipelines compiled and bind groups created.
    fn made(&self) -> (u64, u64);
}

/// A plan's commands, compiled by a backend for itself.
pub trait Prepared: Any {}

/// A device and its capabilities.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Info {
    /// The name of its [`Entry`]: `cuda`, `webgpu`, `cpu`, `dry`.
    pub device: &'static str,
    /// The adapter or processor.
    pub name: String,
    /// The driver or instruction set behind it.
    pub driver: String,
    /// How it runs kernels.
    pub execution: Execution,
    /// How kernels split their work for it.
    pub tiles: Tiles,
    /// Whether it is a GPU implemented in software. `auto` does not choose it.
    pub is_software: bool,
    /// Threads that run kernels; 1 if the device schedules them itself.
    pub threads: usize,
    /// Largest buffer a kernel may bind, in bytes.
    pub max_binding_bytes: u64,
    /// Memory shared by a workgroup, in bytes.
    pub workgroup_bytes: u32,
    /// Lanes of a workgroup that exchange values without a barrier: the smallest subgroup, or 1 without subgroups.
    pub subgroup: u32,
    /// Optional features it offers, by name.
    pub features: Vec<String>,
}

/// How a device runs kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Execution {
    /// It calls each kernel's CPU path.
    CpuPath,
    /// It compiles and runs each kernel's WGSL.
    Shaders,
    /// It only counts them.
    Nothing,
}

/// How kernels split their work for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tiles {
    /// Many small tiles, each for a workgroup. For GPUs.
    ManySmall,
    /// Few large tiles, about one workgroup for each core, in large register tiles. For llvmpipe.
    FewLarge,
    /// A tile for each invocation, with loads at addresses known at compile time. For SwiftShader.
    PerInvocation,
}

impl Info {
    /// Whether it calls each kernel's CPU path.
    pub fn runs_cpu_path(&self) -> bool {
        self.execution == Execution::CpuPath
    }

    /// How kernels split their work. Browsers on llvmpipe are too rare for the bytes of its shaders, so the browser build leaves them out.
    pub(crate) fn tiles(&self) -> Tiles {
        match self.tiles {
            Tiles::PerInvocation => Tiles::PerInvocation,
            Tiles::FewLarge if !cfg!(target_arch = "wasm32") => Tiles::FewLarge,
            _ => Tiles::ManySmall,
        }
    }

    /// Whether kernels may use cooperative matrices. No browser has them, so the browser build leaves their shaders out.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "so that the compiler sees where it is never true")]
    pub fn has_matrices(&self) -> bool {
        !cfg!(target_arch = "wasm32") && self.features.iter().any(|feature| feature == MATRICES_FEATURE)
    }
}

/// What a device did, in numbers; tests use it to detect changes of cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counters {
    /// Kernel launches and copies run.
    pub launches: u64,
    /// Pipelines compiled.
    pub pipelines: u64,
    /// Bind groups created.
    pub bind_groups: u64,
    /// Bytes uploaded.
    pub uploaded_bytes: u64,
    /// Readbacks.
    pub readbacks: u64,
    /// Bytes of device memory in use now.
    pub live_bytes: u64,
    /// The most bytes ever in use.
    pub peak_bytes: u64,
    /// Floating-point operations of everything run.
    pub flops: u64,
}

/// A handle to an open device. Clones share the device.
#[derive(Clone)]
pub struct Device(Rc<Inner>);

struct Inner {
    backend: Box<dyn Backend>,
    pending: RefCell<Recording>,
    pool: RefCell<Pool>,
    counters: Cell<Counters>,
    is_capturing: Cell<bool>,
    label: RefCell<Label>,
    tag: Cell<Tag>,
    watch: RefCell<Option<Rc<dyn MemoryWatch>>>,
    geometries: Cell<geometry::Chosen>,
}

/// Unused memory that is always kept for reuse.
const POOLED_BYTES: usize = 64 << 20;

impl Device {
    /// Opens a device by name. `auto` opens a hardware adapter if there is one, else the CPU; software adapters only open by name.
    pub async fn open(request: &Request) -> Result<Self> {
        let opened = Self::over(table::open(request).await?);
        let device = opened.info().device;
        if request.products.needs_library() && !opened.0.backend.has_library()? {
            return Err(Error::usage(format!(
                "products: device \"{device}\" has no library for them: expected device cuda with cuBLAS, or products fastest or own"
            )));
        }
        opened.0.geometries.set(request.geometries.into());
        Ok(opened)
    }

    /// Describes every device that is here, best first, without opening it.
    pub async fn list() -> Vec<Info> {
        table::list().await
    }

    /// The CPU device, for callers that cannot wait. Panics where the system cannot start the threads; `open` returns an error.
    pub fn cpu(threads: usize) -> Self {
        Self::over(Box::new(cpu::Cpu::new(threads.max(1)).unwrap_or_else(|error| panic!("{error}"))))
    }

    /// The dry device: plans and counts, and runs nothing.
    pub fn dry() -> Self {
        Self::over(Box::new(dry::Dry::new(2)))
    }

    /// A device of the caller's own.
    pub fn over(backend: Box<dyn Backend>) -> Self {
        Self(Rc::new(Inner {
            backend,
            pending: RefCell::default(),
            pool: RefCell::default(),
            counters: Cell::default(),
            is_capturing: Cell::new(false),
            label: RefCell::default(),
            tag: Cell::default(),
            watch: RefCell::default(),
            geometries: Cell::new(Geometries::Fixed(Geometry::DEFAULT).into()),
        }))
    }

    /// The device and its capabilities.
    pub fn info(&self) -> &Info {
        self.0.backend.info()
    }

    /// What it did so far, in numbers.
    pub fn counters(&self) -> Counters {
        let (pipelines, bind_groups) = self.0.backend.made();
        Counters { pipelines, bind_groups, ..self.0.counters.get() }
    }

    /// A buffer of `words` words without memory.
    pub fn buffer(&self, words: usize) -> Buffer {
        self.slot(words, false, None)
    }

    /// The same for words that are all floats, which a plan may store in 16 bits.
    pub fn floats(&self, words: usize) -> Buffer {
        self.slot(words, true, None)
    }

    fn slot(&self, words: usize, holds_floats: bool, refused: Option<Error>) -> Buffer {
        let device = Rc::downgrade(&self.0);
        Buffer(Rc::new(Slot { words, holds_floats, tag: self.0.tag.get(), memory: Cell::new(None), refused, device }))
    }

    /// A buffer holding `data`. A capture may call this: no recorded command refers to the new buffer.
    pub fn upload(&self, data: &[u32]) -> Result<Buffer> {
        let buffer = self.buffer(data.len());
        self.put(&buffer, 0, data)?;
        Ok(buffer)
    }

    /// A buffer holding `data`, for code that records and cannot fail. If the device refuses it, every plan or read that uses the buffer fails
    /// with the reason.
    pub fn constant(&self, data: &[u32]) -> Buffer {
        self.upload(data).unwrap_or_else(|error| self.slot(data.len(), false, Some(error)))
    }

    /// Overwrites words of a buffer, ordered after everything recorded before.
    pub fn write(&self, buffer: &Buffer, offset: usize, data: &[u32]) -> Result<()> {
        assert!(
            offset + data.len() <= buffer.words(),
            "write: {} words at {offset} into {}",
            data.len(),
            buffer.words()
        );
        self.flush()?;
        self.put(buffer, offset, data)
    }

    fn put(&self, buffer: &Buffer, offset: usize, data: &[u32]) -> Result<()> {
        self.back(buffer)?;
        let Some(memory) = buffer.0.memory.get() else { return Ok(()) };
        self.0.count(|counters| counters.uploaded_bytes += 4 * data.len() as u64);
        self.0.backend.write(memory, offset, data)
    }

    /// Runs everything recorded so far.
    pub fn flush(&self) -> Result<()> {
        assert!(!self.0.is_capturing.get(), "capture: no run or read is possible while a plan is recorded");
        let recording = std::mem::take(&mut *self.0.pending.borrow_mut());
        if recording.commands.is_empty() {
            return Ok(());
        }
        Plan::new(self, recording, &Passes::default())?.run(1)
    }

    /// Waits for the work before it and copies a view out.
    pub async fn read(&self, view: &View) -> Result<Vec<u32>> {
        let region = self.readable(view)?;
        self.0.backend.read(region).await
    }

    /// Copies a view out without waiting. Errors on a device that does not compute on the CPU.
    pub fn read_now(&self, view: &View, out: &mut [u32]) -> Result<()> {
        let region = self.readable(view)?;
        if self.0.backend.read_now(region, out) {
            return Ok(());
        }
        Err(Error::usage(format!(
            "read: {} computes while the program goes on; its results have to be waited for",
            self.info().device
        )))
    }

    /// Where a view is in memory, once the work before it has been submitted.
    fn readable(&self, view: &View) -> Result<Region> {
        self.flush()?;
        let slot = &view.buffer.0;
        let empty = || slot.refused.clone().unwrap_or_else(|| Error::usage("read: the buffer was never written"));
        let memory = slot.memory.get().ok_or_else(empty)?;
        self.0.count(|counters| counters.readbacks += 1);
        Ok(Region { memory, offset: view.offset, words: view.words })
    }

    /// Frees the memory of a buffer that never received contents.
    fn unback(&self, buffer: &Buffer) {
        if let Some(memory) = buffer.0.memory.take() {
            self.0.release(memory, buffer.words());
        }
    }

    /// Allocates a buffer's memory if it has none.
    fn back(&self, buffer: &Buffer) -> Result<()> {
        if let Some(error) = &buffer.0.refused {
            return Err(error.clone());
        }
        if buffer.0.memory.get().is_none() {
            buffer.0.memory.set(Some(self.0.take(buffer.words(), buffer.0.tag, false)?));
        }
        Ok(())
    }
}
