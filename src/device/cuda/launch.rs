//! A plan's launches with their arguments, run one by one, as a CUDA graph of many steps, or as one kernel that runs many steps.

use std::cell::{Cell, OnceCell, RefCell};
use std::ffi::c_void;
use std::rc::Rc;
use std::sync::Arc;

use cudarc::driver::result::{
    free_sync, launch_cooperative_kernel, launch_kernel, malloc_sync, memcpy_dtod_async, memset_d8_async, module,
};
use cudarc::driver::sys::{CUdeviceptr, CUfunction, CUgraphInstantiate_flags, CUmodule, CUstreamCaptureMode};
use cudarc::driver::{CudaContext, CudaGraph, CudaStream, DriverError};

use super::driver::failed;
use super::library::Library;
use super::print::Arguments;
use crate::device::backend::Prepared;
use crate::device::record::{BoundCommand, Product};
use crate::device::timings::Timings;
use crate::{error, host};

/// Commands of one graph: enough to hide what launching it costs, few enough to make it in milliseconds.
const GRAPH_COMMANDS: usize = 512;
/// Steps of one graph, at most.
const GRAPH_STEPS: usize = 64;
/// Steps of one launch of a whole: what a launch costs is hidden, and the GPU is not busy with it for long.
const WHOLE_STEPS: usize = 256;

/// A kernel in the GPU's memory.
pub(super) struct Loaded {
    pub(super) function: CUfunction,
    pub(super) module: CUmodule,
    /// The module lives in it.
    pub(super) context: Arc<CudaContext>,
    pub(super) threads: u32,
    pub(super) shared_bytes: u32,
    /// What it takes, in the order of its arguments.
    pub(super) arguments: Vec<Arguments>,
}

impl Drop for Loaded {
    #[allow(unsafe_code, reason = "the driver unloads it")]
    fn drop(&mut self) {
        let _ = self.context.bind_to_thread();
        // SAFETY: plans hold their kernels, and a device waits for its stream before it drops them.
        let _ = unsafe { module::unload(self.module) };
    }
}

/// One command of a plan.
pub(super) enum Command {
    Launch(Launch),
    /// A product left to the library: both operands, and the output.
    Product {
        library: Rc<Library>,
        product: Product,
        places: [CUdeviceptr; 3],
    },
    Copy {
        from: CUdeviceptr,
        to: CUdeviceptr,
        bytes: usize,
    },
}

/// A kernel with its arguments.
pub(super) struct Launch {
    kernel: Rc<Loaded>,
    grid: [u32; 3],
    values: Vec<Value>,
}

/// An argument.
enum Value {
    /// A pointer, or a number in the lower half.
    Word(u64),
    /// A uniform, as aligned as a vector of four.
    Uniform(Vec<u128>),
}

impl Value {
    fn place(&self) -> *mut c_void {
        match self {
            Self::Word(word) => std::ptr::from_ref(word).cast_mut().cast(),
            Self::Uniform(words) => words.as_ptr().cast_mut().cast(),
        }
    }
}

/// What the bindings of a kernel are: pointers with their bytes, and the words of the uniform.
pub(super) type Bound<'a> = (Vec<(CUdeviceptr, u32)>, &'a [u32]);

impl Launch {
    /// `bound` has an element for each kernel in it.
    pub(super) fn new(kernel: Rc<Loaded>, grid: [u32; 3], bound: &[Bound<'_>]) -> Self {
        let mut values = Vec::new();
        for (Arguments { bindings, has_uniform }, (buffers, params)) in kernel.arguments.iter().zip(bound) {
            for (pointer, bytes) in bindings.iter().map(|&binding| buffers[binding as usize]) {
                values.extend([Value::Word(pointer), Value::Word(u64::from(bytes))]);
            }
            if *has_uniform {
                let mut uniform = vec![0_u128; params.len().div_ceil(4).max(1)];
                bytemuck::cast_slice_mut::<_, u32>(&mut uniform)[..params.len()].copy_from_slice(params);
                values.push(Value::Uniform(uniform));
            }
        }
        Self { kernel, grid, values }
    }

    /// Starts it with more arguments than its own.
    #[allow(unsafe_code, reason = "the driver launches it")]
    fn start(&self, stream: &CudaStream, more: &[Value], is_cooperative: bool) -> Result<(), DriverError> {
        let mut arguments: Vec<*mut c_void> = self.values.iter().chain(more).map(Value::place).collect();
        let [x, y, z] = self.grid;
        let launch = if is_cooperative { launch_cooperative_kernel } else { launch_kernel };
        let Loaded { function, threads, shared_bytes, .. } = *self.kernel;
        // SAFETY: the arguments are those that the printed kernel declares (`Printed::arguments`); the driver reads 8 bytes for a pointer and the lower
        // 4 for a number, both little-endian here, and copies them before it returns.
        unsafe { launch(function, (x, y, z), (threads, 1, 1), shared_bytes, stream.cu_stream(), &mut arguments) }
    }
}

/// All launches of a plan in one kernel.
pub(super) struct Whole {
    launch: Launch,
    /// The counter of its barriers.
    counter: CUdeviceptr,
}

impl Whole {
    #[allow(unsafe_code, reason = "the driver allocates")]
    pub(super) fn new(kernel: Rc<Loaded>, blocks: u32, bound: &[Bound<'_>]) -> Result<Self, DriverError> {
        kernel.context.bind_to_thread()?;
        // SAFETY: a context is bound; the counter is written before each launch.
        let counter = unsafe { malloc_sync(size_of::<u32>()) }?;
        Ok(Self { launch: Launch::new(kernel, [blocks, 1, 1], bound), counter })
    }

    #[allow(unsafe_code, reason = "the driver writes the counter")]
    fn run(&self, stream: &CudaStream, times: usize) -> Result<(), DriverError> {
        let mut left = times;
        while left > 0 {
            let turns = left.min(WHOLE_STEPS);
            // SAFETY: the counter lives as long as this.
            unsafe { memset_d8_async(self.counter, 0, size_of::<u32>(), stream.cu_stream()) }?;
            self.launch.start(stream, &[Value::Word(self.counter), Value::Word(turns as u64)], true)?;
            left -= turns;
        }
        Ok(())
    }
}

impl Drop for Whole {
    #[allow(unsafe_code, reason = "the driver frees")]
    fn drop(&mut self) {
        let _ = self.launch.kernel.context.bind_to_thread();
        // SAFETY: the driver waits for the launches that use it.
        let _ = unsafe { free_sync(self.counter) };
    }
}

impl Command {
    #[allow(unsafe_code, reason = "the driver copies")]
    fn start(&self, stream: &CudaStream) -> error::Result<()> {
        match self {
            Self::Launch(launch) => launch.start(stream, &[], false).map_err(failed),
            Self::Product { library, product, places } => library.multiply(product, *places),
            Self::Copy { from, to, bytes } => {
                // SAFETY: a plan's regions lie inside live blocks, and those of a copy do not overlap.
                unsafe { memcpy_dtod_async(*to, *from, *bytes, stream.cu_stream()) }.map_err(failed)
            }
        }
    }
}

/// A plan's commands.
pub(super) struct Steps {
    pub(super) commands: Vec<BoundCommand>,
    /// The commands one by one. Where there is a whole, they are made when they are timed.
    pub(super) singles: OnceCell<Vec<Command>>,
    pub(super) whole: Option<Whole>,
    /// Several runs as one launch, made when the plan is run often enough.
    graph: RefCell<Option<CudaGraph>>,
    has_run: Cell<bool>,
}

impl Prepared for Steps {}

impl Steps {
    pub(super) fn new(commands: Vec<BoundCommand>, whole: Option<Whole>) -> Self {
        let (singles, graph, has_run) = (OnceCell::new(), RefCell::default(), Cell::new(false));
        Self { commands, singles, whole, graph, has_run }
    }

    /// Runs in one launch of the graph.
    fn window(&self) -> usize {
        (GRAPH_COMMANDS / self.commands.len().max(1)).clamp(1, GRAPH_STEPS)
    }

    /// Runs the commands `times` times: as graphs of many runs, and the remainder one by one.
    pub(super) fn run(&self, stream: &Arc<CudaStream>, times: usize) -> error::Result<()> {
        stream.context().bind_to_thread().map_err(failed)?;
        if let Some(whole) = &self.whole {
            return whole.run(stream, times).map_err(failed);
        }
        let window = self.window();
        // Most recordings run once and are not worth a graph.
        let has_run = self.has_run.replace(true);
        let is_worth_it = has_run || times > window;
        let mut left = times;
        // The library prepares itself in its first call, which a capture does not allow.
        let is_first_product =
            !has_run && self.singles().iter().any(|command| matches!(command, Command::Product { .. }));
        if is_first_product && left > 0 {
            self.once(stream)?;
            left -= 1;
        }
        let graphs = if is_worth_it { left / window } else { 0 };
        if graphs > 0 && self.graph.borrow().is_none() {
            *self.graph.borrow_mut() = self.captured(stream, window)?;
        }
        let graph = self.graph.borrow();
        if let Some(graph) = &*graph {
            for _ in 0..graphs {
                graph.launch().map_err(failed)?;
                left -= window;
            }
        }
        (0..left).try_for_each(|_| self.once(stream))
    }

    fn singles(&self) -> &[Command] {
        self.singles.get().expect("the device makes them before it runs them")
    }

    fn once(&self, stream: &CudaStream) -> error::Result<()> {
        self.singles().iter().try_for_each(|command| command.start(stream))
    }

    fn captured(&self, stream: &Arc<CudaStream>, window: usize) -> error::Result<Option<CudaGraph>> {
        stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).map_err(failed)?;
        let recorded = (0..window).try_for_each(|_| self.once(stream));
        let graph = stream.end_capture(CUgraphInstantiate_flags(0));
        recorded?;
        graph.map_err(failed)
    }

    /// Runs the commands one by one with an event after each, and waits.
    pub(super) fn run_timed(&self, stream: &Arc<CudaStream>, times: usize) -> error::Result<Timings> {
        stream.synchronize().map_err(failed)?;
        let start = host::now_ms();
        let flags = Some(cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT);
        let first = stream.record_event(flags).map_err(failed)?;
        let mut events = Vec::with_capacity(times * self.commands.len());
        for command in (0..times).flat_map(|_| self.singles()) {
            command.start(stream)?;
            events.push(stream.record_event(flags).map_err(failed)?);
        }
        stream.synchronize().map_err(failed)?;
        let wall = [start, host::now_ms()];
        let mut spans = Vec::with_capacity(events.len());
        let mut last = 0.0;
        for event in &events {
            let end = f64::from(first.elapsed_ms(event).map_err(failed)?);
            spans.push([last, end]);
            last = end;
        }
        Ok(Timings::new(self.commands.len(), wall, spans))
    }
}
