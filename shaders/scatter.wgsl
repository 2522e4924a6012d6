// out[r, c] = element(r, c), with element from the variant: each invocation searches the values of its own element.

struct Params {
    count: u32,
    rows: u32,
    columns: u32,
}

@group(0) @binding(0) var<storage, read> values: array<f32>;
@group(0) @binding(1) var<storage, read> index: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = group_number(group, groups) * 256u + lane;
    if i < params.rows * params.columns {
        out[i] = element(i / params.columns, i % params.columns);
    }
}
