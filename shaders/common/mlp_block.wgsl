// Loads and stores of the MLP's register tiles. The kernel declares scratch (read_write) as quads; `held` reads quads of theta, and
// `wide` and `narrow` convert between registers and scratch.
// Loads dominate the cost on a software adapter (one costs about 100 multiply-adds on llvmpipe), hence quads and tiles. Neither matrix is
// transposed in memory: both orders of a product read the same quads. Rows of W past the last are clamped, and words past the end of a row
// belong to the next row: both are multiplied by zero padding in scratch, so the inner loops have no branch.
fn blocks_across(words: u32) -> u32 { return (words + 4u * TILE_QUADS - 1u) / (4u * TILE_QUADS); }

/// Word offsets of four rows of W, from row `first`.
fn weight_rows(layer: vec4<u32>, first: u32) -> vec4<u32> {
    return layer.z + min(vec4<u32>(first) + LANES, vec4<u32>(layer.y - 1u)) * layer.x;
}

/// Four words of theta; packed: they are one quad. Callers pass a literal, so that inlining leaves one of the two paths.
fn weight(at: u32, packed: bool) -> vec4<f32> {
    let low = held(at >> 2u);
    if (packed) { return low; }
    let high = held((at >> 2u) + 1u);
    let shift = at & 3u;
    let near = select(low, vec4<f32>(low.yzw, high.x), shift == 1u);
    return select(near, select(vec4<f32>(low.zw, high.xy), vec4<f32>(low.w, high.xyz), shift == 3u), shift > 1u);
}

/// A quad of four rows of W, one row per column.
fn weights(rows: vec4<u32>, k: u32, packed: bool) -> mat4x4<f32> {
    return mat4x4<f32>(weight(rows.x + k, packed), weight(rows.y + k, packed), weight(rows.z + k, packed), weight(rows.w + k, packed));
}

/// Four biases in each column. Their offset is a multiple of 64 words, so the quad is always whole.
fn biases(layer: vec4<u32>, q: u32) -> mat4x4<f32> {
    let b = held((layer.w >> 2u) + q);
    return mat4x4<f32>(b, b, b, b);
}

/// A quad of four successive samples, one sample per column.
fn samples(at: u32) -> mat4x4<f32> {
    let step = params.stride;
    return mat4x4<f32>(wide(scratch[at]), wide(scratch[at + step]), wide(scratch[at + 2u * step]), wide(scratch[at + 3u * step]));
}

/// Stores quad `q` of four samples, zero from word `words` on; nothing if the whole quad is beyond.
fn store_samples(at: u32, z: mat4x4<f32>, q: u32, words: u32) {
    if (q >= quads(words)) { return; }
    let step = params.stride;
    let zero = vec4<f32>();
    let mask = inside(q, words);
    scratch[at + q] = narrow(select(zero, z[0], mask));
    scratch[at + q + step] = narrow(select(zero, z[1], mask));
    scratch[at + q + 2u * step] = narrow(select(zero, z[2], mask));
    scratch[at + q + 3u * step] = narrow(select(zero, z[3], mask));
}

/// Applies `finish` to one block's samples and outputs.
fn activate_block(layer: vec4<u32>, z_at: u32, block: u32) {
    let across = blocks_across(layer.y);
    let group = block / across;
    let o = TILE_QUADS * (block - group * across);
    for (var s = 0u; s < TILE_SAMPLES; s++) {
        let at = z_at + (TILE_SAMPLES * group + s) * params.stride;
        for (var q = o; q < min(o + TILE_QUADS, quads(layer.y)); q++) { finish(at, q, wide(scratch[at + q]), layer.y, true); }
    }
}

/// The forward pass of a layer for all rows of a part.
fn forward_layer(layer: vec4<u32>, a_at: u32, z_at: u32, hidden: bool, rows: u32, lane: u32) {
    let blocks = rows / TILE_SAMPLES * blocks_across(layer.y);
    if ((layer.x & 3u) == 0u) {
        for (var block = lane; block < blocks; block += LANES_PER_PART) { forward_block(layer, a_at, z_at, block, true); }
    } else {
        for (var block = lane; block < blocks; block += LANES_PER_PART) { forward_block(layer, a_at, z_at, block, false); }
    }
    for (var block = lane; hidden && block < blocks; block += LANES_PER_PART) { activate_block(layer, z_at, block); }
}
