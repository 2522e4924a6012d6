//! For the browser tests only: every kernel's cases on a device of this browser, numbers as text, the fused
//! products of exported pages, and a panic on request.
#![cfg(target_arch = "wasm32")]

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

// The exports of the build that trains.
pub use meromorph_web_core::*;

use meromorph::Device;
use meromorph::device::Request;
use meromorph::internal::host::fused_exact::{fused, fused_negated};
use meromorph::internal::host::{DOUBLES, SINGLES, number, vectorize};
use meromorph::internal::kernels::ALL;
use meromorph::internal::kernels::check::{check_all, differing};
use meromorph::internal::kernels::random::threefry;

/// The names of all kernels.
#[wasm_bindgen]
pub fn kernel_names() -> Vec<String> {
    ALL.iter().map(|(kernel, _)| kernel.name.to_owned()).collect()
}

/// The number of cases run, each `every`-th of a kernel, then those that fail on the device named `device`.
#[wasm_bindgen]
pub async fn check_kernel(device: String, kernel: String, every: usize) -> Result<Vec<String>, JsValue> {
    let request = Request { device, threads: 1, ..Request::default() };
    let device = Device::open(&request).await.map_err(|error| js_sys::Error::new(&error.to_string()))?;
    let (failures, count) = check_all(&meromorph::internal::cases::all(), &device, &format!("{kernel}: "), every).await;
    Ok([count.to_string()].into_iter().chain(failures).collect())
}

/// The number of a kernel's cases, the subgroup sizes with and without subgroups, then the cases whose results differ by any bit
/// between the two.
#[wasm_bindgen]
pub async fn told_by_subgroups(kernel: String, every: usize) -> Result<Vec<String>, JsValue> {
    let open = async |subgroups| {
        let request = Request { device: "webgpu".into(), threads: 1, subgroups, ..Request::default() };
        Device::open(&request).await.map_err(|error| js_sys::Error::new(&error.to_string()))
    };
    let devices = [&open(true).await?, &open(false).await?];
    let (failures, count) = differing(ALL, &kernel, devices, every).await;
    let lanes = devices.map(|device| device.info().subgroup.to_string());
    Ok([count.to_string()].into_iter().chain(lanes).chain(failures).collect())
}

/// The numbers that this browser formats differently from the standard library.
#[wasm_bindgen]
pub fn wrong_texts() -> Vec<String> {
    let singles = SINGLES.map(|(bits, text)| (number(f32::from_bits(bits)), text));
    let doubles = DOUBLES.map(|(bits, text)| (number(f64::from_bits(bits)), text));
    let written = singles.into_iter().chain(doubles).map(|(number, expected)| (format!("{number:?}"), expected));
    written
        .filter(|(got, expected)| got != expected)
        .map(|(got, expected)| format!("{got}, expected {expected}"))
        .collect()
}

/// The sums a * b + c, of `count` of each kind, that an exported page does not round exactly once.
#[wasm_bindgen]
pub fn wrong_products(count: u32) -> Vec<String> {
    vectorize(Products { count })
}

struct Products {
    count: u32,
}

impl pulp::WithSimd for Products {
    type Output = Vec<String>;

    fn with_simd<S: pulp::Simd>(self, simd: S) -> Vec<String> {
        let mut wrong = Vec::new();
        for [a, b, c] in (0..self.count).flat_map(hard) {
            let [x, y, z] = [a, b, c].map(|x| simd.splat_f32s(x));
            let first = |lanes| bytemuck::cast_slice::<S::f32s, f32>(&[lanes])[0];
            let pairs = [
                (first(fused(simd, x, y, z)), a.mul_add(b, c)),
                (first(fused_negated(simd, x, y, z)), (-a).mul_add(b, c)),
            ];
            let is_wrong = |(got, expected): &(f32, f32)| got.to_bits() != expected.to_bits() && !expected.is_nan();
            wrong.extend(pairs.iter().filter(|pair| is_wrong(pair)).map(|(got, expected)| {
                let bits = [a, b, c].map(f32::to_bits);
                format!("{bits:x?} give {:x}, expected {:x}", got.to_bits(), expected.to_bits())
            }));
        }
        wrong
    }
}

/// Difficult sums: of any bits, with cancellation, next to the midpoint of two floats, and below the smallest normal float.
fn hard(draw: u32) -> [[f32; 3]; 4] {
    let ([p, q], [r, s]) = (threefry([0, 1], [draw, 0]), threefry([0, 1], [draw, 1]));
    let near_one = |bits: u32| f32::from_bits(0x3F80_0000 | (bits >> 9));
    let two_to = |power: u32| f32::from_bits(power << 23);
    let (a, b) = (near_one(p), near_one(q));
    // a · half is 2^-24 up to rounding: half a unit in the last place, slightly more or slightly less.
    let half = two_to(127 - 24) / a;
    [
        [f32::from_bits(p), f32::from_bits(q), f32::from_bits(r)],
        [a, b, f32::from_bits((-a * b).to_bits() ^ (s & 3))],
        [a, if s & 1 == 0 { half } else { -half }, near_one(r)],
        [a * two_to(30 + s % 40), b * two_to(30), f32::from_bits(r & 0x80FF_FFFF)],
    ]
}

/// Panics inside a promise.
#[wasm_bindgen]
pub async fn panic_to_order() {
    meromorph::internal::host::breathe().await;
    panic!("as ordered");
}
