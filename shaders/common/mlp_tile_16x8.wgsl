// Register tile of 16 samples x 8 outputs of the forward pass: fewest loads, for software adapters.
const TILE_SAMPLES: u32 = 16u;
const TILE_QUADS: u32 = 2u;

/// z[s, o] = b[o] + sum_k a[s, k] W[o, k] for one block of samples and outputs.
fn forward_block(layer: vec4<u32>, a_at: u32, z_at: u32, block: u32, packed: bool) {
    let across = blocks_across(layer.y);
    let group = block / across;
    let o = TILE_QUADS * (block - group * across);
    let down = TILE_SAMPLES * group * params.stride;
    let four = 4u * params.stride;
    let rows0 = weight_rows(layer, 4u * o);
    let rows1 = weight_rows(layer, 4u * o + 4u);
    var z00 = biases(layer, o);
    var z01 = biases(layer, o + 1u);
    var z10 = z00;
    var z11 = z01;
    var z20 = z00;
    var z21 = z01;
    var z30 = z00;
    var z31 = z01;
    for (var k = 0u; k < quads(layer.x); k++) {
        let w0 = transpose(weights(rows0, 4u * k, packed));
        let w1 = transpose(weights(rows1, 4u * k, packed));
        let a0 = samples(a_at + down + k);
        z00 += w0 * a0;
        z01 += w1 * a0;
        let a1 = samples(a_at + down + k + four);
        z10 += w0 * a1;
        z11 += w1 * a1;
        let a2 = samples(a_at + down + k + 2u * four);
        z20 += w0 * a2;
        z21 += w1 * a2;
        let a3 = samples(a_at + down + k + 3u * four);
        z30 += w0 * a3;
        z31 += w1 * a3;
    }
    store_samples(z_at + down, z00, o, layer.y);
    store_samples(z_at + down, z01, o + 1u, layer.y);
    store_samples(z_at + down + four, z10, o, layer.y);
    store_samples(z_at + down + four, z11, o + 1u, layer.y);
    store_samples(z_at + down + 2u * four, z20, o, layer.y);
    store_samples(z_at + down + 2u * four, z21, o + 1u, layer.y);
    store_samples(z_at + down + 3u * four, z30, o, layer.y);
    store_samples(z_at + down + 3u * four, z31, o + 1u, layer.y);
}
