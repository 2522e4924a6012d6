//! Runs of a plan on a GPU, in a browser, with a timestamp before the first command and after each. `encode.js` encodes them; `timestamps.rs` has the
//! same items natively. Browsers round timestamps, to 0.1 ms or so, and the rounding cancels in a mean over many runs.

use js_sys::{Array, Float64Array, Promise};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use super::encode::Encoded;
use super::platform::raw_device;
use crate::device::backend::Soon;
use crate::device::timings::Timings;
use crate::error::{Error, Result};
use crate::host;

#[wasm_bindgen(module = "/src/device/webgpu/encode.js")]
extern "C" {
    #[wasm_bindgen(js_name = submitTimed)]
    fn submit_timed(device: &JsValue, steps: &Array, times: u32, window: u32) -> Promise;
}

/// What a device needs of its adapter.
pub(super) const FEATURES: wgpu::Features = wgpu::Features::TIMESTAMP_QUERY;

/// Submits the commands `times` times, `window` times per submit; the future waits for their timestamps.
pub(super) fn run(
    encoded: &Encoded,
    (device, _queue): (&wgpu::Device, &wgpu::Queue),
    [times, window]: [usize; 2],
) -> Soon<'static, Result<Timings>> {
    let (steps, start) = (encoded.steps(), host::now_ms());
    let stamped = JsFuture::from(submit_timed(raw_device(device), steps, times as u32, window as u32));
    let commands = steps.length() as usize;
    Box::pin(async move {
        let failed = |error: JsValue| {
            let message = String::from(error.unchecked_into::<js_sys::Error>().message());
            Error::device(format!("webgpu: timestamps cannot be read: {message}"))
        };
        let stamps = stamped.await.map_err(failed)?.unchecked_into::<Float64Array>().to_vec();
        // The first is when the last submit was done, the others are nanoseconds.
        let spans = stamps[1..].chunks_exact(2).map(|span| [1e-6 * span[0], 1e-6 * span[1]]).collect();
        Ok(Timings::new(commands, [start, stamps[0]], spans))
    })
}
