// The transposes of gather, into out: [rows, columns]; `scattered` is from the variant.

struct Params {
    count: u32,
    rows: u32,
    columns: u32,
    span: u32,
    blocks: u32,
    width: u32,
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
    scattered(group_number(group, groups), lane);
}
