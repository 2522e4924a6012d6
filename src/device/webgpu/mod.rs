//! The WebGPU device: WGSL through wgpu, natively (Vulkan, Metal, DX12) and in a browser.

mod adapter;
#[cfg(not(target_arch = "wasm32"))]
mod encode;
#[cfg(target_arch = "wasm32")]
#[path = "encode_web.rs"]
mod encode;
mod gpu;
#[cfg(not(target_arch = "wasm32"))]
mod platform;
#[cfg(target_arch = "wasm32")]
#[path = "platform_web.rs"]
mod platform;
mod signal;
mod subgroups;
#[cfg(not(target_arch = "wasm32"))]
mod timestamps;
#[cfg(target_arch = "wasm32")]
#[path = "timestamps_web.rs"]
mod timestamps;

pub use adapter::{MATRICES_BYTES, MATRICES_FEATURE};
pub(super) use gpu::ENTRY;
