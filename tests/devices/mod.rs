//! The devices that a test runs on.

mod gpu;

use gpu::gpu;
use meromorph::Device;
use meromorph::device::Request;
use pollster::block_on;

/// The CPU with each of these numbers of threads, and the GPU unless `MERO_NO_GPU` is set.
pub(crate) fn devices(threads: &[usize]) -> Vec<Device> {
    let mut all: Vec<_> = threads.iter().map(|&threads| Device::cpu(threads)).collect();
    if std::env::var_os("MERO_NO_GPU").is_none() {
        let request = Request { device: gpu(), ..Request::default() };
        all.push(block_on(Device::open(&request)).expect("a Vulkan driver (mesa-vulkan-drivers), or MERO_NO_GPU=1"));
    }
    all
}
