// Register tile of 4 samples x 4 outputs of the forward pass: most invocations in parallel, for real GPUs (and fast to compile).
const TILE_SAMPLES: u32 = 4u;
const TILE_QUADS: u32 = 1u;

/// z[s, o] = b[o] + sum_k a[s, k] W[o, k] for one block of samples and outputs.
fn forward_block(layer: vec4<u32>, a_at: u32, z_at: u32, block: u32, packed: bool) {
    let across = blocks_across(layer.y);
    let group = block / across;
    let o = TILE_QUADS * (block - group * across);
    let down = TILE_SAMPLES * group * params.stride;
    let rows0 = weight_rows(layer, 4u * o);
    var z00 = biases(layer, o);
    for (var k = 0u; k < quads(layer.x); k++) {
        let w0 = transpose(weights(rows0, 4u * k, packed));
        let a0 = samples(a_at + down + k);
        z00 += w0 * a0;
    }
    store_samples(z_at + down, z00, o, layer.y);
}
