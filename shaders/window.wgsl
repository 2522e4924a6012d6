// out[o, e, i] = a[o, e + skip - pad, i] where that is inside of a's extent, else 0; words of any type.

struct Params {
    count: u32,
    // Elements along the axis, of a and of out.
    extent: u32,
    kept: u32,
    inner: u32,
    skip: u32,
    pad: u32,
}

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(1) @binding(0) var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = group_number(group, groups) * 256u + lane;
    if i < params.count {
        let row = i / params.inner;
        let at = row % params.kept + params.skip;
        var word = 0u;
        if at >= params.pad && at - params.pad < params.extent {
            word = a[(row / params.kept * params.extent + at - params.pad) * params.inner + i % params.inner];
        }
        out[i] = word;
    }
}
