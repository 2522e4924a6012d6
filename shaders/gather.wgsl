// out[i] = a[place(i)], with place = (row, column) from the variant; words of any type. Outside of a: the word of NaN.

struct Params {
    count: u32,
    rows: u32,
    columns: u32,
}

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> index: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
@group(1) @binding(0) var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = group_number(group, groups) * 256u + lane;
    if i < params.count {
        let at = place(i);
        var word = 0x7fc00000u;
        if at.x < params.rows && at.y < params.columns {
            word = a[at.x * params.columns + at.y];
        }
        out[i] = word;
    }
}
