// The parameter update: g = sum over parts of partials / weight sum, then the optimiser fragment's `update`; report[cursor] = mean loss.
// In a group of steps, sums of the earlier steps are stored after the moments, and only the last step updates. Their weight alternates between
// two places, one read and one written, because invocations do not wait for each other.
@group(0) @binding(0) var<storage, read> order: array<u32>;
@group(0) @binding(1) var<storage, read> partials: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> theta: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> moments: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> control: array<u32>;
@group(0) @binding(5) var<storage, read_write> report: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

fn rate(cursor: u32, i: u32) -> f32 { return bitcast<f32>(order[4u * cursor + i]); }

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let cursor = control[3];
    let rates = vec4<f32>(rate(cursor, 0u), rate(cursor, 1u), rate(cursor, 2u), rate(cursor, 3u));
    let n = params.total / 4u;
    let stride = n + 16u;
    var seen = vec2<f32>();
    for (var p = 0u; p < params.parts; p++) { seen += partials[p * stride + n].xy; }
    let place = cursor % params.group;
    let is_last = place + 1u == params.group || cursor + 1u >= params.steps;
    var weight = seen.y;
    if (place > 0u) { weight += moments[3u * n + (place + 1u) % 2u].x; }
    var share = 0.0;
    if (weight > 0.0) { share = 1.0 / weight; }
    for (var i = id.x; i < n; i += groups.x * WORKGROUP) {
        var g = vec4<f32>();
        for (var p = 0u; p < params.parts; p++) { g += partials[p * stride + i]; }
        if (place > 0u) { g += moments[2u * n + i]; }
        if (params.group > 1u) { moments[2u * n + i] = g; }
        if (is_last) { update(i, n, g * share, rates); }
    }
    if (id.x == 0u) {
        if (params.group > 1u) { moments[3u * n + place % 2u] = vec4<f32>(weight); }
        report[cursor] = 0.0;
        if (seen.y > 0.0) { report[cursor] = seen.x / seen.y; }
        control[0] = control[2];
        control[1] = select(cursor + 1u, 0u, cursor + 1u >= params.steps);
    }
}
