// Gradients in register tiles of 4 outputs x 4 inputs.
const GRADIENT_ROWS: u32 = 4u;

/// dW[o, k] = sum_s d[s, o] a[s, k] for one block of outputs and inputs; db[o] = sum_s d[s, o] reuses its loads.
fn gradient_block(layer: vec4<u32>, a_at: u32, d_at: u32, out_at: u32, block: u32) {
    let across = blocks_across(layer.x);
    let o = block / across;
    let k = block - o * across;
    var g00 = mat4x4<f32>();
    var b0 = vec4<f32>();
    let ones = vec4<f32>(1.0);
    for (var s = 0u; s < params.span * params.stride; s += 4u * params.stride) {
        let a0 = samples(s + a_at + k);
        let d0 = samples(s + d_at + o);
        b0 += d0 * ones;
        g00 += a0 * transpose(d0);
    }
    store_weights(layer, out_at, o, k, g00);
    if (k > 0u) { return; }
    store_biases(layer, out_at, o, b0);
}
