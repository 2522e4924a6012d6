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

/// dW[o, k] = sum_s d[s, o] a[s, k] for one block of outputs and inputs; db[o] = sum_s d[s, o] reuses its loads.
fn gradient_block(layer: vec4<u32>, a_at: u32, d_at: u32, out_at: u32, block: u32) {
    let across = blocks_across(layer.x);
    let group = block / across;
    let o = TILE_SAMPLES / 4u * group;
    let k = TILE_QUADS * (block - group * across);
    let o0 = d_at + o;
    let k0 = a_at + k;
    var g00 = mat4x4<f32>();
    var b0 = vec4<f32>();
    let ones = vec4<f32>(1.0);
    for (var s = 0u; s < params.span * params.stride; s += 4u * params.stride) {
        let a0 = samples(s + k0);
        let d0 = samples(s + o0);
        b0 += d0 * ones;
        g00 += a0 * transpose(d0);
    }
    store_weights(layer, out_at, o, k, g00);
    if (k > 0u) { return; }
    store_biases(layer, out_at, o, b0);
}
