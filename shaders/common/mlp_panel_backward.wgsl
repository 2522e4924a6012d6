// The way back through the panels of mlp_panel.wgsl. The kernel declares partials.

fn scale(at: u32, q: u32, d: vec4<f32>, words: u32) {
    if (q < quads(words)) { scratch[at + q] *= d; }
}

/// d[s, k] *= sum_o W[o, k] e[s, o] for all of a part's rows; d holds the activation's slope on entry, 0 in the padding.
fn backward_layer(layer: vec4<u32>, e_at: u32, d_at: u32, rows: u32, lane: u32) {
    let n = quads(layer.y);
    let m = quads(layer.x);
    for (var k = 0u; k < m; k += 8u) {
        for (var c = 0u; c < min(8u, m - k); c++) {
            for (var q = 0u; q < 16u; q++) {
                panel[16u * c + q] = weight_rows(layer, 4u * q, 4u * (k + c)) * select(0.0, 1.0, q < n);
            }
        }
        for (var s = 0u; s < rows; s++) {
            let d = product(e_at + s * params.stride, n - 1u, Eight());
            let at = d_at + s * params.stride;
            scale(at, k, d.a, layer.x);
            scale(at, k + 1u, d.b, layer.x);
            scale(at, k + 2u, d.c, layer.x);
            scale(at, k + 3u, d.d, layer.x);
            scale(at, k + 4u, d.e, layer.x);
            scale(at, k + 5u, d.f, layer.x);
            scale(at, k + 6u, d.g, layer.x);
            scale(at, k + 7u, d.h, layer.x);
        }
    }
}

/// Word w of quad `at` of four successive samples.
fn column(at: u32, w: u32) -> vec4<f32> {
    let step = params.stride;
    return vec4<f32>(scratch[at][w], scratch[at + step][w], scratch[at + 2u * step][w], scratch[at + 3u * step][w]);
}

/// Sixteen samples of it, the last four again past the last.
fn columns_at(at: u32, w: u32, q: u32, last: u32) -> Four {
    let step = 4u * params.stride;
    return Four(column(at + min(q, last) * step, w), column(at + min(q + 1u, last) * step, w),
        column(at + min(q + 2u, last) * step, w), column(at + min(q + 3u, last) * step, w));
}

fn add_word(at: u32, is_there: bool, g: f32, again: bool) {
    if (is_there) { partials[at] = g + select(0.0, partials[at], again); }
}

fn add_words(at: u32, k: u32, words: u32, g: vec4<f32>, again: bool) {
    add_word(at + k, k < words, g.x, again);
    add_word(at + k + 1u, k + 1u < words, g.y, again);
    add_word(at + k + 2u, k + 2u < words, g.z, again);
    add_word(at + k + 3u, k + 3u < words, g.w, again);
}

/// dW[o, k] = sum_s d[s, o] a[s, k] and db[o] = sum_s d[s, o] over a part's rows.
fn gradient_layer(layer: vec4<u32>, a_at: u32, d_at: u32, out_at: u32, rows: u32, lane: u32) {
    let m = quads(layer.x);
    for (var k = 0u; k < m; k += 8u) {
        for (var s = 0u; s < rows; s += 64u) {
            let last = min(16u, (rows - s) / 4u) - 1u;
            let a_s = a_at + s * params.stride;
            for (var c = 0u; c < min(8u, m - k); c++) {
                for (var q = 0u; q < 16u; q++) {
                    panel[16u * c + q] = samples(a_s + 4u * min(q, last) * params.stride + k + c) * select(0.0, 1.0, q <= last);
                }
            }
            for (var o = 0u; o < layer.y; o++) {
                let g = product_of_columns(d_at + s * params.stride + (o >> 2u), o & 3u, last);
                let at = out_at + layer.z + o * layer.x;
                add_words(at, 4u * k, layer.x, g.a, s > 0u);
                add_words(at, 4u * k + 4u, layer.x, g.b, s > 0u);
                add_words(at, 4u * k + 8u, layer.x, g.c, s > 0u);
                add_words(at, 4u * k + 12u, layer.x, g.d, s > 0u);
                add_words(at, 4u * k + 16u, layer.x, g.e, s > 0u);
                add_words(at, 4u * k + 20u, layer.x, g.f, s > 0u);
                add_words(at, 4u * k + 24u, layer.x, g.g, s > 0u);
                add_words(at, 4u * k + 28u, layer.x, g.h, s > 0u);
            }
        }
    }
    for (var q = 0u; q < quads(layer.y) && rows > 0u; q++) {
        var b = vec4<f32>();
        for (var s = 0u; s < rows; s++) { b += scratch[d_at + s * params.stride + q]; }
        add_words(out_at + layer.w, 4u * q, layer.y, b, false);
    }
}

/// A quad of four successive samples, a column each.
fn samples(at: u32) -> mat4x4<f32> {
    let step = params.stride;
    return mat4x4<f32>(scratch[at], scratch[at + step], scratch[at + 2u * step], scratch[at + 3u * step]);
}

fn product_of_columns(at: u32, w: u32, last: u32) -> Eight {
    let half = add_product(4u, columns_at(at, w, 4u, last), add_product(0u, columns_at(at, w, 0u, last), Eight()));
    return add_product(12u, columns_at(at, w, 12u, last), add_product(8u, columns_at(at, w, 8u, last), half));
}
