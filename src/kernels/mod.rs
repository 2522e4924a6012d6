//! The kernels: device code, CPU path, grid and cost, one file per stem of `shaders/`. Nothing here knows tensors or gradients.

pub mod common;
pub mod evidence;
pub mod map;
pub mod matmul;
pub mod oracle;
pub mod pointwise;
mod prelude;
pub mod program;
pub mod reduce;
pub mod scalar;

use crate::device::{Case, Kernel};

/// Every kernel and its cases; only tests, benches and the `bench` command name this list, so other builds drop it.
pub static ALL: &[(&Kernel, fn() -> Vec<Case>)] =
    &[(&map::MAP, map::cases), (&matmul::MATMUL, matmul::cases), (&reduce::REDUCE, reduce::cases)];
