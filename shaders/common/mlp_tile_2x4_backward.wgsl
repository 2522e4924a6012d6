// Register tiles of the backward pass, companions of mlp_tile_2x4.wgsl.

/// d[s, k] *= sum_o W[o, k] e[s, o] for one block of samples and inputs; d holds the activation's slope on entry, 0 in the padding.
fn backward_block(layer: vec4<u32>, e_at: u32, d_at: u32, block: u32, packed: bool) {
    let across = blocks_across(layer.x);
    let group = block / across;
    let k = block - group * across;
    let down = TILE_SAMPLES * group * params.stride;
    var d = mat2x4<f32>();
    for (var o = 0u; o < quads(layer.y); o++) {
        d += weights(weight_rows(layer, 4u * o), 4u * k, packed) * two_samples(e_at + down + o);
    }
    scratch[d_at + down + k] *= d[0];
    scratch[d_at + down + k + params.stride] *= d[1];
}
