//! Meromorph trains and runs models in a terminal, in a Rust program and in a browser tab, on GPUs and on plain CPUs.

pub mod autograd;
pub mod device;
pub mod error;
pub mod host;
pub mod kernels;
pub mod ops;
pub mod tensor;

pub use device::Device;
pub use error::{Error, Result};
