// The forward pass alone: out[r] = W_last ... act(W_0 x[r] + b_0) ... + b_last. LANES_PER_PART invocations take tiles of `span` rows in turn;
// scratch holds two halves of `stride` / 2 quads per sample, alternately source and target of a layer.
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> theta: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<storage, read_write> scratch: array<Kept>;
@group(1) @binding(0) var<uniform> params: Params;

/// Marks an output that exceeds f16; not representable as f16 itself.
const LOST: f32 = 1e38;

fn gather(tile: u32, first: u32, rows: u32, lane: u32) {
    let n = quads(params.inputs);
    for (var i = lane; i < rows * n; i += LANES_PER_PART) {
        let s = i / n;
        let q = i - s * n;
        var value = vec4<f32>();
        if (first + s < params.rows) {
            let at = (first + s) * params.inputs + 4u * q;
            let mask = inside(q, params.inputs);
            value.x = x[at];
            if (mask.y) { value.y = x[at + 1u]; }
            if (mask.z) { value.z = x[at + 2u]; }
            if (mask.w) { value.w = x[at + 3u]; }
        }
        scratch[tile + s * params.stride + q] = narrow(value);
    }
}

/// Writes act(z) for quad q of a sample's layer of `words`; z itself for the last layer.
fn finish(at: u32, q: u32, z: vec4<f32>, words: u32, hidden: bool) {
    let is_own = inside(q, words);
    // Some tiles store z in scratch before this point; rounding z here gives all tiles the same precision.
    let held = as_kept(z, is_own);
    if (q < quads(words)) { scratch[at + q] = narrow(select(vec4<f32>(), select(held, act4(held), hidden), is_own)); }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let lane = index % LANES_PER_PART;
    let part = (group.x * WORKGROUP + index) / LANES_PER_PART;
    let tile = part * params.span * params.stride;
    for (var turn = 0u; turn < params.rows; turn += params.parts * params.span) {
        let first = turn + part * params.span;
        let rows = select(0u, params.span, part < params.parts && first < params.rows);
        gather(tile, first, rows, lane);
        storageBarrier();
        var a_at = tile;
        var z_at = tile + params.stride / 2u;
        for (var l = 0u; l < params.depth; l++) {
            forward_layer(params.layers[l], a_at, z_at, l + 1u < params.depth, rows, lane);
            storageBarrier();
            let swap = a_at;
            a_at = z_at;
            z_at = swap;
        }
        for (var i = lane; i < rows * output_count(); i += LANES_PER_PART) {
            let s = i / output_count();
            if (first + s < params.rows) { write_output(a_at + s * params.stride, first + s, i - s * output_count()); }
        }
        storageBarrier();
        if (is_lost() && first < params.rows) { out[first * params.outputs] = LOST; }
    }
}
