// Register tiles of the backward pass, companions of mlp_tile_16x8.wgsl.
const GRADIENT_ROWS: u32 = 16u;

/// d[s, k] *= sum_o W[o, k] e[s, o] for one block of samples and inputs; d holds the activation's slope on entry, 0 in the padding.
fn backward_block(layer: vec4<u32>, e_at: u32, d_at: u32, block: u32, packed: bool) {
    let across = blocks_across(layer.x);
    let group = block / across;
    let k = TILE_QUADS * (block - group * across);
    let down = TILE_SAMPLES * group * params.stride;
    let four = 4u * params.stride;
    var d00 = mat4x4<f32>();
    var d01 = mat4x4<f32>();
    var d10 = mat4x4<f32>();
    var d11 = mat4x4<f32>();
    var d20 = mat4x4<f32>();
    var d21 = mat4x4<f32>();
    var d30 = mat4x4<f32>();
    var d31 = mat4x4<f32>();
    for (var o = 0u; o < quads(layer.y); o++) {
        let rows = weight_rows(layer, 4u * o);
        let w0 = weights(rows, 4u * k, packed);
        let w1 = weights(rows, 4u * k + 4u, packed);
        let e0 = samples(e_at + down + o);
        d00 += w0 * e0;
        d01 += w1 * e0;
        let e1 = samples(e_at + down + o + four);
        d10 += w0 * e1;
        d11 += w1 * e1;
        let e2 = samples(e_at + down + o + 2u * four);
        d20 += w0 * e2;
        d21 += w1 * e2;
        let e3 = samples(e_at + down + o + 3u * four);
        d30 += w0 * e3;
        d31 += w1 * e3;
    }
    scale_samples(d_at + down, d00, k, layer.x);
    scale_samples(d_at + down, d01, k + 1u, layer.x);
    scale_samples(d_at + down + four, d10, k, layer.x);
    scale_samples(d_at + down + four, d11, k + 1u, layer.x);
    scale_samples(d_at + down + 2u * four, d20, k, layer.x);
    scale_samples(d_at + down + 2u * four, d21, k + 1u, layer.x);
    scale_samples(d_at + down + 3u * four, d30, k, layer.x);
    scale_samples(d_at + down + 3u * four, d31, k + 1u, layer.x);
}

/// dW[o, k] = sum_s d[s, o] a[s, k] for one block of outputs and inputs; db[o] = sum_s d[s, o] reuses its loads.
fn gradient_block(layer: vec4<u32>, a_at: u32, d_at: u32, out_at: u32, block: u32) {
    let across = blocks_across(layer.x);
    let group = block / across;
    let o = GRADIENT_ROWS / 4u * group;
    let k = TILE_QUADS * (block - group * across);
    let o_last = quads(layer.y) - 1u;
    let k_last = quads(layer.x) - 1u;
    let o0 = d_at + o;
    let o1 = d_at + min(o + 1u, o_last);
    let o2 = d_at + min(o + 2u, o_last);
    let o3 = d_at + min(o + 3u, o_last);
    let k0 = a_at + k;
    let k1 = a_at + min(k + 1u, k_last);
    var g00 = mat4x4<f32>();
    var g01 = mat4x4<f32>();
    var g10 = mat4x4<f32>();
    var g11 = mat4x4<f32>();
    var g20 = mat4x4<f32>();
    var g21 = mat4x4<f32>();
    var g30 = mat4x4<f32>();
    var g31 = mat4x4<f32>();
    var b0 = vec4<f32>();
    var b1 = vec4<f32>();
    var b2 = vec4<f32>();
    var b3 = vec4<f32>();
    let ones = vec4<f32>(1.0);
    for (var s = 0u; s < params.span * params.stride; s += 4u * params.stride) {
        let a0 = samples(s + k0);
        let a1 = samples(s + k1);
        let d0 = samples(s + o0);
        b0 += d0 * ones;
        g00 += a0 * transpose(d0);
        g01 += a1 * transpose(d0);
        let d1 = samples(s + o1);
        b1 += d1 * ones;
        g10 += a0 * transpose(d1);
        g11 += a1 * transpose(d1);
        let d2 = samples(s + o2);
        b2 += d2 * ones;
        g20 += a0 * transpose(d2);
        g21 += a1 * transpose(d2);
        let d3 = samples(s + o3);
        b3 += d3 * ones;
        g30 += a0 * transpose(d3);
        g31 += a1 * transpose(d3);
    }
    store_weights(layer, out_at, o, k, g00);
    store_weights(layer, out_at, o, k + 1u, g01);
    store_weights(layer, out_at, o + 1u, k, g10);
    store_weights(layer, out_at, o + 1u, k + 1u, g11);
    store_weights(layer, out_at, o + 2u, k, g20);
    store_weights(layer, out_at, o + 2u, k + 1u, g21);
    store_weights(layer, out_at, o + 3u, k, g30);
    store_weights(layer, out_at, o + 3u, k + 1u, g31);
    if (k > 0u) { return; }
    store_biases(layer, out_at, o, b0);
    store_biases(layer, out_at, o + 1u, b1);
    store_biases(layer, out_at, o + 2u, b2);
    store_biases(layer, out_at, o + 3u, b3);
}
