//! The devices that a test runs on.

use meromorph::Device;
use meromorph::device::Request;
use pollster::block_on;

/// The device that runs the tests for GPUs: `MERO_GPU`, such as `cuda` or `webgpu:1`, or else `webgpu`.
pub(crate) fn gpu() -> String {
    std::env::var("MERO_GPU").unwrap_or_else(|_| "webgpu".to_owned())
}

/// The CPU with each of these numbers of threads, and the GPU unless `MERO_NO_GPU` is set.
pub(crate) fn devices(threads: &[usize]) -> Vec<Device> {
    let mut all: Vec<_> = threads.iter().map(|&threads| Device::cpu(threads)).collect();
    if std::env::var_os("MERO_NO_GPU").is_none() {
        let request = Request { device: gpu(), ..Request::default() };
        all.push(block_on(Device::open(&request)).expect("a Vulkan driver (mesa-vulkan-drivers), or MERO_NO_GPU=1"));
    }
    all
}
