fn scale_store(at: u32, d: mat4x4<f32>) {
    let step = params.stride;
    scratch[at] *= d[0];
    scratch[at + step] *= d[1];
    scratch[at + 2u * step] *= d[2];
    scratch[at + 3u * step] *= d[3];
}

/// d *= W' e, with d holding the activation's slope on entry (0 in the padding).
fn backward_block(layer: vec4<u32>, e_at: u32, d_at: u32, block: u32) {
    let across = blocks_across(layer.x);
    let group = block / across;
    let k = 2u * (block - group * across);
    let down = BLOCK * group * params.stride;
    let half = 4u * params.stride;
    var d00 = mat4x4<f32>();
    var d01 = mat4x4<f32>();
    var d10 = mat4x4<f32>();
    var d11 = mat4x4<f32>();
    let n = quads(layer.y);
    for (var o = 0u; o < n; o++) {
        let rows = weight_rows(layer, 4u * o);
        let e0 = samples(e_at + down + o);
        let e1 = samples(e_at + down + half + o);
        let w0 = weights(rows, 4u * k);
        let w1 = weights(rows, 4u * k + 4u);
        d00 += w0 * e0;
        d10 += w0 * e1;
        d01 += w1 * e0;
        d11 += w1 * e1;
    }
    let at = d_at + down + k;
    scale_store(at, d00);
    scale_store(at + half, d10);
    if (k + 1u < quads(layer.x)) {
        scale_store(at + 1u, d01);
        scale_store(at + 1u + half, d11);
    }
}

fn store_row(layer: vec4<u32>, at: u32, o: u32, k: u32, g: vec4<f32>) {
    if (o >= layer.y) { return; }
    let i = at + layer.z + o * layer.x + k;
    if (k < layer.x) { partials[i] = g.x; }
    if (k + 1u < layer.x) { partials[i + 1u] = g.y; }
    if (k + 2u < layer.x) { partials[i + 2u] = g.z; }
    if (k + 3u < layer.x) { partials[i + 3u] = g.w; }
}

fn store_rows(layer: vec4<u32>, at: u32, o: u32, k: u32, g: mat4x4<f32>) {
    store_row(layer, at, o, k, g[0]);
    store_row(layer, at, o + 1u, k, g[1]);
    store_row(layer, at, o + 2u, k, g[2]);
    store_row(layer, at, o + 3u, k, g[3]);
}

fn store_bias(layer: vec4<u32>, at: u32, o: u32, g: vec4<f32>) {
    let i = at + layer.w + o;
    if (o < layer.y) { partials[i] = g.x; }
    if (o + 1u < layer.y) { partials[i + 1u] = g.y; }
    if (o + 2u < layer.y) { partials[i + 2u] = g.z; }
    if (o + 3u < layer.y) { partials[i + 3u] = g.w; }
}

/// dW[o, k] = sum_s d[s, o] a[s, k] and db[o] = sum_s d[s, o]; the bias rides along because its loads are already paid.
fn gradient_block(layer: vec4<u32>, a_at: u32, d_at: u32, out_at: u32, block: u32) {
    let across = blocks_across(layer.x);
    let group = block / across;
    let o = 2u * group;
    let k = 2u * (block - group * across);
    let o_next = min(o + 1u, quads(layer.y) - 1u);
    let k_next = min(k + 1u, quads(layer.x) - 1u);
    var g00 = mat4x4<f32>();
    var g01 = mat4x4<f32>();
    var g10 = mat4x4<f32>();
    var g11 = mat4x4<f32>();
    var b0 = vec4<f32>();
    var b1 = vec4<f32>();
    let end = params.span * params.stride;
    for (var s = 0u; s < end; s += 4u * params.stride) {
        let d0 = samples(d_at + s + o);
        let d1 = samples(d_at + s + o_next);
        let a0 = samples(a_at + s + k);
        let a1 = samples(a_at + s + k_next);
        g00 += a0 * transpose(d0);
        g01 += a1 * transpose(d0);
        g10 += a0 * transpose(d1);
        g11 += a1 * transpose(d1);
        b0 += d0 * vec4<f32>(1.0);
        b1 += d1 * vec4<f32>(1.0);
    }
    store_rows(layer, out_at, 4u * o, 4u * k, g00);
    store_rows(layer, out_at, 4u * o, 4u * k + 4u, g01);
    store_rows(layer, out_at, 4u * o + 4u, 4u * k, g10);
    store_rows(layer, out_at, 4u * o + 4u, 4u * k + 4u, g11);
    if (k == 0u) {
        store_bias(layer, out_at, 4u * o, b0);
        store_bias(layer, out_at, 4u * o + 4u, b1);
    }
}
