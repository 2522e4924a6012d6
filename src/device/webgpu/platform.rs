//! What a native program does with adapters and devices in its own way. `platform_web.rs` has the same items for browsers.

use crate::error::{Error, Result};

/// Adapters present, best first.
pub(super) async fn adapters() -> Vec<wgpu::Adapter> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::PRIMARY;
    let mut all = wgpu::Instance::new(descriptor).enumerate_adapters(wgpu::Backends::PRIMARY).await;
    all.sort_by_key(|adapter| match adapter.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu | wgpu::DeviceType::Other => 2,
        wgpu::DeviceType::Cpu => 3,
    });
    all
}

/// Requests subgroups for the next device of `adapter`, if the adapter has them.
pub(super) fn add_subgroups(adapter: &wgpu::Adapter, descriptor: &mut wgpu::DeviceDescriptor<'_>) {
    descriptor.required_features |= adapter.features() & wgpu::Features::SUBGROUP;
}

/// Whether it was opened with subgroups.
pub(super) fn has_subgroups(device: &wgpu::Device) -> bool {
    device.features().contains(wgpu::Features::SUBGROUP)
}

/// The adapter's full name, if wgpu does not report it. Natively it does.
pub(super) fn full_name(_device: &wgpu::Device) -> Option<String> {
    None
}

/// Whether submitted work can be waited for.
pub(super) const CAN_WAIT: bool = true;

/// Identifies a submit, to wait for it.
pub(super) type Ticket = wgpu::SubmissionIndex;

/// Waits for a submit, or for all.
pub(super) fn wait(device: &wgpu::Device, ticket: Option<Ticket>) -> Result<()> {
    let outcome = device.poll(wgpu::PollType::Wait { submission_index: ticket, timeout: None });
    outcome.map(|_| ()).map_err(|error| Error::device(format!("webgpu: {error}")))
}

/// Closes a device that is not used any more. Natively wgpu does.
pub(super) fn close(_device: &wgpu::Device) {}
