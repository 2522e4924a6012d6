// Products of layers up to 64 wide for SwiftShader, with panel.wgsl. One invocation per part.
// The kernel declares theta (read) and scratch (read_write), both as quads.

/// Offsets of a vector's quads.
struct Places { a: vec4<u32>, b: vec4<u32>, c: vec4<u32>, d: vec4<u32> }

/// Offsets past the last quad are clamped to it; there the panel is zero.
fn places(last: u32) -> Places {
    let end = vec4<u32>(last);
    return Places(min(LANES, end), min(LANES + 4u, end), min(LANES + 8u, end), min(LANES + 12u, end));
}

fn four_at(at: u32, place: vec4<u32>) -> Four {
    return Four(wide(scratch[at + place.x]), wide(scratch[at + place.y]), wide(scratch[at + place.z]), wide(scratch[at + place.w]));
}

fn sixteen_at(at: u32, place: Places) -> Sixteen {
    return Sixteen(four_at(at, place.a), four_at(at, place.b), four_at(at, place.c), four_at(at, place.d));
}

/// Four words of theta.
fn weights(at: u32) -> vec4<f32> {
    return vec4<f32>(weight(at), weight(at + 1u), weight(at + 2u), weight(at + 3u));
}

fn weight(at: u32) -> f32 { return theta[at >> 2u][at & 3u]; }

/// Rows `first` to `first` + 3 of W, one row per column, from word k on; rows past the last are clamped to it.
fn weight_rows(layer: vec4<u32>, first: u32, k: u32) -> mat4x4<f32> {
    let rows = layer.z + k + min(vec4<u32>(first) + LANES, vec4<u32>(layer.y - 1u)) * layer.x;
    return mat4x4<f32>(weights(rows.x), weights(rows.y), weights(rows.z), weights(rows.w));
}

fn bias(layer: vec4<u32>, q: u32) -> vec4<f32> { return theta[(layer.w >> 2u) + min(q, quads(layer.y) - 1u)]; }

/// Biases of eight quads from quad q on.
fn biases(layer: vec4<u32>, q: u32) -> Eight {
    return Eight(bias(layer, q), bias(layer, q + 1u), bias(layer, q + 2u), bias(layer, q + 3u),
        bias(layer, q + 4u), bias(layer, q + 5u), bias(layer, q + 6u), bias(layer, q + 7u));
}

/// Applies `finish` to eight quads from quad o on.
fn finish_eight(at: u32, o: u32, z: Eight, words: u32, hidden: bool) {
    finish(at, o, z.a, words, hidden);
    finish(at, o + 1u, z.b, words, hidden);
    finish(at, o + 2u, z.c, words, hidden);
    finish(at, o + 3u, z.d, words, hidden);
    finish(at, o + 4u, z.e, words, hidden);
    finish(at, o + 5u, z.f, words, hidden);
    finish(at, o + 6u, z.g, words, hidden);
    finish(at, o + 7u, z.h, words, hidden);
}

/// Fills the panel with rows of W from quad o on.
fn fill(layer: vec4<u32>, o: u32) {
    let n = quads(layer.x);
    for (var c = 0u; c < 8u && o + c < quads(layer.y); c++) {
        for (var q = 0u; q < 16u; q++) {
            panel[16u * c + q] = transpose(weight_rows(layer, 4u * (o + c), 4u * min(q, n - 1u))) * select(0.0, 1.0, q < n);
        }
    }
}

/// z[s, o] = b[o] + sum_k a[s, k] W[o, k] for all of a part's rows, followed by `finish`. SwiftShader runs both sides of a branch but
/// can skip a loop, so each shape of a layer has its own loop over the rows.
fn forward_layer(layer: vec4<u32>, a_at: u32, z_at: u32, hidden: bool, rows: u32, lane: u32) {
    let place = places(quads(layer.x) - 1u);
    let single = select(0u, rows, layer.y <= 4u);
    let slim = select(0u, rows - single, layer.x <= 16u);
    for (var o = 0u; o < quads(layer.y); o += 8u) {
        fill(layer, o);
        let b = biases(layer, o);
        for (var s = 0u; s < single; s++) {
            let z = b.a + quad_of_product(0u, sixteen_at(a_at + s * params.stride, place));
            finish(z_at + s * params.stride, o, z, layer.y, hidden);
        }
        for (var s = 0u; s < slim; s++) {
            let x = four_at(a_at + s * params.stride, place.a);
            finish_eight(z_at + s * params.stride, o, add_product(0u, x, b), layer.y, hidden);
        }
        for (var s = single + slim; s < rows; s++) {
            let x = sixteen_at(a_at + s * params.stride, place);
            finish_eight(z_at + s * params.stride, o, product(x, b), layer.y, hidden);
        }
    }
}
