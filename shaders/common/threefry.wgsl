// Threefry-2x32, 20 rounds: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.

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

// An odd multiplier spreads neighbouring streams over the counter, so that the steps of different streams do not overlap.
fn stream_at(stream: u32, step: u32) -> u32 { return stream * 0x9e3779b9u + step; }
