//! For the browser tests only (feature `evidence`): every kernel's cases on a device of this browser, and a panic to order.

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::Device;
use crate::device::Request;
use crate::kernels::check::check_all;

/// The failing rows of all kernels' cases on the device called `name`, after a first line that counts the cases.
#[wasm_bindgen]
pub async fn check_kernels(name: String) -> Result<Vec<String>, JsValue> {
    let request = Request { device: name, threads: 1 };
    let device = Device::open(&request).await.map_err(|error| js_sys::Error::new(&error.to_string()))?;
    let (failures, count) = check_all(&device, "").await;
    let first = format!("{count} cases on {}", device.info().name);
    Ok([first].into_iter().chain(failures).collect())
}

/// Panics inside a promise.
#[wasm_bindgen]
pub async fn panic_to_order() {
    crate::host::breathe().await;
    panic!("as ordered");
}
