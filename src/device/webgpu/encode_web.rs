//! Pipelines, bind groups and the commands of a plan, in a browser. They are JavaScript objects, so that a window of steps crosses from wasm to
//! JavaScript once, instead of four times per launch. `encode.js` encodes; `encode.rs` has the same items natively.

use std::cell::{Cell, RefCell};

use js_sys::Array;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::platform::{Ticket, raw_device};

#[wasm_bindgen(module = "/src/device/webgpu/encode.js")]
extern "C" {
    fn pipeline(device: &JsValue, name: &str, source: &str, inputs: u32, outputs: u32) -> JsValue;
    fn launch(device: &JsValue, pipeline: &JsValue, buffers: &Array, places: &[f64], grid: &[u32]) -> JsValue;
    fn copy(from: &JsValue, at: f64, to: &JsValue, start: f64, bytes: f64) -> JsValue;
    fn submit(device: &JsValue, steps: &Array, times: u32);
}

/// A part of a buffer that a kernel sees.
pub(super) struct Binding {
    pub buffer: wgpu::Buffer,
    pub offset: u64,
    pub bytes: u64,
}

/// Every pipeline compiled so far, by its source.
#[derive(Default)]
pub(super) struct Pipelines {
    pipelines: RefCell<Vec<(String, JsValue)>>,
    made: Cell<(u64, u64)>,
}

impl Pipelines {
    /// Browsers keep checks of their own.
    pub(super) fn new(_is_checked: bool) -> Self {
        Self::default()
    }

    /// Counts of pipelines compiled and bind groups created.
    pub(super) fn made(&self) -> (u64, u64) {
        self.made.get()
    }

    /// The pipeline for a composed source; `counts` are the numbers of its inputs and outputs.
    pub(super) fn get(&self, device: &wgpu::Device, name: &str, source: String, counts: [usize; 2]) -> JsValue {
        if let Some((_, pipeline)) = self.pipelines.borrow().iter().find(|(known, _)| *known == source) {
            return pipeline.clone();
        }
        let made = pipeline(raw_device(device), name, &source, counts[0] as u32, counts[1] as u32);
        self.made.set((self.made.get().0 + 1, self.made.get().1));
        self.pipelines.borrow_mut().push((source, made.clone()));
        made
    }
}

/// A plan's commands with everything bound.
#[derive(Default)]
pub(super) struct Encoded(Array);

impl Encoded {
    /// The commands, as `encode.js` makes them.
    pub(super) fn steps(&self) -> &Array {
        &self.0
    }

    /// Appends a launch.
    pub(super) fn dispatch(
        &mut self,
        pipelines: &Pipelines,
        device: &wgpu::Device,
        pipeline: &JsValue,
        buffers: &[Binding],
        uniform: &Binding,
        grid: [u32; 3],
    ) {
        let all = || buffers.iter().chain([uniform]);
        let objects: Array = all().map(|binding| raw_buffer(&binding.buffer).clone()).collect();
        let places: Vec<f64> = all().flat_map(|binding| [binding.offset as f64, binding.bytes as f64]).collect();
        self.0.push(&launch(raw_device(device), pipeline, &objects, &places, &grid));
        pipelines.made.set((pipelines.made.get().0, pipelines.made.get().1 + 2));
    }

    /// Appends a copy between buffers at byte offsets.
    pub(super) fn copy(&mut self, from: (&wgpu::Buffer, u64), to: (&wgpu::Buffer, u64), bytes: u64) {
        let step = copy(raw_buffer(from.0), from.1 as f64, raw_buffer(to.0), to.1 as f64, bytes as f64);
        self.0.push(&step);
    }

    /// Submits `times` runs at once.
    pub(super) fn submit(&self, device: &wgpu::Device, _queue: &wgpu::Queue, times: usize) -> Ticket {
        submit(raw_device(device), &self.0, times as u32);
        Ticket
    }
}

fn raw_buffer(buffer: &wgpu::Buffer) -> &JsValue {
    buffer.as_webgpu().expect("wgpu uses WebGPU in a browser").as_ref()
}
