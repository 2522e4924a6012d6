//! How many lanes of a workgroup exchange values within a subgroup, and a probe of whether they do.

use crate::device::record::{BoundCommand, Cost, EXCHANGE, Kernel, Region};

/// Half of the smallest workgroup of a kernel: with more lanes, nothing would be left to combine through workgroup memory.
const MAX_LANES: u32 = 64;

/// Lanes that are always in one subgroup. The size may differ between pipelines, so this is the smallest.
pub(super) fn lanes(adapter: &wgpu::AdapterInfo, has_subgroups: bool) -> u32 {
    let smallest = adapter.subgroup_min_size;
    if has_subgroups && smallest.is_power_of_two() { smallest.min(MAX_LANES) } else { 1 }
}

/// Invocations of the probe.
pub(super) const PROBED: usize = 128;

/// Writes into `out`, for each lane of a workgroup, whether it reads the values of the lanes it should.
pub(super) fn probe(out: Region) -> BoundCommand {
    static PROBE: Kernel = Kernel {
        name: "subgroup_probe",
        params: &[],
        wgsl: &[EXCHANGE, crate::wgsl!("common/subgroup_probe")],
        cpu: |call| call.outputs[0].fill(0),
        grid: |_| [1, 1, 1],
        cost: |_| Cost { flops: 0, bytes: 0 },
        fuse: None,
        in_place: None,
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
