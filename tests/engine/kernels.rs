//! Every kernel's cases on every device of this machine: the result is within the bound of its f64 oracle, and no word outside the output is
//! written. Without a Vulkan driver the GPU tests fail unless `MERO_NO_GPU=1` is set.

use meromorph::device::{Device, EXCHANGE, Products, Request};
use meromorph::internal::{cases, kernels};
use pollster::block_on;

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
    check_all(&webgpu(true));
}

#[test]
fn subgroups_change_no_bit() {
    if std::env::var_os("MERO_NO_GPU").is_some() {
        return;
    }
    let [device, plain] = [true, false].map(webgpu);
    let has_subgroups = device.info().features.iter().any(|name| name == "subgroups");
    assert_eq!((device.info().subgroup > 1, plain.info().subgroup), (has_subgroups, 1));
    for (kernel, _) in kernels::ALL.iter().filter(|(kernel, _)| kernel.wgsl.contains(&EXCHANGE)) {
        let (failures, count) = block_on(kernels::check::differing(kernels::ALL, kernel.name, [&device, &plain], 1));
        assert!(
            count > 0 && failures.is_empty(),
            "{}: {count} cases, of which differ:\n{}",
            kernel.name,
            failures.join("\n")
        );
    }
}

/// On a GPU with cuBLAS, all products that it can compute: `MERO_GPU=cuda`.
#[test]
fn products_of_the_library_agree_with_the_oracles() {
    if crate::devices::gpu() != "cuda" {
        return;
    }
    let request = Request { device: "cuda".into(), products: Products::Library, ..Request::default() };
    let device = block_on(Device::open(&request)).expect("CUDA with cuBLAS");
    let (failures, count) = block_on(kernels::check::check_all(&cases::all(), &device, "matmul", 1));
    assert!(count > 0 && failures.is_empty(), "of {count}:\n{}", failures.join("\n"));
}

fn webgpu(subgroups: bool) -> Device {
    let request = Request { device: crate::devices::gpu(), subgroups, ..Request::default() };
    block_on(Device::open(&request)).unwrap_or_else(|error| {
        panic!("{error}\ninstall the package mesa-vulkan-drivers for a software adapter, or set MERO_NO_GPU=1")
    })
}

fn check_all(device: &Device) {
    let expected = std::env::var("MERO_CASE").unwrap_or_default();
    let (failures, count) = block_on(kernels::check::check_all(&cases::all(), device, &expected, 1));
    assert!(count > 0, "no case is called \"{expected}\"");
    assert!(failures.is_empty(), "on {}:\n{}", device.info().name, failures.join("\n"));
}
