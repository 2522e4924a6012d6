// Register tile of 2 samples x 4 outputs of the forward pass, for parts of few rows that many invocations share.
const TILE_SAMPLES: u32 = 2u;
const TILE_QUADS: u32 = 1u;

/// A quad of two successive samples, one sample per column.
fn two_samples(at: u32) -> mat2x4<f32> { return mat2x4<f32>(wide(scratch[at]), wide(scratch[at + params.stride])); }

/// z[s, o] = b[o] + sum_k a[s, k] W[o, k] for one block of samples and outputs.
fn forward_block(layer: vec4<u32>, a_at: u32, z_at: u32, block: u32, packed: bool) {
    let across = blocks_across(layer.y);
    let group = block / across;
    let o = block - group * across;
    let down = TILE_SAMPLES * group * params.stride;
    let rows = weight_rows(layer, 4u * o);
    let b = biases(layer, o)[0];
    var z = mat2x4<f32>(b, b);
    for (var k = 0u; k < quads(layer.x); k++) {
        z += transpose(weights(rows, 4u * k, packed)) * two_samples(a_at + down + k);
    }
    let mask = inside(o, layer.y);
    scratch[z_at + down + o] = narrow(select(vec4<f32>(), z[0], mask));
    scratch[z_at + down + o + params.stride] = narrow(select(vec4<f32>(), z[1], mask));
}
