// Per row of a: [rows, columns]: top = max, total = sum of exp(a - top), then out = finish(a, top, total),
// one per column or, with ONE_PER_ROW, one per row. LANES invocations share a row.

struct Params {
    rows: u32,
    columns: u32,
}

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let row = (group_number(group, groups) * 128u + lane) / LANES;
    let first = lane % LANES;
    let base = row * params.columns;
    let columns = select(0u, params.columns, row < params.rows);
    var top = -0x1.fffffep+127f;
    for (var c = first; c < columns; c += LANES) {
        top = max(top, a[base + c]);
    }
    top = tree_max(lane, top);
    var total = 0.0;
    for (var c = first; c < columns; c += LANES) {
        total += exp(a[base + c] - top);
    }
    total = tree_sum(lane, total);
    if ONE_PER_ROW {
        if first == 0u && columns > 0u {
            out[row] = finish(top, top, total);
        }
        return;
    }
    for (var c = first; c < columns; c += LANES) {
        out[base + c] = finish(a[base + c], top, total);
    }
}
