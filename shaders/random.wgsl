// out[2 i], out[2 i + 1] = drawn(threefry(seed, (first + i, stream of this step))), with drawn from the variant.
// Threefry-2x32, 20 rounds: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.

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

fn one_round(x: vec2<u32>, turn: u32) -> vec2<u32> {
    let sum = x.x + x.y;
    return vec2<u32>(sum, ((x.y << turn) | (x.y >> (32u - turn))) ^ sum);
}

fn four_rounds(x: vec2<u32>, turns: vec4<u32>) -> vec2<u32> {
    return one_round(one_round(one_round(one_round(x, turns.x), turns.y), turns.z), turns.w);
}

fn threefry(key: vec2<u32>, counter: vec2<u32>) -> vec2<u32> {
    let last = key.x ^ key.y ^ 0x1bd11bdau;
    let odd = vec4<u32>(13u, 15u, 26u, 6u);
    let even = vec4<u32>(17u, 29u, 16u, 24u);
    var x = counter + key;
    x = four_rounds(x, odd) + vec2<u32>(key.y, last + 1u);
    x = four_rounds(x, even) + vec2<u32>(last, key.x + 2u);
    x = four_rounds(x, odd) + vec2<u32>(key.x, key.y + 3u);
    x = four_rounds(x, even) + vec2<u32>(key.y, last + 4u);
    return four_rounds(x, odd) + vec2<u32>(last, key.x + 5u);
}

// [0, 1) in steps of 2^-24, all of them exact.
fn unit(bits: vec2<u32>) -> vec2<f32> {
    return vec2<f32>(bits >> vec2<u32>(8u)) * 0x1p-24f;
}

// Box and Muller: the radius from (0, 1], accurate near 1 too; the angle as an exact part of a turn.
fn normal(bits: vec2<u32>) -> vec2<f32> {
    let u = unit(bits) + vec2<f32>(0x1p-24f, 0.0);
    let radius = sqrt(-2.0 * select(log(u.x), log1p(u.x - 1.0), u.x > 0.5));
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
    // An odd multiplier spreads neighbouring streams over the counter, so that one stream's steps do not run into the next.
    let stream = params.stream * 0x9e3779b9u + control[2];
    let value = drawn(threefry(vec2<u32>(params.seed_low, params.seed_high), vec2<u32>(params.first + i, stream)));
    if 2u * i < params.count {
        out[2u * i] = value.x;
    }
    if 2u * i + 1u < params.count {
        out[2u * i + 1u] = value.y;
    }
}
