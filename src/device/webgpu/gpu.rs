//! GPUs as devices: memory, plans and runs. Pipelines are compiled once per source and bind groups created once per plan. A run encodes them again, with bounded time per submit.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use super::adapter::{MATRICES_FEATURE, NAME, describe, descriptor, is_software, tiles};
use super::encode::{Binding, Encoded, Pipelines};
use super::platform::{CAN_WAIT, Ticket, adapters, close, full_name, has_subgroups, wait};
use super::signal::Signal;
use super::subgroups::{self, PROBED};
use super::timestamps;
use crate::device::backend::{Backend, Entry, Opening, Prepared, Soon};
use crate::device::info::Info;
use crate::device::record::{BoundCommand, Kernel, Memory, Region, SharedBody, check_grid, compose, compose_sized};
use crate::device::switches::{self, is_set};
use crate::device::timings::Timings;
use crate::error::{Error, Result};
use crate::host;

/// Portable alignment of a binding's offset.
const ALIGN_BYTES: u64 = 256;
/// Floating-point operations in the first submit of a plan, before any submit is measured.
const FIRST_SUBMIT_FLOPS: u64 = 200_000_000;
/// Target time per submit: long enough to hide its overhead, short enough for a responsive desktop.
const SUBMIT_MS: f64 = 20.0;

pub(super) struct WebGpu {
    info: Info,
    device: wgpu::Device,
    queue: wgpu::Queue,
    /// Whether sizes are compiled in.
    takes_sizes: bool,
    /// Indexed by `Memory`; `None` is free.
    blocks: RefCell<Vec<Option<wgpu::Buffer>>>,
    pipelines: Pipelines,
    /// The first error that the driver reported outside a call. The next run or read returns it.
    trouble: Arc<Mutex<Option<String>>>,
}

pub(in crate::device) static ENTRY: Entry = Entry {
    name: NAME,
    summary: "a GPU, through Vulkan, Metal, DX12 or the browser's WebGPU",
    is_here: true,
    is_choice: true,
    open: |opening| {
        Box::pin(async move { WebGpu::open(opening).await.map(|opened| Box::new(opened) as Box<dyn Backend>) })
    },
    // Adapters present, best first.
    list: || Box::pin(async { adapters().await.iter().map(describe).collect() }),
};

struct Steps {
    encoded: Encoded,
    /// Runs per submit; adjusted if the caller can wait for the device.
    window: Cell<usize>,
    /// Whether a submit of the plan was measured. The first one includes compilation.
    is_warm: Cell<bool>,
}

impl Prepared for Steps {}

impl WebGpu {
    /// Opens the best adapter. A software adapter is only opened by name.
    async fn open(Opening { request, by_name, index }: Opening<'_>) -> Result<Self> {
        let adapter = adapters().await.into_iter().nth(index);
        let found = adapter.as_ref().map(describe);
        let adapter = adapter.filter(|adapter| by_name || !is_software(adapter)).ok_or_else(|| {
            Error::device(match found {
                None => "device \"webgpu\" is absent: no adapter found (is a Vulkan, Metal or DX12 driver installed, or WebGPU enabled in the browser?); there is cpu".to_owned(),
                Some(info) => format!("device \"webgpu\": the only adapter is software ({}); choose it with the device name \"webgpu\"", info.name),
            })
        })?;
        let refused = |error| Error::device(format!("device \"webgpu\" refused to open: {error}"));
        let (device, queue) = adapter.request_device(&descriptor(&adapter, request)).await.map_err(refused)?;
        let trouble = Arc::new(Mutex::new(None));
        let (uncaptured, lost) = (trouble.clone(), trouble.clone());
        device.on_uncaptured_error(Arc::new(move |error| note(&uncaptured, error.to_string())));
        device.set_device_lost_callback(move |_, message| note(&lost, format!("device lost: {message}")));
        let mut info = describe(&adapter);
        if let Some(name) = full_name(&device) {
            info.tiles = tiles(&name, adapter.get_info().device_type);
            info.name = name;
        }
        let about = adapter.get_info();
        info.subgroup = subgroups::lanes(&about, has_subgroups(&device));
        // Where it was measured and drivers guard buffers themselves. On software, both cost more than they gain.
        let is_vulkan_gpu = about.backend == wgpu::Backend::Vulkan && !info.is_software;
        let takes_sizes = is_vulkan_gpu && !is_set(switches::GENERIC);
        let pipelines = Pipelines::new(!is_vulkan_gpu || is_set(switches::CHECKED));
        let mut opened = Self { info, device, queue, takes_sizes, blocks: RefCell::default(), pipelines, trouble };
        if opened.info.subgroup > 1 && !opened.are_subgroups_right().await {
            opened.info.subgroup = 1;
        }
        // Theirs are subgroups of 32 neighbouring lanes.
        let has_subgroups = opened.info.subgroup > 1;
        opened.info.features.retain(|feature| has_subgroups || feature != MATRICES_FEATURE);
        Ok(opened)
    }

    /// Whether lanes exchange values as kernels expect. A driver that fails here is used without subgroups.
    async fn are_subgroups_right(&self) -> bool {
        let Ok(memory) = self.allocate(PROBED) else { return false };
        let out = Region { memory, offset: 0, words: PROBED };
        let is_run = self.prepare(vec![subgroups::probe(out)]).and_then(|probe| self.run(&*probe, 1));
        let lanes = self.read(out).await;
        self.free(memory);
        *self.trouble.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = None;
        is_run.is_ok() && lanes.is_ok_and(|lanes| !lanes.contains(&0))
    }

    /// The bindings of regions. Errors if a region's offset is not aligned.
    fn bindings(&self, regions: impl Iterator<Item = Region>) -> Result<Vec<Binding>> {
        let bind = |region: Region| {
            let offset = 4 * region.offset as u64;
            let buffer = self.block(region.memory);
            match offset % ALIGN_BYTES {
                0 => Ok(Binding { buffer, offset, bytes: 4 * region.words.max(1) as u64 }),
                _ => Err(Error::internal(format!(
                    "webgpu: a view starts at byte {offset}, not at a multiple of {ALIGN_BYTES}"
                ))),
            }
        };
        regions.map(bind).collect()
    }

    /// Appends a command whose parameters are at byte `at` of `uniforms`.
    fn encode(&self, encoded: &mut Encoded, command: BoundCommand, uniforms: &wgpu::Buffer, at: u64) -> Result<()> {
        match command {
            BoundCommand::Dispatch { kernel, body, params, grid, inputs, outputs, .. } => {
                check_grid(kernel, grid)?;
                let counts = [inputs.len(), outputs.len()];
                let source = self.source(kernel, body.as_ref(), &params);
                let buffers = self.bindings(inputs.into_iter().chain(outputs))?;
                let uniform = Binding { buffer: uniforms.clone(), offset: at, bytes: uniform_bytes(&params) };
                let pipeline = self.pipelines.get(&self.device, kernel.name, source, counts);
                encoded.dispatch(&self.pipelines, &self.device, &pipeline, &buffers, &uniform, grid);
            }
            BoundCommand::Copy { from, to } => {
                let place = |region: Region| 4 * region.offset as u64;
                let [source, target] = [from, to].map(|region| self.block(region.memory));
                encoded.copy((&source, place(from)), (&target, place(to)), 4 * from.words as u64);
            }
        }
        Ok(())
    }

    /// The WGSL of a launch, perhaps with sizes compiled in.
    fn source(&self, kernel: &Kernel, body: Option<&SharedBody>, params: &[u32]) -> String {
        let sized = self.takes_sizes.then(|| compose_sized(kernel, body, params, self.info.subgroup)).flatten();
        sized.unwrap_or_else(|| compose(kernel, body, self.info.subgroup))
    }

    fn block(&self, memory: Memory) -> wgpu::Buffer {
        self.blocks.borrow()[memory.0 as usize].clone().expect("memory in use has a block")
    }
}

impl Drop for WebGpu {
    fn drop(&mut self) {
        close(&self.device);
    }
}

impl Backend for WebGpu {
    fn info(&self) -> &Info {
        &self.info
    }

    fn allocate(&self, words: usize) -> Result<Memory> {
        let size = 4 * words as u64;
        if size > self.info.max_binding_bytes {
            let limit = self.info.max_binding_bytes >> 20;
            return Err(Error::device(format!(
                "webgpu: a buffer has {} MiB, more than this adapter's limit of {limit} MiB",
                size >> 20
            )));
        }
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut blocks = self.blocks.borrow_mut();
        let at = blocks.iter().position(Option::is_none).unwrap_or(blocks.len());
        if at == blocks.len() {
            blocks.push(None);
        }
        blocks[at] = Some(buffer);
        Ok(Memory(at as u32))
    }

    fn free(&self, memory: Memory) {
        self.blocks.borrow_mut()[memory.0 as usize] = None;
    }

    fn write(&self, memory: Memory, offset: usize, data: &[u32]) -> Result<()> {
        self.queue.write_buffer(&self.block(memory), 4 * offset as u64, bytemuck::cast_slice(data));
        Ok(())
    }

    fn prepare(&self, commands: Vec<BoundCommand>) -> Result<Box<dyn Prepared>> {
        let mut words: Vec<u32> = Vec::new();
        let mut places = Vec::new();
        let mut flops = 0;
        for command in &commands {
            words.resize(words.len().next_multiple_of(ALIGN_BYTES as usize / 4), 0);
            places.push(4 * words.len() as u64);
            if let BoundCommand::Dispatch { params, cost, .. } = command {
                words.extend(params);
                words.resize(words.len().next_multiple_of(4).max(places[places.len() - 1] as usize / 4 + 4), 0);
                flops += cost.flops;
            }
        }
        let uniforms = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 4 * words.len().max(4) as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.queue.write_buffer(&uniforms, 0, bytemuck::cast_slice(&words));
        let mut encoded = Encoded::default();
        for (command, at) in commands.into_iter().zip(places) {
            self.encode(&mut encoded, command, &uniforms, at)?;
        }
        let window = Cell::new((FIRST_SUBMIT_FLOPS / flops.max(1)).clamp(1, 256) as usize);
        Ok(Box::new(Steps { encoded, window, is_warm: Cell::new(false) }))
    }

    fn run(&self, prepared: &dyn Prepared, times: usize) -> Result<()> {
        let plan: &Steps = (prepared as &dyn Any).downcast_ref().expect("a plan runs on the device it was made for");
        let mut left = times;
        let mut last: Option<(Ticket, usize)> = None;
        let mut clock = host::now_ms();
        while left > 0 {
            let window = plan.window.get().min(left);
            let submitted = plan.encoded.submit(&self.device, &self.queue, window);
            left -= window;
            // One submit runs while the next is encoded, and no more: a long epoch would fill the queue.
            if let Some((ticket, runs)) = last.replace((submitted, window))
                && CAN_WAIT
            {
                wait(&self.device, Some(ticket))?;
                let now = host::now_ms();
                if plan.is_warm.replace(true) {
                    let target = runs as f64 * SUBMIT_MS / (now - clock).max(0.01);
                    plan.window.set((target as usize).clamp(plan.window.get().div_ceil(2), 2 * plan.window.get()));
                }
                clock = now;
            }
        }
        check(&self.trouble)
    }

    fn run_timed(&self, prepared: &dyn Prepared, times: usize) -> Option<Soon<'static, Result<Timings>>> {
        let plan: &Steps = (prepared as &dyn Any).downcast_ref().expect("a plan runs on the device it was made for");
        self.device.features().contains(wgpu::Features::TIMESTAMP_QUERY).then(|| -> Soon<'static, _> {
            let timed = timestamps::run(&plan.encoded, (&self.device, &self.queue), [times, plan.window.get()]);
            let trouble = self.trouble.clone();
            Box::pin(async move {
                let timed = timed.await;
                check(&trouble)?;
                timed
            })
        })
    }

    fn read(&self, region: Region) -> Pin<Box<dyn Future<Output = Result<Vec<u32>>> + '_>> {
        Box::pin(async move {
            let size = 4 * region.words.max(1) as u64;
            let staging = self.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: None });
            let block = self.block(region.memory);
            encoder.copy_buffer_to_buffer(&block, 4 * region.offset as u64, &staging, 0, 4 * region.words as u64);
            self.queue.submit([encoder.finish()]);
            let mapped = Signal::default();
            let raised = mapped.clone();
            staging.map_async(wgpu::MapMode::Read, .., move |result| raised.raise(result));
            wait(&self.device, None)?;
            let failed = |error: &dyn std::fmt::Display| Error::device(format!("webgpu: readback failed: {error}"));
            let outcome = mapped.await;
            check(&self.trouble)?;
            outcome.map_err(|error| failed(&error))?;
            let view = staging.get_mapped_range(..).map_err(|error| failed(&error))?;
            Ok(bytemuck::pod_collect_to_vec(&view[..4 * region.words]))
        })
    }

    fn made(&self) -> (u64, u64) {
        self.pipelines.made()
    }
}

fn uniform_bytes(params: &[u32]) -> u64 {
    4 * params.len().next_multiple_of(4).max(4) as u64
}

fn check(trouble: &Mutex<Option<String>>) -> Result<()> {
    let trouble = trouble.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
    trouble.map_or(Ok(()), |message| Err(Error::device(format!("webgpu: {message}"))))
}

fn note(trouble: &Mutex<Option<String>>, message: String) {
    trouble.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(message);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_subgroup_size_is_detected() {
        if std::env::var_os("MERO_NO_GPU").is_some() {
            return;
        }
        let mut device = pollster::block_on(WebGpu::open(Opening {
            request: &crate::device::Request::default(),
            by_name: true,
            index: 0,
        }))
        .expect("an adapter, or MERO_NO_GPU=1");
        let right = device.info.subgroup;
        for lanes in [right, 4 * right].into_iter().filter(|&lanes| right > 1 && lanes <= PROBED as u32) {
            device.info.subgroup = lanes;
            assert_eq!(pollster::block_on(device.are_subgroups_right()), lanes == right, "{lanes} lanes");
        }
    }

    #[test]
    fn timestamps_measure_launches_and_copies() {
        if std::env::var_os("MERO_NO_GPU").is_some() {
            return;
        }
        let request = crate::device::Request { timestamps: true, ..crate::device::Request::default() };
        let device = pollster::block_on(WebGpu::open(Opening { request: &request, by_name: true, index: 0 }))
            .expect("an adapter, or MERO_NO_GPU=1");
        let [from, to] = [0, 1].map(|_| device.allocate(PROBED).expect("memory"));
        let [from, to] = [from, to].map(|memory| Region { memory, offset: 0, words: PROBED });
        let plan = device.prepare(vec![subgroups::probe(from), BoundCommand::Copy { from, to }]).expect("a plan");
        let steps: &Steps = (&*plan as &dyn Any).downcast_ref().expect("its own");
        for is_anywhere in [timestamps::is_anywhere(&device.device), false] {
            let timed = timestamps::measured(&steps.encoded, (&device.device, &device.queue), [5, 2], is_anywhere);
            let timings = pollster::block_on(timed).expect("timestamps");
            assert_eq!((timings.commands, timings.runs()), (2, 5), "anywhere: {is_anywhere}");
            assert!(timings.spans.iter().all(|[start, end]| start <= end), "{timings:?}");
        }
    }
}
