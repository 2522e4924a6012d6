// The parameter update: g = sum over parts of partials / weight, times the factor of `limited`, then the body's `update`; report[cursor] = mean
// loss. If the sums come from `fold`, there is one part, and its weight is that of the steps that make one update. After the moments come
// two copies of the state of limits, one read and one written by turns, because invocations do not wait for each other.
struct Params { total: u32, parts: u32, steps: u32, group: u32, span: u32, rows: u32, tables: u32, figures: u32, folded: u32 }

@group(0) @binding(0) var<storage, read> order: array<u32>;
@group(0) @binding(1) var<storage, read> partials: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> theta: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> moments: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> control: array<u32>;
@group(0) @binding(5) var<storage, read_write> report: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

fn word(at: u32) -> f32 { return bitcast<f32>(order[at]); }
fn rates_at(at: u32) -> vec4<f32> { return vec4<f32>(word(at), word(at + 1u), word(at + 2u), word(at + 3u)); }

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let cursor = control[3];
    let n = params.total / 4u;
    let stride = params.folded / 4u + 16u;
    var seen = vec4<f32>();
    for (var p = 0u; p < params.parts; p++) { seen += partials[p * stride + params.folded / 4u]; }
    let weight = seen[WEIGHT];
    let is_last = (cursor + 1u) % params.group == 0u || cursor + 1u >= params.steps;
    var share = 0.0;
    if (weight > 0.0) { share = 1.0 / weight; }
    let limit = limited(id.x, lane, n, share, cursor, is_last);
    if (limit.is_applied) {
        let rates = rates_at(4u * limit.row);
        for (var i = id.x; i < n; i += groups.x * WORKGROUP) {
            var g = vec4<f32>();
            for (var p = 0u; p < params.parts; p++) { g += partials[p * stride + i]; }
            updated(i, n, g * (limit.share * limit.factor), limit.share, limit.row, rates);
        }
    }
    if (id.x == 0u) {
        report[cursor] = 0.0;
        if (seen.y > 0.0) { report[cursor] = seen.x / seen.y; }
        control[0] = control[2];
        control[1] = select(cursor + 1u, 0u, cursor + 1u >= params.steps);
    }
}
