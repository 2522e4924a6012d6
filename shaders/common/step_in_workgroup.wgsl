// A step with a workgroup for each part, which has its scratch and a copy of theta in its own memory.
var<workgroup> scratch: array<Kept, SCRATCH_QUADS>;
var<workgroup> copy: array<vec4<f32>, THETA_QUADS>;

fn scratch_of(part: u32) -> u32 { return 0u; }

/// Where the copy has quad `at`. Invocations side by side read rows of W four apart, which in wide layers are all in the same bank of memory. Moved like
/// this, eight of them are in different banks if a row has 64 words, and at least two if it has 32 or 128.
fn bank(at: u32) -> u32 { return at ^ ((at >> 6u) & 7u); }

fn held(at: u32) -> vec4<f32> { return copy[bank(at)]; }

fn hold_parameters(lane: u32) {
    for (var i = lane; i < params.total / 4u; i += LANES_PER_PART) { copy[bank(i)] = theta[i]; }
}

fn wait() { workgroupBarrier(); }
