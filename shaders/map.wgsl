// out[i] = value(i), with value generated from a program of scalar ops, or two values in a word.

struct Params {
    dims: vec4<u32>,
    strides: array<vec4<u32>, 7>,
    count: u32,
}

@group(1) @binding(0) var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = group_number(group, groups) * 256u + lane;
    if i < stored(params.count) {
        out[i] = word(i);
    }
}
