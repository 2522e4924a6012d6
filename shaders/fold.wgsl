// Sums of gradients over the parts of a step and, in a group of steps, over the steps before; with their norms.
// sums: the gradients; loss sum and weight of this step, weight of the group; a figure for each line of 64 words, in which no two tensors
// meet; a figure for each workgroup, which takes every n-th block of four lines.
const WORKGROUP: u32 = 64u;
const LINE: u32 = 16u;
const TAIL: u32 = 16u;
struct Params { total: u32, parts: u32, group: u32, workgroups: u32 }

@group(0) @binding(0) var<storage, read> partials: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> control: array<u32>;
@group(0) @binding(2) var<storage, read_write> sums: array<vec4<f32>>;
@group(1) @binding(0) var<uniform> params: Params;

var<workgroup> figures: array<vec4<f32>, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(local_invocation_id) local: vec3<u32>, @builtin(workgroup_id) workgroup: vec3<u32>) {
    let n = params.total / 4u;
    let stride = n + TAIL;
    let is_first = control[3] % params.group == 0u;
    let lane = local.x % LINE;
    var whole = vec4<f32>();
    for (var start = workgroup.x * WORKGROUP; start < n; start += params.workgroups * WORKGROUP) {
        let i = start + local.x;
        var figure = vec4<f32>();
        if (i < n) {
            var g = vec4<f32>();
            for (var p = 0u; p < params.parts; p++) { g += partials[p * stride + i]; }
            if (!is_first) { g += sums[i]; }
            sums[i] = g;
            figure = figure_of(g);
        }
        figures[local.x] = figure;
        workgroupBarrier();
        for (var half = LINE / 2u; half > 0u; half /= 2u) {
            if (lane < half) { figures[local.x] = joined(figures[local.x], figures[local.x + half]); }
            workgroupBarrier();
        }
        if (i < n && lane == 0u) { sums[n + TAIL + i / LINE] = figures[local.x]; }
        if (local.x == 0u) {
            for (var line = 0u; line < WORKGROUP; line += LINE) { whole = joined(whole, figures[line]); }
        }
        workgroupBarrier();
    }
    if (local.x == 0u) {
        sums[n + TAIL + n / LINE + workgroup.x] = whole;
        if (workgroup.x == 0u) {
            var seen = vec2<f32>();
            for (var p = 0u; p < params.parts; p++) { seen += partials[p * stride + n].xy; }
            var weight = seen.y;
            if (!is_first) { weight += sums[n].z; }
            sums[n] = vec4<f32>(seen, weight, 0.0);
        }
    }
}
