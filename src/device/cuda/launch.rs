//! A plan's launches with their arguments, run one by one or as a CUDA graph of many steps.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::rc::Rc;
use std::sync::Arc;

use cudarc::driver::result::{launch_kernel, memcpy_dtod_async, module};
use cudarc::driver::sys::{CUdeviceptr, CUfunction, CUgraphInstantiate_flags, CUmodule, CUstreamCaptureMode};
use cudarc::driver::{CudaContext, CudaGraph, CudaStream, DriverError};

use super::super::Prepared;
use super::super::timed::Timings;
use crate::host;

/// Commands of one graph: enough to hide what launching it costs, few enough to make it in milliseconds.
const GRAPH_COMMANDS: usize = 512;
/// Steps of one graph, at most.
const GRAPH_STEPS: usize = 64;

/// A kernel in the GPU's memory.
pub(super) struct Loaded {
    pub(super) function: CUfunction,
    pub(super) module: CUmodule,
    /// The module lives in it.
    pub(super) context: Arc<CudaContext>,
    pub(super) threads: u32,
    /// The bindings that the kernel takes, in the order of its arguments.
    pub(super) bindings: Vec<u32>,
    pub(super) takes_uniform: bool,
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
    Copy { from: CUdeviceptr, to: CUdeviceptr, bytes: usize },
}

/// A kernel with its arguments.
pub(super) struct Launch {
    kernel: Rc<Loaded>,
    grid: [u32; 3],
    /// Pointers and numbers of bytes, in turn.
    values: Vec<u64>,
    /// The uniform, as aligned as a vector of four.
    uniform: Vec<u128>,
}

impl Launch {
    /// `buffers` are those of the bindings, each with its bytes.
    pub(super) fn new(kernel: Rc<Loaded>, grid: [u32; 3], buffers: &[(CUdeviceptr, u32)], params: &[u32]) -> Self {
        let bound = kernel.bindings.iter().map(|&binding| buffers[binding as usize]);
        let values = bound.flat_map(|(pointer, bytes)| [pointer, u64::from(bytes)]).collect();
        let mut uniform = vec![0_u128; params.len().div_ceil(4).max(1)];
        bytemuck::cast_slice_mut::<_, u32>(&mut uniform)[..params.len()].copy_from_slice(params);
        Self { kernel, grid, values, uniform }
    }

    #[allow(unsafe_code, reason = "the driver launches it")]
    fn start(&self, stream: &CudaStream) -> Result<(), DriverError> {
        // The driver reads 8 bytes for a pointer and the lower 4 for a number of bytes; both are little-endian here.
        let value = |value: &u64| std::ptr::from_ref(value).cast_mut().cast::<c_void>();
        let mut arguments: Vec<*mut c_void> = self.values.iter().map(value).collect();
        if self.kernel.takes_uniform {
            arguments.push(self.uniform.as_ptr().cast_mut().cast());
        }
        let [x, y, z] = self.grid;
        // SAFETY: the arguments are those that the printed kernel declares (`Printed::bindings`), and the driver copies them before it returns.
        unsafe {
            launch_kernel(
                self.kernel.function,
                (x, y, z),
                (self.kernel.threads, 1, 1),
                0,
                stream.cu_stream(),
                &mut arguments,
            )
        }
    }
}

impl Command {
    #[allow(unsafe_code, reason = "the driver copies")]
    fn start(&self, stream: &CudaStream) -> Result<(), DriverError> {
        match self {
            Self::Launch(launch) => launch.start(stream),
            // SAFETY: a plan's regions lie inside live blocks, and those of a copy do not overlap.
            Self::Copy { from, to, bytes } => unsafe { memcpy_dtod_async(*to, *from, *bytes, stream.cu_stream()) },
        }
    }
}

/// A plan's commands.
pub(super) struct Steps {
    commands: Vec<Command>,
    /// Several runs as one launch, made when the plan is run often enough.
    graph: RefCell<Option<CudaGraph>>,
    has_run: Cell<bool>,
}

impl Prepared for Steps {}

impl Steps {
    pub(super) fn new(commands: Vec<Command>) -> Self {
        Self { commands, graph: RefCell::default(), has_run: Cell::new(false) }
    }

    /// Runs in one launch of the graph.
    fn window(&self) -> usize {
        (GRAPH_COMMANDS / self.commands.len().max(1)).clamp(1, GRAPH_STEPS)
    }

    /// Runs the commands `times` times: as graphs of many runs, and the remainder one by one.
    pub(super) fn run(&self, stream: &Arc<CudaStream>, times: usize) -> Result<(), DriverError> {
        stream.context().bind_to_thread()?;
        let window = self.window();
        // Most recordings run once and are not worth a graph.
        let has_run = self.has_run.replace(true);
        let is_worth_it = has_run || times > window;
        let graphs = if is_worth_it { times / window } else { 0 };
        if graphs > 0 && self.graph.borrow().is_none() {
            *self.graph.borrow_mut() = self.captured(stream, window)?;
        }
        let graph = self.graph.borrow();
        let mut left = times;
        if let Some(graph) = &*graph {
            for _ in 0..graphs {
                graph.launch()?;
                left -= window;
            }
        }
        (0..left).try_for_each(|_| self.once(stream))
    }

    fn once(&self, stream: &CudaStream) -> Result<(), DriverError> {
        self.commands.iter().try_for_each(|command| command.start(stream))
    }

    fn captured(&self, stream: &Arc<CudaStream>, window: usize) -> Result<Option<CudaGraph>, DriverError> {
        stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
        let recorded = (0..window).try_for_each(|_| self.once(stream));
        let graph = stream.end_capture(CUgraphInstantiate_flags(0));
        recorded?;
        graph
    }

    /// Runs the commands one by one with an event after each, and waits.
    pub(super) fn run_timed(&self, stream: &Arc<CudaStream>, times: usize) -> Result<Timings, DriverError> {
        stream.synchronize()?;
        let start = host::now_ms();
        let flags = Some(cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT);
        let first = stream.record_event(flags)?;
        let mut events = Vec::with_capacity(times * self.commands.len());
        for command in (0..times).flat_map(|_| &self.commands) {
            command.start(stream)?;
            events.push(stream.record_event(flags)?);
        }
        stream.synchronize()?;
        let wall_ms = host::now_ms() - start;
        let mut spans = Vec::with_capacity(events.len());
        let mut last = 0.0;
        for event in &events {
            let end = f64::from(first.elapsed_ms(event)?);
            spans.push([last, end]);
            last = end;
        }
        Ok(Timings::new(self.commands.len(), wall_ms, spans))
    }
}
