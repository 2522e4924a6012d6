//! The platform in a browser, through web-sys: no files and one thread. The items are those of `native.rs` and `files.rs`.

use std::arch::wasm32::{f32x4_pmax, f32x4_pmin};
use std::cell::Cell;
use std::path::Path;

use bytemuck::cast;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use super::sharing;
use crate::error::{Error, Result};

/// A limit on memory, see the native twin.
pub struct MemoryLimit {
    /// Bytes.
    pub bytes: u64,
    /// What limits them.
    pub by: &'static str,
}

/// The most memory there can be: addresses have 32 bits.
pub const fn memory_left() -> MemoryLimit {
    MemoryLimit { bytes: 4 << 30, by: "32-bit addresses" }
}

/// Its bytes.
pub const fn memory_bytes() -> u64 {
    memory_left().bytes
}

/// Nothing to count: allocations fail at the limit. See the native twin.
pub fn claim(_bytes: usize) -> bool {
    true
}

/// See the native twin.
pub fn release(_bytes: usize) {}

/// Milliseconds since the page (or worker) started.
pub fn now_ms() -> f64 {
    let global = js_sys::global();
    let performance = js_sys::Reflect::get(&global, &"performance".into()).ok();
    performance.and_then(|p| p.dyn_into::<web_sys::Performance>().ok()).map_or_else(js_sys::Date::now, |p| p.now())
}

/// Seconds since 1970, by the machine's clock.
pub fn unix_seconds() -> u64 {
    (js_sys::Date::now() / 1e3) as u64
}

/// A random seed.
pub fn entropy() -> u64 {
    (js_sys::Math::random() * 2f64.powi(53)) as u64
}

/// Threads that can run at once.
pub fn threads() -> usize {
    1
}

/// What `work` makes of each part, in their order.
pub fn in_threads<T, R>(parts: &[T], work: impl Fn(&T) -> R) -> Vec<R> {
    parts.iter().map(work).collect()
}

/// The longest time without a turn for the page's other work.
const TURN_MS: f64 = 16.0;

thread_local! {
    static LAST_BREATH_MS: Cell<f64> = const { Cell::new(0.0) };
}

/// Lets the page's other work run, if it did not for a while. A message returns at once; browsers delay a timer by 4 ms each time, and by a second
/// in a hidden page.
pub async fn breathe() {
    if now_ms() - LAST_BREATH_MS.get() < TURN_MS {
        return;
    }
    // Other code that runs meanwhile does not belong to the shared training.
    let share = sharing(None);
    if let Ok(channel) = web_sys::MessageChannel::new() {
        let sent = |resolve: js_sys::Function, _| {
            channel.port1().set_onmessage(Some(&resolve));
            // If the message cannot be sent, there is no pause.
            if channel.port2().post_message(&JsValue::NULL).is_err() {
                let _ = resolve.call0(&JsValue::NULL);
            }
        };
        let _ = JsFuture::from(js_sys::Promise::new(&mut { sent })).await;
        channel.port1().close();
    }
    sharing(share);
    LAST_BREATH_MS.set(now_ms());
}

/// The processor's name.
pub fn processor() -> String {
    "WebAssembly".into()
}

/// The vector instructions the kernels will use.
pub fn instruction_set() -> String {
    if super::FUSES { "relaxed simd128".into() } else { "simd128".into() }
}

/// Runs `op` with those instructions. Every browser that has WebGPU has them, so there is no second copy of the kernels.
#[inline]
pub fn vectorize<Op: pulp::WithSimd>(op: Op) -> Op::Output {
    let simd = super::Instructions::try_new().expect("build for wasm with -Ctarget-feature=+simd128");
    pulp::Simd::vectorize(simd, op)
}

/// A constant that a kernel's inner loop uses. Loading it is one instruction; V8 rebuilds a constant of four lanes in three, at each use.
#[expect(clippy::inline_always, unsafe_code, reason = "one number of the kernels, read through a pointer")]
#[inline(always)]
pub fn from_memory(x: &'static f32) -> f32 {
    // SAFETY: a reference is readable.
    unsafe { std::ptr::from_ref(x).read_volatile() }
}

/// The larger of the two; x where x is NaN. The wasm instruction `max` takes eight on x86-64, because of NaN; this one takes one.
#[expect(clippy::inline_always, reason = "one instruction of the kernels")]
#[inline(always)]
pub fn larger<S: pulp::Simd>(_simd: S, low: S::f32s, x: S::f32s) -> S::f32s {
    cast(f32x4_pmax(cast(x), cast(low)))
}

/// The smaller of the two; x where x is NaN.
#[expect(clippy::inline_always, reason = "one instruction of the kernels")]
#[inline(always)]
pub fn smaller<S: pulp::Simd>(_simd: S, high: S::f32s, x: S::f32s) -> S::f32s {
    cast(f32x4_pmin(cast(x), cast(high)))
}

/// The number nearest to a decimal text.
pub(crate) fn nearest_number(text: &str) -> f64 {
    js_sys::parse_float(text)
}

#[wasm_bindgen]
extern "C" {
    /// One digit before the point and `digits` behind it, the larger of two as near; without `digits` as few as read back.
    #[wasm_bindgen(js_namespace = ["Number", "prototype", "toExponential"], js_name = call)]
    fn exponential(value: f64, digits: Option<u32>) -> String;
}

/// The shortest text of a finite number of at least 0 that reads back as it; see the native twin.
pub(crate) fn shortest(value: f64, is_single: bool) -> String {
    let reads_back = |text: &String| {
        let read = js_sys::parse_float(text);
        if is_single { read as f32 == value as f32 } else { read == value }
    };
    let text = exponential(value, None);
    if !is_single {
        // If two shortest texts are equally near, the standard lets the engine choose, except for a given length.
        let length = text.find('e').map_or(0, |at| at.saturating_sub(2));
        return Some(exponential(value, Some(length as u32))).filter(reads_back).unwrap_or(text);
    }
    for digits in 0..9 {
        // The numbers that read back as a power of two extend further above it than below: if the nearest text does not read back, one above may.
        for near in [value, value * (1.0 + f64::from(f32::EPSILON) / 8.0)] {
            let text = exponential(near, Some(digits));
            if reads_back(&text) {
                return text;
            }
        }
    }
    text
}

/// sin(x), x in radians.
pub fn sin(x: f64) -> f64 {
    js_sys::Math::sin(x)
}

/// cos(x), x in radians.
pub fn cos(x: f64) -> f64 {
    js_sys::Math::cos(x)
}

/// base^exponent.
pub fn pow(base: f64, exponent: f64) -> f64 {
    js_sys::Math::pow(base, exponent)
}

/// Peak memory in bytes: 0, for a browser does not report it.
pub fn peak_bytes() -> u64 {
    0
}

/// Memory now in bytes: 0, for a browser does not report it.
pub fn resident_bytes() -> u64 {
    0
}

/// A browser reads no archives, so there is never one.
pub enum Archive {}

impl Archive {
    /// Always an error.
    pub fn open(_bytes: &[u8], source: &str) -> Result<Self> {
        Err(Error::new(format!("{source}: archives are not read in a browser")))
    }

    /// See the native twin.
    pub fn names(&self) -> Result<Vec<String>> {
        match *self {}
    }

    /// See the native twin.
    pub fn unpack(&mut self, _name: &str) -> Result<Vec<u8>> {
        match *self {}
    }
}

/// Always an error: a browser has no files.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    Err(Error::new(format!("cannot read {}: a browser has no files", path.display())))
}

/// Always an error: a browser has no standard input.
pub fn read_stdin() -> Result<Vec<u8>> {
    Err(Error::new("cannot read standard input: a browser has no standard input"))
}

/// Always an error: a browser has no files.
pub fn write_whole(path: &Path, _bytes: &[u8]) -> Result<()> {
    Err(Error::new(format!("cannot write {}: a browser has no files", path.display())))
}

/// Nothing is kept for later: a page has storage of its own.
pub fn kept(_name: &str) -> Option<String> {
    None
}

/// Keeps nothing.
pub fn keep(_name: &str, _text: &str) {}
