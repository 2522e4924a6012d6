//! Fragments of WGSL that several kernels join.

/// Scalar functions WGSL lacks.
pub const SCALAR: &str = include_str!("../../shaders/common/scalar.wgsl");
/// Indices and grids.
pub const INDEX: &str = include_str!("../../shaders/common/index.wgsl");
