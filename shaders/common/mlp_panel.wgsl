// Products of layers up to 64 wide for SwiftShader, where a load at a computed address takes some 50 cycles and one at a known address none:
// a panel of one matrix, 32 x 64, stays at known addresses while vectors stream past it. An invocation has a part's rows to itself.
// The kernel declares theta (read) and scratch (read_write), both as quads.

/// Matrix 16 c + q takes quad q of a vector to quad c of its product.
var<private> panel: array<mat4x4<f32>, 128>;

struct Four { a: vec4<f32>, b: vec4<f32>, c: vec4<f32>, d: vec4<f32> }

/// The quads of a product.
struct Eight { a: vec4<f32>, b: vec4<f32>, c: vec4<f32>, d: vec4<f32>, e: vec4<f32>, f: vec4<f32>, g: vec4<f32>, h: vec4<f32> }

fn four(i: u32, x: Four) -> vec4<f32> {
    return panel[i] * x.a + panel[i + 1u] * x.b + panel[i + 2u] * x.c + panel[i + 3u] * x.d;
}

/// Four quads of a vector from quad q on; past the last it is the last, which meets zeros of the panel.
fn quads_at(at: u32, q: u32, last: u32) -> Four {
    return Four(scratch[at + min(q, last)], scratch[at + min(q + 1u, last)], scratch[at + min(q + 2u, last)], scratch[at + min(q + 3u, last)]);
}

/// What quads 16 c + i to 16 c + i + 3 of the panel make of four quads of a vector, added to quad c of z.
fn add_product(i: u32, x: Four, z: Eight) -> Eight {
    return Eight(z.a + four(i, x), z.b + four(i + 16u, x), z.c + four(i + 32u, x), z.d + four(i + 48u, x),
        z.e + four(i + 64u, x), z.f + four(i + 80u, x), z.g + four(i + 96u, x), z.h + four(i + 112u, x));
}

/// b and the panel's product with a vector, whose last quad is `last`.
fn product(at: u32, last: u32, b: Eight) -> Eight {
    let half = add_product(4u, quads_at(at, 4u, last), add_product(0u, quads_at(at, 0u, last), b));
    return add_product(12u, quads_at(at, 12u, last), add_product(8u, quads_at(at, 8u, last), half));
}

/// Four words of theta.
fn weights(at: u32) -> vec4<f32> {
    return vec4<f32>(weight(at), weight(at + 1u), weight(at + 2u), weight(at + 3u));
}

fn weight(at: u32) -> f32 { return theta[at >> 2u][at & 3u]; }

/// Rows `first` and three more of W, a column each, from word k on; rows past the last are the last.
fn weight_rows(layer: vec4<u32>, first: u32, k: u32) -> mat4x4<f32> {
    let rows = layer.z + k + min(vec4<u32>(first) + LANES, vec4<u32>(layer.y - 1u)) * layer.x;
    return mat4x4<f32>(weights(rows.x), weights(rows.y), weights(rows.z), weights(rows.w));
}

fn bias(layer: vec4<u32>, q: u32) -> vec4<f32> { return theta[(layer.w >> 2u) + min(q, quads(layer.y) - 1u)]; }

/// z[s, o] = b[o] + sum_k a[s, k] W[o, k] for all of a part's rows, and what `finish` makes of it.
fn forward_layer(layer: vec4<u32>, a_at: u32, z_at: u32, hidden: bool, rows: u32, lane: u32) {
    let n = quads(layer.x);
    let m = quads(layer.y);
    for (var o = 0u; o < m; o += 8u) {
        for (var c = 0u; c < min(8u, m - o); c++) {
            for (var q = 0u; q < 16u; q++) {
                panel[16u * c + q] = transpose(weight_rows(layer, 4u * (o + c), 4u * min(q, n - 1u))) * select(0.0, 1.0, q < n);
            }
        }
        let b = Eight(bias(layer, o), bias(layer, o + 1u), bias(layer, o + 2u), bias(layer, o + 3u),
            bias(layer, o + 4u), bias(layer, o + 5u), bias(layer, o + 6u), bias(layer, o + 7u));
        for (var s = 0u; s < rows; s++) {
            let z = product(a_at + s * params.stride, n - 1u, b);
            let at = z_at + s * params.stride;
            finish(at, o, z.a, layer.y, hidden);
            finish(at, o + 1u, z.b, layer.y, hidden);
            finish(at, o + 2u, z.c, layer.y, hidden);
            finish(at, o + 3u, z.d, layer.y, hidden);
            finish(at, o + 4u, z.e, layer.y, hidden);
            finish(at, o + 5u, z.f, layer.y, hidden);
            finish(at, o + 6u, z.g, layer.y, hidden);
            finish(at, o + 7u, z.h, layer.y, hidden);
        }
    }
}
