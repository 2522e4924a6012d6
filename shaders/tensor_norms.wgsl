// The norm of each tensor, from the figures that `fold` has written for its lines: their union replaces that of the first line, and those of its other
// lines become 0, so that the union over all lines stays what it was.
const WORKGROUP: u32 = 64u;
// Lines; how often as many words as those of the parameters were summed; where the words of lines begin in `order`; where figures begin in `sums`.
struct Params { lines: u32, sets: u32, table: u32, figures: u32 }

@group(0) @binding(0) var<storage, read> order: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<vec4<f32>>;
@group(1) @binding(0) var<uniform> params: Params;

var<workgroup> figures: array<vec4<f32>, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    for (var line = workgroup.x; line < params.lines; line += groups.x) {
        let word = params.table + 3u * line;
        if (order[word + 1u] == line) {
            let end = order[word + 2u];
            for (var block = 0u; block < params.sets; block++) {
                let place = params.figures + block * params.lines;
                var own = vec4<f32>();
                for (var at = line + lane; at < end; at += WORKGROUP) {
                    own = joined(own, sums[place + at]);
                    sums[place + at] = vec4<f32>();
                }
                figures[lane] = own;
                workgroupBarrier();
                for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
                    if (lane < half) { figures[lane] = joined(figures[lane], figures[lane + half]); }
                    workgroupBarrier();
                }
                if (lane == 0u) { sums[place + line] = figures[0]; }
                workgroupBarrier();
            }
        }
    }
}
