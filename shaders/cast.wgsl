// out[i] = convert(i), with the types of both sides and convert from the variant.

struct Params {
    count: u32,
    words: u32,
}

@group(0) @binding(0) var<storage, read> a: array<From>;
@group(0) @binding(1) var<storage, read_write> out: array<To>;
@group(1) @binding(0) var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = group_number(group, groups) * 256u + lane;
    if i < params.words {
        out[i] = convert(i);
    }
}
