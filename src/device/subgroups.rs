//! How lanes of a workgroup exchange values: through workgroup memory, or within a subgroup without a barrier. Kernels that list
//! `EXCHANGE` may call `exchanged` for the first SUBGROUP lanes; what they compute must be the same for any SUBGROUP.

use super::{BoundCommand, Cost, Kernel, Region};

/// The fragment by which a kernel asks; it exchanges nothing. A device with subgroups puts its own in its place.
pub const EXCHANGE: &str = crate::wgsl!("common/exchange_memory");

/// More lanes than half of a kernel's workgroup leave nothing to join.
const MAX_LANES: u32 = 64;

/// The fragment for `lanes` lanes to a subgroup.
pub(super) fn exchange(lanes: u32) -> String {
    match lanes {
        0 | 1 => EXCHANGE.to_owned(),
        _ => format!("const SUBGROUP: u32 = {lanes}u;\n{}", crate::wgsl!("common/exchange_subgroup")),
    }
}

/// Lanes that are sure to lie in one subgroup: the size of subgroups may vary from pipeline to pipeline, so the smallest counts.
pub(super) fn lanes(adapter: &wgpu::AdapterInfo, has_subgroups: bool) -> u32 {
    let smallest = adapter.subgroup_min_size;
    if has_subgroups && smallest.is_power_of_two() { smallest.min(MAX_LANES) } else { 1 }
}

/// Invocations of the probe.
pub(super) const PROBED: usize = 128;

/// Writes into `out` for each lane of a workgroup whether those beside it are where they should be.
pub(super) fn probe(out: Region) -> BoundCommand {
    static PROBE: Kernel = Kernel {
        name: "subgroup_probe",
        params: &[],
        wgsl: &[EXCHANGE, crate::wgsl!("common/subgroup_probe")],
        cpu: |call| call.outputs[0].fill(0),
        grid: |_| [1, 1, 1],
        cost: |_| Cost { flops: 0, bytes: 0 },
        fuse: None,
    };
    BoundCommand::Dispatch {
        kernel: &PROBE,
        body: None,
        params: Vec::new(),
        grid: [1, 1, 1],
        cost: Cost::default(),
        inputs: Vec::new(),
        outputs: vec![out],
    }
}
