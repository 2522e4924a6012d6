//! Pipelines, bind groups and the commands of a plan, natively. `encode_web.rs` has the same items for browsers.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::platform::Ticket;

/// A part of a buffer that a kernel sees.
pub(super) struct Binding {
    pub buffer: wgpu::Buffer,
    pub offset: u64,
    pub bytes: u64,
}

impl Binding {
    fn resource(&self) -> wgpu::BindingResource<'_> {
        let size = wgpu::BufferSize::new(self.bytes);
        wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: &self.buffer, offset: self.offset, size })
    }
}

/// Every pipeline compiled so far, by its source.
pub(super) struct Pipelines {
    checks: wgpu::ShaderRuntimeChecks,
    layouts: RefCell<HashMap<[usize; 2], Rc<Layout>>>,
    pipelines: RefCell<HashMap<String, Rc<Pipeline>>>,
    made: Cell<(u64, u64)>,
}

struct Layout {
    buffers: wgpu::BindGroupLayout,
    uniform: wgpu::BindGroupLayout,
    pipeline: wgpu::PipelineLayout,
}

/// A compiled kernel and the layout of what it binds.
pub(super) struct Pipeline {
    pipeline: wgpu::ComputePipeline,
    layout: Rc<Layout>,
}

impl Pipelines {
    /// With run-time checks that a kernel stays in its arrays and that its loops end, or without.
    pub(super) fn new(is_checked: bool) -> Self {
        let mut checks = wgpu::ShaderRuntimeChecks::checked();
        (checks.bounds_checks, checks.force_loop_bounding) = (is_checked, is_checked);
        Self { checks, layouts: RefCell::default(), pipelines: RefCell::default(), made: Cell::default() }
    }

    /// Counts of pipelines compiled and bind groups created.
    pub(super) fn made(&self) -> (u64, u64) {
        self.made.get()
    }

    /// The pipeline for a composed source; `counts` are the numbers of its inputs and outputs.
    pub(super) fn get(&self, device: &wgpu::Device, name: &str, source: String, counts: [usize; 2]) -> Rc<Pipeline> {
        if let Some(pipeline) = self.pipelines.borrow().get(&source) {
            return pipeline.clone();
        }
        let source_of = wgpu::ShaderSource::Wgsl(source.as_str().into());
        let described = wgpu::ShaderModuleDescriptor { label: Some(name), source: source_of };
        #[allow(unsafe_code, reason = "wgpu marks modules without checks as unsafe")]
        // SAFETY: kernels are ours. `tests/engine/cuda` runs the cases of each and aborts at an index outside an array, of storage or of the workgroup. It
        // cannot run those of cooperative matrices, whose indices into arrays of the workgroup follow from constants. Drivers guard buffers.
        let module = unsafe { device.create_shader_module_trusted(described, self.checks) };
        let layout = self.layout(device, counts);
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(name),
            layout: Some(&layout.pipeline),
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: &[],
                // Kernels write workgroup memory before they read it, and some drivers clear it with a single thread.
                zero_initialize_workgroup_memory: false,
            },
            cache: None,
        });
        let pipeline = Rc::new(Pipeline { pipeline, layout });
        self.made.set((self.made.get().0 + 1, self.made.get().1));
        self.pipelines.borrow_mut().insert(source, pipeline.clone());
        pipeline
    }

    fn layout(&self, device: &wgpu::Device, counts: [usize; 2]) -> Rc<Layout> {
        let [inputs, outputs] = counts;
        let make = || {
            let entry = |binding: usize, ty| wgpu::BindGroupLayoutEntry {
                binding: binding as u32,
                visibility: wgpu::ShaderStages::COMPUTE,
                ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
                count: None,
            };
            let storage = |at| entry(at, wgpu::BufferBindingType::Storage { read_only: at < inputs });
            let entries: Vec<_> = (0..inputs + outputs).map(storage).collect();
            let group = |entries: &[_]| {
                device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries })
            };
            let (buffers, uniform) = (group(&entries), group(&[entry(0, wgpu::BufferBindingType::Uniform)]));
            let pipeline = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: None,
                bind_group_layouts: &[Some(&buffers), Some(&uniform)],
                immediate_size: 0,
            });
            Rc::new(Layout { buffers, uniform, pipeline })
        };
        self.layouts.borrow_mut().entry(counts).or_insert_with(make).clone()
    }

    fn bind(&self, device: &wgpu::Device, layout: &wgpu::BindGroupLayout, bindings: &[Binding]) -> wgpu::BindGroup {
        let entries: Vec<_> = (0..)
            .zip(bindings)
            .map(|(binding, bound)| wgpu::BindGroupEntry { binding, resource: bound.resource() })
            .collect();
        self.made.set((self.made.get().0, self.made.get().1 + 1));
        device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
    }
}

/// A command with everything bound.
pub(super) enum Step {
    Dispatch { pipeline: Rc<Pipeline>, buffers: wgpu::BindGroup, uniform: wgpu::BindGroup, grid: [u32; 3] },
    Copy { from: (wgpu::Buffer, u64), to: (wgpu::Buffer, u64), bytes: u64 },
}

impl Step {
    /// Appends a launch to a pass.
    pub(super) fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        let Self::Dispatch { pipeline, buffers, uniform, grid } = self else { return };
        pass.set_pipeline(&pipeline.pipeline);
        pass.set_bind_group(0, buffers, &[]);
        pass.set_bind_group(1, uniform, &[]);
        pass.dispatch_workgroups(grid[0], grid[1], grid[2]);
    }

    /// Appends a copy.
    pub(super) fn copy(&self, encoder: &mut wgpu::CommandEncoder) {
        let Self::Copy { from, to, bytes } = self else { return };
        encoder.copy_buffer_to_buffer(&from.0, from.1, &to.0, to.1, *bytes);
    }
}

/// A plan's commands with everything bound.
#[derive(Default)]
pub(super) struct Encoded(Vec<Step>);

impl Encoded {
    /// The commands.
    pub(super) fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Appends a launch.
    pub(super) fn dispatch(
        &mut self,
        pipelines: &Pipelines,
        device: &wgpu::Device,
        pipeline: &Rc<Pipeline>,
        buffers: &[Binding],
        uniform: &Binding,
        grid: [u32; 3],
    ) {
        let buffers = pipelines.bind(device, &pipeline.layout.buffers, buffers);
        let uniform = pipelines.bind(device, &pipeline.layout.uniform, std::slice::from_ref(uniform));
        self.0.push(Step::Dispatch { pipeline: pipeline.clone(), buffers, uniform, grid });
    }

    /// Appends a copy between buffers at byte offsets.
    pub(super) fn copy(&mut self, from: (&wgpu::Buffer, u64), to: (&wgpu::Buffer, u64), bytes: u64) {
        self.0.push(Step::Copy { from: (from.0.clone(), from.1), to: (to.0.clone(), to.1), bytes });
    }

    /// Submits `times` runs at once.
    pub(super) fn submit(&self, device: &wgpu::Device, queue: &wgpu::Queue, times: usize) -> Ticket {
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: None });
        let mut pass = None;
        for step in std::iter::repeat_n(&self.0, times).flatten() {
            match step {
                Step::Dispatch { .. } => step.record(pass.get_or_insert_with(|| {
                    encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default()).forget_lifetime()
                })),
                Step::Copy { .. } => {
                    drop(pass.take());
                    step.copy(&mut encoder);
                }
            }
        }
        drop(pass);
        queue.submit([encoder.finish()])
    }
}
