// Register tiles of the MLP: one call = one 8 x 8 block of a product, four mat4x4 accumulators, no private arrays.
//   forward:  z[s, o] = b[o] + sum_k a[s, k] W[o, k]        blocks over (samples, outputs)
//   backward: d[s, k] = d[s, k] * sum_o W[o, k] e[s, o]     blocks over (samples, inputs)
// Loads are what a software adapter pays for: 16 words per 64 multiply-adds. Rows of W past the last are clamped and words
// past the end of a row read their neighbours; both meet zero padding in a, d and e, so neither needs a branch.
const BLOCK: u32 = 8u;
const ACROSS: u32 = 2u;

fn blocks_across(words: u32) -> u32 { return (words + 7u) >> 3u; }

fn weight_rows(layer: vec4<u32>, first: u32) -> vec4<u32> {
    return layer.z + min(vec4<u32>(first) + LANES, vec4<u32>(layer.y - 1u)) * layer.x;
}

/// Four words of a row; a packed one lies on a quad. Every call names `packed` literally, so one path remains after inlining.
fn weight(at: u32, packed: bool) -> vec4<f32> {
    let low = theta[at >> 2u];
    if (packed) { return low; }
    let high = theta[(at >> 2u) + 1u];
    let shift = at & 3u;
    let small = select(low, vec4<f32>(low.yzw, high.x), shift == 1u);
    return select(small, select(vec4<f32>(low.zw, high.xy), vec4<f32>(low.w, high.xyz), shift == 3u), shift > 1u);
}

fn weights(rows: vec4<u32>, k: u32, packed: bool) -> mat4x4<f32> {
    return mat4x4<f32>(weight(rows.x + k, packed), weight(rows.y + k, packed), weight(rows.z + k, packed), weight(rows.w + k, packed));
}

/// One quad of four successive samples, a column each.
fn samples(at: u32) -> mat4x4<f32> {
    let step = params.stride;
    return mat4x4<f32>(scratch[at], scratch[at + step], scratch[at + 2u * step], scratch[at + 3u * step]);
}

fn bias(layer: vec4<u32>, first: u32) -> vec4<f32> { return theta[(layer.w + first) >> 2u]; }

fn store_forward(at: u32, z: mat4x4<f32>, mask: vec4<bool>) {
    let step = params.stride;
    let none = vec4<f32>(0.0);
    scratch[at] = select(none, z[0], mask);
    scratch[at + step] = select(none, z[1], mask);
    scratch[at + 2u * step] = select(none, z[2], mask);
    scratch[at + 3u * step] = select(none, z[3], mask);
}

fn forward_block(layer: vec4<u32>, a_at: u32, z_at: u32, block: u32, packed: bool) {
    let across = blocks_across(layer.y);
    let group = block / across;
    let o = 2u * (block - group * across);
    let rows0 = weight_rows(layer, 4u * o);
    let rows1 = weight_rows(layer, 4u * o + 4u);
    let down = BLOCK * group * params.stride;
    let half = 4u * params.stride;
    let b0 = bias(layer, 4u * o);
    let b1 = bias(layer, 4u * o + 4u);
    var z00 = mat4x4<f32>(b0, b0, b0, b0);
    var z01 = mat4x4<f32>(b1, b1, b1, b1);
    var z10 = z00;
    var z11 = z01;
    let n = quads(layer.x);
    for (var k = 0u; k < n; k++) {
        let a0 = samples(a_at + down + k);
        let a1 = samples(a_at + down + half + k);
        let w0 = transpose(weights(rows0, 4u * k, packed));
        let w1 = transpose(weights(rows1, 4u * k, packed));
        z00 += w0 * a0;
        z10 += w0 * a1;
        z01 += w1 * a0;
        z11 += w1 * a1;
    }
    let at = z_at + down + o;
    let mask0 = inside(o, layer.y);
    store_forward(at, z00, mask0);
    store_forward(at + half, z10, mask0);
    if (o + 1u < quads(layer.y)) {
        let mask1 = inside(o + 1u, layer.y);
        store_forward(at + 1u, z01, mask1);
        store_forward(at + 1u + half, z11, mask1);
    }
}
