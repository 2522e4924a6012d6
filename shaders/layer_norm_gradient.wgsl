// Per row of y: [rows, columns], the result of layer_norm with its rstd: da = rstd * (dy - mean(dy) - y * mean(dy * y)).
// LANES invocations share a row.

struct Params {
    rows: u32,
    columns: u32,
}

@group(0) @binding(0) var<storage, read> y: array<f32>;
@group(0) @binding(1) var<storage, read> rstd: array<f32>;
@group(0) @binding(2) var<storage, read> dy: array<f32>;
@group(0) @binding(3) var<storage, read_write> da: array<f32>;
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
    var product = 0.0;
    for (var c = first; c < columns; c += LANES) {
        sum += dy[base + c];
        product += dy[base + c] * y[base + c];
    }
    let mean = tree_sum(lane, sum) * share;
    let slope = tree_sum(lane, product) * share;
    for (var c = first; c < columns; c += LANES) {
        da[base + c] = rstd[row] * (dy[base + c] - mean - y[base + c] * slope);
    }
}
