//! The GPU of the tests.

/// The device that runs the tests for GPUs: `MERO_GPU`, such as `cuda` or `webgpu:1`, or else `webgpu`.
pub(crate) fn gpu() -> String {
    std::env::var("MERO_GPU").unwrap_or_else(|_| "webgpu".to_owned())
}
