// Register tiles of the backward pass, companions of mlp_tile_4x4.wgsl.

/// d[s, k] *= sum_o W[o, k] e[s, o] for one block of samples and inputs; d holds the activation's slope on entry, 0 in the padding.
fn backward_block(layer: vec4<u32>, e_at: u32, d_at: u32, block: u32, packed: bool) {
    let across = blocks_across(layer.x);
    let group = block / across;
    let k = TILE_QUADS * (block - group * across);
    let down = TILE_SAMPLES * group * params.stride;
    var d00 = mat4x4<f32>();
    for (var o = 0u; o < quads(layer.y); o++) {
        let rows = weight_rows(layer, 4u * o);
        let w0 = weights(rows, 4u * k, packed);
        let e0 = samples(e_at + down + o);
        d00 += w0 * e0;
    }
    scale_samples(d_at + down, d00, k, layer.x);
}
