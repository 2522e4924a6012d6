// The backward pass with the panels of mlp_panel.wgsl. The kernel declares partials.

fn scale(at: u32, q: u32, d: vec4<f32>, words: u32) {
    if (q < quads(words)) { scratch[at + q] *= d; }
}

fn scale_eight(at: u32, k: u32, d: Eight, words: u32) {
    scale(at, k, d.a, words);
    scale(at, k + 1u, d.b, words);
    scale(at, k + 2u, d.c, words);
    scale(at, k + 3u, d.d, words);
    scale(at, k + 4u, d.e, words);
    scale(at, k + 5u, d.f, words);
    scale(at, k + 6u, d.g, words);
    scale(at, k + 7u, d.h, words);
}

/// Fills the panel with columns of W from quad k on.
fn fill_transposed(layer: vec4<u32>, k: u32) {
    for (var c = 0u; c < 8u && k + c < quads(layer.x); c++) {
        for (var q = 0u; q < 16u; q++) {
            panel[16u * c + q] = weight_rows(layer, 4u * q, 4u * (k + c)) * select(0.0, 1.0, q < quads(layer.y));
        }
    }
}

/// d[s, k] *= sum_o W[o, k] e[s, o] for all of a part's rows; d holds the activation's slope on entry, 0 in the padding.
fn backward_layer(layer: vec4<u32>, e_at: u32, d_at: u32, rows: u32, lane: u32) {
    let place = places(quads(layer.y) - 1u);
    let narrow = select(0u, rows, layer.y <= 16u);
    for (var k = 0u; k < quads(layer.x); k += 8u) {
        fill_transposed(layer, k);
        for (var s = 0u; s < narrow; s++) {
            let e = four_at(e_at + s * params.stride, place.a);
            scale_eight(d_at + s * params.stride, k, add_product(0u, e, Eight()), layer.x);
        }
        for (var s = narrow; s < rows; s++) {
            let e = sixteen_at(e_at + s * params.stride, place);
            scale_eight(d_at + s * params.stride, k, product(e, Eight()), layer.x);
        }
    }
}

/// Word w of quad `at` of four successive samples.
fn column(at: u32, w: u32) -> vec4<f32> {
    let step = params.stride;
    return vec4<f32>(scratch[at][w], scratch[at + step][w], scratch[at + 2u * step][w], scratch[at + 3u * step][w]);
}

/// Four such columns; each place holds the offset of four samples.
fn four_columns(at: u32, w: u32, place: vec4<u32>) -> Four {
    let start = vec4<u32>(at) + 4u * params.stride * place;
    return Four(column(start.x, w), column(start.y, w), column(start.z, w), column(start.w, w));
}

fn sixteen_columns(at: u32, w: u32, place: Places) -> Sixteen {
    return Sixteen(four_columns(at, w, place.a), four_columns(at, w, place.b), four_columns(at, w, place.c), four_columns(at, w, place.d));
}

fn add_word(at: u32, is_there: bool, g: f32, again: bool) {
    if (is_there) { put_partial(at, g + select(0.0, partials[at >> 2u][at & 3u], again)); }
}

fn add_words(at: u32, k: u32, words: u32, g: vec4<f32>, again: bool) {
    add_word(at + k, k < words, g.x, again);
    add_word(at + k + 1u, k + 1u < words, g.y, again);
    add_word(at + k + 2u, k + 2u < words, g.z, again);
    add_word(at + k + 3u, k + 3u < words, g.w, again);
}

fn add_eight(at: u32, k: u32, words: u32, g: Eight, again: bool) {
    add_words(at, k, words, g.a, again);
    add_words(at, k + 4u, words, g.b, again);
    add_words(at, k + 8u, words, g.c, again);
    add_words(at, k + 12u, words, g.d, again);
    add_words(at, k + 16u, words, g.e, again);
    add_words(at, k + 20u, words, g.f, again);
    add_words(at, k + 24u, words, g.g, again);
    add_words(at, k + 28u, words, g.h, again);
}

/// A quad of four successive samples, one sample per column.
fn samples(at: u32) -> mat4x4<f32> {
    let step = params.stride;
    return mat4x4<f32>(scratch[at], scratch[at + step], scratch[at + 2u * step], scratch[at + 3u * step]);
}

/// Fills the panel with four times `count` samples from quad k on.
fn fill_samples(at: u32, k: u32, words: u32, count: u32) {
    for (var c = 0u; c < 8u && k + c < quads(words); c++) {
        for (var q = 0u; q < 16u; q++) {
            panel[16u * c + q] = samples(at + 4u * min(q, count - 1u) * params.stride + k + c) * select(0.0, 1.0, q < count);
        }
    }
}

/// dW[o, k] = sum_s d[s, o] a[s, k] and db[o] = sum_s d[s, o] over a part's rows.
fn gradient_layer(layer: vec4<u32>, a_at: u32, d_at: u32, out_at: u32, rows: u32, lane: u32) {
    let narrow = select(0u, layer.y, layer.x <= 8u);
    for (var s = 0u; s < rows; s += 64u) {
        let count = min(16u, (rows - s) / 4u);
        let place = places(count - 1u);
        for (var k = 0u; k < quads(layer.x); k += 8u) {
            fill_samples(a_at + s * params.stride, k, layer.x, count);
            for (var o = 0u; o < narrow; o++) {
                let d = sixteen_columns(d_at + s * params.stride + (o >> 2u), o & 3u, place);
                let at = out_at + layer.z + o * layer.x;
                add_words(at, 0u, layer.x, quad_of_product(0u, d), s > 0u);
                add_words(at, 4u, layer.x, quad_of_product(16u, d), s > 0u);
            }
            for (var o = narrow; o < layer.y; o++) {
                let d = sixteen_columns(d_at + s * params.stride + (o >> 2u), o & 3u, place);
                add_eight(out_at + layer.z + o * layer.x, 4u * k, layer.x, product(d, Eight()), s > 0u);
            }
        }
    }
    for (var q = 0u; q < quads(layer.y) && rows > 0u; q++) {
        var b = vec4<f32>();
        for (var s = 0u; s < rows; s++) { b += scratch[d_at + s * params.stride + q]; }
        add_words(out_at + layer.w, 4u * q, layer.y, b, false);
    }
}
