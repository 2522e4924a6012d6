//! What an adapter is and what it offers.

use super::platform::add_subgroups;
use super::{subgroups, timestamps};
use crate::device::info::{Execution, Info, Tiles};
use crate::device::request::Request;
use crate::device::switches;

/// The name of the device.
pub(super) const NAME: &str = "webgpu";

/// Whether it is a GPU implemented in software.
pub(super) fn is_software(adapter: &wgpu::Adapter) -> bool {
    let info = adapter.get_info();
    tiles(&info.name, info.device_type) != Tiles::ManySmall
}

/// The split that is fastest on an adapter. No interface reports it, so it follows from the adapter's name and type.
pub(super) fn tiles(name: &str, kind: wgpu::DeviceType) -> Tiles {
    // Browsers and drivers spell it differently, and browsers do not report the type.
    let word = b"swiftshader";
    if name.as_bytes().windows(word.len()).any(|part| part.eq_ignore_ascii_case(word)) {
        Tiles::PerInvocation
    } else if kind == wgpu::DeviceType::Cpu {
        Tiles::FewLarge
    } else {
        Tiles::ManySmall
    }
}

/// Describes a device on the adapter.
pub(super) fn describe(adapter: &wgpu::Adapter) -> Info {
    let (info, limits, features) = (adapter.get_info(), adapter.limits(), adapter.features());
    let known = [
        (wgpu::Features::SHADER_F16, "f16"),
        (wgpu::Features::SUBGROUP, "subgroups"),
        (wgpu::Features::TIMESTAMP_QUERY, "timestamps"),
        (wgpu::Features::SHADER_F64, "f64"),
    ];
    let features = known.iter().filter(|(bit, _)| features.contains(*bit)).map(|(_, name)| *name);
    let features = features.chain(has_matrices(adapter).then_some(MATRICES_FEATURE)).map(String::from).collect();
    let tiles = tiles(&info.name, info.device_type);
    let switches = switches::suffix(&[switches::GENERIC, switches::CHECKED]);
    let subgroup = subgroups::lanes(&info, adapter.features().contains(wgpu::Features::SUBGROUP));
    let name = if info.name.is_empty() { "browser WebGPU adapter".to_owned() } else { info.name };
    Info {
        device: NAME,
        name,
        driver: format!("{:?} {}", info.backend, info.driver_info).trim_end().to_owned() + &switches,
        execution: Execution::Shaders,
        tiles,
        is_software: is_software(adapter),
        threads: 1,
        max_binding_bytes: limits.max_storage_buffer_binding_size,
        workgroup_bytes: limits.max_compute_workgroup_storage_size,
        subgroup,
        features,
    }
}

/// The feature of adapters with cooperative matrices of 16 x 16 halves whose products are summed as floats.
pub const MATRICES_FEATURE: &str = "matrices";

/// Workgroup memory that kernels with such matrices take.
pub const MATRICES_BYTES: u32 = 28_672;

/// Whether kernels may use cooperative matrices. Theirs count on subgroups of 32 lanes.
fn has_matrices(adapter: &wgpu::Adapter) -> bool {
    let needed = wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX | wgpu::Features::SHADER_F16;
    let wgpu::AdapterInfo { subgroup_min_size: least, subgroup_max_size: most, .. } = adapter.get_info();
    let is_fitting = |found: &wgpu::CooperativeMatrixProperties| {
        [found.m_size, found.n_size, found.k_size] == [16; 3]
            && found.ab_type == wgpu::CooperativeScalarType::F16
            && found.cr_type == wgpu::CooperativeScalarType::F32
    };
    [least, most] == [32; 2]
        && adapter.limits().max_compute_workgroup_storage_size >= MATRICES_BYTES
        && adapter.features().contains(needed)
        && adapter.cooperative_matrix_properties().iter().any(is_fitting)
}

/// How its device is opened: with all that it has and kernels use, as far as the request allows.
pub(super) fn descriptor(adapter: &wgpu::Adapter, request: &Request) -> wgpu::DeviceDescriptor<'static> {
    let mut descriptor = wgpu::DeviceDescriptor {
        label: Some("meromorph"),
        required_features: adapter.features() & wgpu::Features::SHADER_F16,
        required_limits: adapter.limits(),
        ..wgpu::DeviceDescriptor::default()
    };
    if request.subgroups {
        add_subgroups(adapter, &mut descriptor);
        if has_matrices(adapter) {
            descriptor.required_features |= wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX;
            #[allow(unsafe_code, reason = "wgpu marks what it calls experimental as unsafe")]
            // SAFETY: `has_matrices` has seen that the adapter has the only shapes that kernels use.
            let experimental_features = unsafe { wgpu::ExperimentalFeatures::enabled() };
            descriptor.experimental_features = experimental_features;
        }
    }
    if request.timestamps {
        descriptor.required_features |= adapter.features() & timestamps::FEATURES;
    }
    descriptor
}
