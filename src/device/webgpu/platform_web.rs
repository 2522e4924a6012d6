//! What a program in a browser does with adapters and devices in its own way. `platform.rs` has the same items natively.

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::error::Result;

#[wasm_bindgen(module = "/src/device/webgpu/encode.js")]
extern "C" {
    #[wasm_bindgen(js_name = addSubgroups)]
    fn want_subgroups();
    #[wasm_bindgen(js_name = hasSubgroups)]
    fn with_subgroups(device: &JsValue) -> bool;
    #[wasm_bindgen(js_name = adapterName)]
    fn adapter_name(device: &JsValue) -> String;
}

/// The browser's adapter, if it has WebGPU.
pub(super) async fn adapters() -> Vec<wgpu::Adapter> {
    let has_gpu = js_sys::Reflect::get(&js_sys::global(), &"navigator".into())
        .and_then(|navigator| js_sys::Reflect::get(&navigator, &"gpu".into()))
        .is_ok_and(|gpu| !gpu.is_undefined());
    if !has_gpu {
        return Vec::new();
    }
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::BROWSER_WEBGPU;
    let instance = wgpu::Instance::new(descriptor);
    instance.request_adapter(&wgpu::RequestAdapterOptions::default()).await.into_iter().collect()
}

/// Requests subgroups for the next device of `adapter`, if the adapter has them.
pub(super) fn add_subgroups(_adapter: &wgpu::Adapter, _descriptor: &mut wgpu::DeviceDescriptor<'_>) {
    want_subgroups();
}

/// Whether it was opened with subgroups.
pub(super) fn has_subgroups(device: &wgpu::Device) -> bool {
    with_subgroups(raw_device(device))
}

/// The adapter's full name, if the browser reports one that wgpu does not pass on.
pub(super) fn full_name(device: &wgpu::Device) -> Option<String> {
    Some(adapter_name(raw_device(device))).filter(|name| !name.is_empty())
}

/// Whether the caller can wait for submitted work. In a browser only a readback shows that work is done.
pub(super) const CAN_WAIT: bool = false;

/// Identifies a submit, to wait for it.
pub(super) struct Ticket;

/// Waiting happens in the event loop.
#[expect(clippy::unnecessary_wraps, reason = "its native twin can fail")]
pub(super) fn wait(_device: &wgpu::Device, _ticket: Option<Ticket>) -> Result<()> {
    Ok(())
}

/// A browser frees a device and its memory only when it collects garbage, unless a program destroys the device.
pub(super) fn close(device: &wgpu::Device) {
    device.destroy();
}

/// The browser's own object.
pub(super) fn raw_device(device: &wgpu::Device) -> &JsValue {
    device.as_webgpu().expect("wgpu uses WebGPU in a browser").as_ref()
}
