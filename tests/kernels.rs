//! Every kernel's cases on every device here: the result within the bound of its f64 oracle, and not one word outside the output touched.
//! Without a Vulkan driver the GPU half fails unless `MERO_NO_GPU=1` says that there is none.

use meromorph::device::{Device, Request};
use meromorph::kernels;

#[test]
fn cpu_agrees_with_the_oracles() {
    check_all(&Device::cpu(1));
}

#[test]
fn two_cpu_threads_agree_with_the_oracles() {
    check_all(&Device::cpu(2));
}

#[test]
fn webgpu_agrees_with_the_oracles() {
    if std::env::var_os("MERO_NO_GPU").is_some() {
        return;
    }
    let request = Request { device: "webgpu".into(), threads: 0 };
    let device = pollster::block_on(Device::open(&request)).unwrap_or_else(|error| {
        panic!("{error}\ninstall the package mesa-vulkan-drivers for a software adapter, or set MERO_NO_GPU=1")
    });
    check_all(&device);
}

fn check_all(device: &Device) {
    let wanted = std::env::var("MERO_CASE").unwrap_or_default();
    let (failures, count) = pollster::block_on(kernels::check::check_all(device, &wanted));
    assert!(count > 0, "no case is called \"{wanted}\"");
    assert!(failures.is_empty(), "on {}:\n{}", device.info().name, failures.join("\n"));
}
