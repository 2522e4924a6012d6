//! Meromorph trains and runs models in a terminal, in a Rust program and in a browser tab, on GPUs and on plain CPUs.

pub mod autograd;
pub mod cases;
#[cfg(all(feature = "cli", not(target_arch = "wasm32")))]
pub mod cli;
pub mod device;
pub mod error;
#[cfg(not(target_arch = "wasm32"))]
pub mod experiment;
#[cfg(not(target_arch = "wasm32"))]
pub mod export;
pub mod host;
pub mod io;
pub mod json;
pub mod kernels;
pub mod loss;
pub mod nn;
pub mod ops;
pub mod optim;
pub mod program;
pub mod scm;
pub mod simd;
pub mod tensor;
pub mod train;
#[cfg(all(target_arch = "wasm32", not(feature = "portable")))]
pub mod wasm;
#[cfg(all(target_arch = "wasm32", feature = "portable"))]
#[path = "wasm/portable.rs"]
pub mod wasm;

/// The kernels' cases for the browser tests.
#[cfg(all(target_arch = "wasm32", feature = "evidence"))]
#[path = "wasm/evidence.rs"]
pub mod evidence;

pub use device::Device;
pub use error::{Error, Result};
