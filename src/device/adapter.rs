//! What an adapter is and what it offers.

use super::webgpu::ENTRY;
use super::{Execution, Info, Tiles, subgroups};

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
    let tiles = tiles(&info.name, info.device_type);
    let subgroup = subgroups::lanes(&info, features.contains(wgpu::Features::SUBGROUP));
    let name = if info.name.is_empty() { "browser WebGPU adapter".to_owned() } else { info.name };
    Info {
        device: ENTRY.name,
        name,
        driver: format!("{:?} {}", info.backend, info.driver_info).trim_end().to_owned(),
        execution: Execution::Shaders,
        tiles,
        is_software: is_software(adapter),
        threads: 1,
        max_binding_bytes: limits.max_storage_buffer_binding_size,
        workgroup_bytes: limits.max_compute_workgroup_storage_size,
        subgroup,
        features: known.iter().filter(|(bit, _)| features.contains(*bit)).map(|(_, name)| (*name).into()).collect(),
    }
}
