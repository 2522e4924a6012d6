// out[o, c, i] = scale * join over r in chunk c of value(o, r, i), for an index space [outer, extent, inner].
// LANES invocations share one result: 1 for short extents, else the workgroup
// with a tree over its partial results, of the same shape for any SUBGROUP (see common/tree).

struct Params {
    dims: vec4<u32>,
    strides: array<vec4<u32>, 7>,
    outer: u32,
    extent: u32,
    inner: u32,
    chunk: u32,
    scale: f32,
}

@group(1) @binding(0) var<uniform> params: Params;

var<workgroup> best: array<f32, 128>;
var<workgroup> place: array<u32, 128>;

fn value_at(o: u32, r: u32, i: u32) -> f32 { return value((o * params.extent + r) * params.inner + i); }

fn reduce_from(o: u32, i: u32, first: u32, last: u32, step: u32) -> Item {
    var item = Item(start(), first);
    var r = first;
    // Four values are read before the first is joined: on GPUs loads take longer than all else.
    for (; r + 3u * step < last; r += 4u * step) {
        let a = value_at(o, r, i);
        let b = value_at(o, r + step, i);
        let c = value_at(o, r + 2u * step, i);
        let d = value_at(o, r + 3u * step, i);
        item = join(join(join(join(item, Item(a, r)), Item(b, r + step)), Item(c, r + 2u * step)), Item(d, r + 3u * step));
    }
    for (; r < last; r += step) { item = join(item, Item(value_at(o, r, i), r)); }
    return item;
}

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // An empty extent has one empty chunk: its sum is 0.
    let chunk = max(params.chunk, 1u);
    let chunks = max((params.extent + chunk - 1u) / chunk, 1u);
    let at = (group_number(group, groups) * 128u + lane) / LANES;
    let is_inside = at < params.outer * chunks * params.inner;
    let i = at % params.inner;
    let c = (at / params.inner) % chunks;
    let o = at / (params.inner * chunks);
    let first = c * params.chunk;
    let last = select(first, min(first + params.chunk, params.extent), is_inside);
    var item = reduce_from(o, i, first + lane % LANES, last, LANES);
    if LANES > 1u {
        for (var apart = 1u; apart < SUBGROUP; apart *= 2u) {
            item = join(item, Item(exchanged(item.value, apart), exchanged_word(item.place, apart)));
        }
        for (var apart = SUBGROUP; apart < LANES; apart *= 2u) {
            if lane % apart == 0u {
                best[lane] = item.value;
                place[lane] = item.place;
            }
            workgroupBarrier();
            if lane % (2u * apart) == 0u {
                item = join(item, Item(best[lane + apart], place[lane + apart]));
            }
        }
    }
    if is_inside && lane % LANES == 0u {
        out[at] = finish(item, params.scale);
    }
}
