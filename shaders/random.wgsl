// out[2 i], out[2 i + 1] = drawn(threefry(seed, (first + i, stream of this step))), with drawn from the variant.

struct Params {
    seed_low: u32,
    seed_high: u32,
    stream: u32,
    first: u32,
    count: u32,
    probability: f32,
    scale: f32,
}

@group(0) @binding(0) var<storage, read> control: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<To>;
@group(1) @binding(0) var<uniform> params: Params;

// Box and Muller: the radius from (0, 1], also accurate near 1; the angle as an exact fraction of a turn.
fn normal(bits: vec2<u32>) -> vec2<f32> {
    let u = unit(bits) + vec2<f32>(0x1p-24f, 0.0);
    let radius = sqrt(-2.0 * precise_log(u.x));
    let k = round(4.0 * u.y);
    let angle = (u.y - 0.25 * k) * 6.2831853;
    return radius * vec2<f32>(quadrant(angle, i32(k) + 1), quadrant(angle, i32(k)));
}

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = group_number(group, groups) * 256u + lane;
    let stream = stream_at(params.stream, control[2]);
    let value = drawn(threefry(vec2<u32>(params.seed_low, params.seed_high), vec2<u32>(params.first + i, stream)));
    if 2u * i < params.count {
        out[2u * i] = value.x;
    }
    if 2u * i + 1u < params.count {
        out[2u * i + 1u] = value.y;
    }
}
