// Stores of the backward pass's register tiles. The kernel declares scratch and partials.

/// Multiplies quad `q` of four samples by d.
fn scale_samples(at: u32, d: mat4x4<f32>, q: u32, words: u32) {
    if (q >= quads(words)) { return; }
    let step = params.stride;
    scratch[at + q] *= d[0];
    scratch[at + q + step] *= d[1];
    scratch[at + q + 2u * step] *= d[2];
    scratch[at + q + 3u * step] *= d[3];
}

/// Stores those of four words that are below `words`: all at once where `at` is a whole quad.
fn store_words(at: u32, k: u32, words: u32, g: vec4<f32>) {
    let place = at + k;
    if ((place & 3u) == 0u && k + 3u < words) {
        partials[place >> 2u] = array<f32, 4>(g.x, g.y, g.z, g.w);
        return;
    }
    if (k < words) { put_partial(place, g.x); }
    if (k + 1u < words) { put_partial(place + 1u, g.y); }
    if (k + 2u < words) { put_partial(place + 2u, g.z); }
    if (k + 3u < words) { put_partial(place + 3u, g.w); }
}

fn store_row(layer: vec4<u32>, at: u32, o: u32, k: u32, g: vec4<f32>) {
    if (o < layer.y) { store_words(at + layer.z + o * layer.x, k, layer.x, g); }
}

/// Stores four rows of dW from quad `o`, one row per column of g, at quad `k` of the inputs.
fn store_weights(layer: vec4<u32>, at: u32, o: u32, k: u32, g: mat4x4<f32>) {
    store_row(layer, at, 4u * o, 4u * k, g[0]);
    store_row(layer, at, 4u * o + 1u, 4u * k, g[1]);
    store_row(layer, at, 4u * o + 2u, 4u * k, g[2]);
    store_row(layer, at, 4u * o + 3u, 4u * k, g[3]);
}

fn store_biases(layer: vec4<u32>, at: u32, o: u32, g: vec4<f32>) { store_words(at + layer.w, 4u * o, layer.y, g); }

/// The backward pass of a layer for all rows of a part.
fn backward_layer(layer: vec4<u32>, e_at: u32, d_at: u32, rows: u32, lane: u32) {
    let blocks = rows / TILE_SAMPLES * blocks_across(layer.x);
    if ((layer.x & 3u) == 0u) {
        for (var block = lane; block < blocks; block += LANES_PER_PART) { backward_block(layer, e_at, d_at, block, true); }
    } else {
        for (var block = lane; block < blocks; block += LANES_PER_PART) { backward_block(layer, e_at, d_at, block, false); }
    }
}

/// The gradients of a layer over all rows of a part.
fn gradient_layer(layer: vec4<u32>, a_at: u32, d_at: u32, out_at: u32, rows: u32, lane: u32) {
    let blocks = blocks_across(layer.x) * ((layer.y + GRADIENT_ROWS - 1u) / GRADIENT_ROWS);
    for (var block = lane; block < blocks; block += LANES_PER_PART) { gradient_block(layer, a_at, d_at, out_at, block); }
}
