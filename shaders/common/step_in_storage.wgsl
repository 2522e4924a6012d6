// A step whose parts have their scratch in storage.
@group(0) @binding(7) var<storage, read_write> scratch: array<Kept>;

fn scratch_of(part: u32) -> u32 { return part * params.span * params.stride; }

fn hold_parameters(lane: u32) {}

/// A barrier after which scratch can be read.
fn wait() { storageBarrier(); }
