//! For the browser tests only (feature `evidence`): every kernel's cases on a device of this browser, texts of numbers, and a panic to order.

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::Device;
use crate::device::Request;
use crate::host::{DOUBLES, SINGLES, number};
use crate::kernels::ALL;
use crate::kernels::check::{check_all, differing};

/// The names of all kernels.
#[wasm_bindgen]
pub fn kernel_names() -> Vec<String> {
    ALL.iter().map(|(kernel, _)| kernel.name.to_owned()).collect()
}

/// The failing rows of a kernel's cases on the device called `device`, after a first line with the count of the cases.
#[wasm_bindgen]
pub async fn check_kernel(device: String, kernel: String) -> Result<Vec<String>, JsValue> {
    let request = Request { device, threads: 1, subgroups: true };
    let device = Device::open(&request).await.map_err(|error| js_sys::Error::new(&error.to_string()))?;
    let (failures, count) = check_all(&device, &format!("{kernel}: ")).await;
    Ok([count.to_string()].into_iter().chain(failures).collect())
}

/// The cases of a kernel in which it matters to a bit whether subgroups are used, after a first line with the count of the cases and
/// two with the lanes that exchanged values without a barrier.
#[wasm_bindgen]
pub async fn told_by_subgroups(kernel: String) -> Result<Vec<String>, JsValue> {
    let open = async |subgroups| {
        let request = Request { device: "webgpu".into(), threads: 1, subgroups };
        Device::open(&request).await.map_err(|error| js_sys::Error::new(&error.to_string()))
    };
    let devices = [&open(true).await?, &open(false).await?];
    let (names, count) = differing(&kernel, devices).await;
    let lanes = devices.map(|device| device.info().subgroup.to_string());
    Ok([count.to_string()].into_iter().chain(lanes).chain(names).collect())
}

/// The numbers that this browser writes otherwise than the standard library, and how.
#[wasm_bindgen]
pub fn wrong_texts() -> Vec<String> {
    let singles = SINGLES.map(|(bits, text)| (number(f32::from_bits(bits)), text));
    let doubles = DOUBLES.map(|(bits, text)| (number(f64::from_bits(bits)), text));
    let written = singles.into_iter().chain(doubles).map(|(number, wanted)| (format!("{number:?}"), wanted));
    written.filter(|(got, wanted)| got != wanted).map(|(got, wanted)| format!("{got}, wanted {wanted}")).collect()
}

/// Panics inside a promise.
#[wasm_bindgen]
pub async fn panic_to_order() {
    crate::host::breathe().await;
    panic!("as ordered");
}
