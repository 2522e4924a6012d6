// Per row of a: [rows, columns]: rstd = 1 / sqrt(variance + eps), out = (a - mean) * rstd. LANES invocations share a row.

struct Params {
    rows: u32,
    columns: u32,
    eps: f32,
}

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@group(0) @binding(2) var<storage, read_write> rstd: array<f32>;
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
    let share = 1.0 / f32(params.columns);
    var sum = 0.0;
    for (var c = first; c < columns; c += LANES) {
        sum += a[base + c];
    }
    let mean = tree_sum(lane, sum) * share;
    var squares = 0.0;
    for (var c = first; c < columns; c += LANES) {
        let d = a[base + c] - mean;
        squares += d * d;
    }
    let scale = 1.0 / sqrt(tree_sum(lane, squares) * share + params.eps);
    for (var c = first; c < columns; c += LANES) {
        out[base + c] = (a[base + c] - mean) * scale;
    }
    if first == 0u && columns > 0u {
        rstd[row] = scale;
    }
}
