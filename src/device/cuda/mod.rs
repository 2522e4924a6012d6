//! The CUDA device: each kernel's WGSL, printed as CUDA C++, compiled when it is first used and launched through the driver. Driver and compiler are
//! libraries that are loaded when the device is opened, so neither building nor starting the program needs them.

#[cfg(not(feature = "cuda"))]
mod absent;
#[cfg(feature = "cuda")]
mod compile;
#[cfg(feature = "cuda")]
mod driver;
#[cfg(feature = "cuda")]
mod gpu;
#[cfg(feature = "cuda")]
mod launch;
#[cfg(feature = "cuda")]
mod library;
pub mod print;
#[cfg(feature = "cuda")]
mod staging;
#[cfg(feature = "cuda")]
mod whole;

#[cfg(not(feature = "cuda"))]
pub(super) use absent::ENTRY;
#[cfg(feature = "cuda")]
pub(super) use gpu::ENTRY;
