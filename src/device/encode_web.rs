//! Pipelines, bind groups and what a plan encodes from them, in a browser: kept as JavaScript's own objects, so that a window of steps crosses
//! from wasm once, and not four times a launch. `encode.js` does the encoding; the native twin is `encode.rs`, the same items.

use std::cell::{Cell, RefCell};

use js_sys::Array;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::error::Result;

#[wasm_bindgen(module = "/src/device/encode.js")]
extern "C" {
    fn pipeline(device: &JsValue, name: &str, source: &str, inputs: u32, outputs: u32) -> JsValue;
    fn launch(device: &JsValue, pipeline: &JsValue, buffers: &Array, places: &[f64], grid: &[u32]) -> JsValue;
    fn copy(from: &JsValue, at: f64, to: &JsValue, start: f64, bytes: f64) -> JsValue;
    fn submit(device: &JsValue, steps: &Array, times: u32);
    #[wasm_bindgen(js_name = addSubgroups)]
    fn want_subgroups();
    #[wasm_bindgen(js_name = hasSubgroups)]
    fn with_subgroups(device: &JsValue) -> bool;
    #[wasm_bindgen(js_name = adapterName)]
    fn adapter_name(device: &JsValue) -> String;
}

/// Has the next device that `adapter` is asked for opened with subgroups where it has them.
pub(super) fn add_subgroups(_adapter: &wgpu::Adapter, _wanted: &mut wgpu::DeviceDescriptor<'_>) {
    want_subgroups();
}

/// Whether it was opened with subgroups.
pub(super) fn has_subgroups(device: &wgpu::Device) -> bool {
    with_subgroups(raw_device(device))
}

/// What its adapter is called, where the browser knows more than wgpu passes on.
pub(super) fn full_name(device: &wgpu::Device) -> Option<String> {
    Some(adapter_name(raw_device(device))).filter(|name| !name.is_empty())
}

/// Whether submitted work can be waited for: in a browser only a readback tells.
pub(super) const CAN_WAIT: bool = false;

/// What tells when a submit is done.
pub(super) struct Ticket;

/// The event loop waits.
#[expect(clippy::unnecessary_wraps, reason = "its native twin can fail")]
pub(super) fn wait(_device: &wgpu::Device, _ticket: Option<Ticket>) -> Result<()> {
    Ok(())
}

/// A part of a buffer that a kernel sees.
pub(super) struct Binding {
    pub buffer: wgpu::Buffer,
    pub offset: u64,
    pub bytes: u64,
}

/// Every pipeline made so far, by its source.
#[derive(Default)]
pub(super) struct Pipelines {
    pipelines: RefCell<Vec<(String, JsValue)>>,
    made: Cell<(u64, u64)>,
}

impl Pipelines {
    /// Pipelines compiled and bind groups made.
    pub(super) fn made(&self) -> (u64, u64) {
        self.made.get()
    }

    /// The pipeline of a kernel's whole source; `counts` are its inputs and outputs.
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
    /// Adds a launch.
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

    /// Adds a copy between buffers at byte offsets.
    pub(super) fn copy(&mut self, from: (&wgpu::Buffer, u64), to: (&wgpu::Buffer, u64), bytes: u64) {
        let step = copy(raw_buffer(from.0), from.1 as f64, raw_buffer(to.0), to.1 as f64, bytes as f64);
        self.0.push(&step);
    }

    /// One submit of `times` runs.
    pub(super) fn submit(&self, device: &wgpu::Device, _queue: &wgpu::Queue, times: usize) -> Ticket {
        submit(raw_device(device), &self.0, times as u32);
        Ticket
    }
}

fn raw_device(device: &wgpu::Device) -> &JsValue {
    device.as_webgpu().expect("a device in a browser is the browser's").as_ref()
}

fn raw_buffer(buffer: &wgpu::Buffer) -> &JsValue {
    buffer.as_webgpu().expect("a buffer in a browser is the browser's").as_ref()
}
