//! The kernels: device code, CPU path, grid and cost, one file per stem of `shaders/`. Nothing here knows tensors or gradients.

pub mod common;
pub mod map;
pub mod matmul;
pub mod pointwise;
mod prelude;
pub mod program;
pub mod reduce;
pub mod scalar;
