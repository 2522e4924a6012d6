// One training step's gradient, a part of the batch per workgroup.
//   z_l = W_l a_l + b_l, a_{l+1} = act(z_l); d_last = d loss / d z_last, d_{l-1} = (W_l' d_l) act'(z_{l-1});
//   partials[part] = sum over the part's samples of d_l (x) a_l and d_l, then [loss sum, weight sum].
// Scratch holds `stride` quads per sample: a_0, d_0, a_1, d_1, ..., d_last, where d_l starts as act'(z_l) (z_last for the last).
// All weight gradients come after the backward pass, so a step has 2 depth + 1 barriers. The update is optimise.wgsl's.
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> y: array<f32>;
@group(0) @binding(2) var<storage, read> order: array<u32>;
@group(0) @binding(3) var<storage, read> theta: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> class_weights: array<f32>;
@group(0) @binding(5) var<storage, read_write> control: array<u32>;
@group(0) @binding(6) var<storage, read_write> partials: array<f32>;
@group(0) @binding(7) var<storage, read_write> scratch: array<vec4<f32>>;
@group(1) @binding(0) var<uniform> params: Params;


var<workgroup> sums: array<vec2<f32>, 256>;

fn row_of(place: u32) -> u32 { return order[4u * params.steps + place]; }

fn x_word(row: u32, k: u32) -> f32 {
    if (k >= params.inputs) { return 0.0; }
    return x[row * params.inputs + k];
}

/// The part's rows of x into a_0; rows past the batch are zero.
fn gather(tile: u32, first: u32, end: u32, lane: u32) {
    let n = quads(params.inputs);
    for (var i = lane; i < params.span * n; i += WORKGROUP) {
        let s = i / n;
        let q = i - s * n;
        var value = vec4<f32>();
        if (first + s < end) {
            let row = row_of(first + s);
            value = vec4<f32>(x_word(row, 4u * q), x_word(row, 4u * q + 1u), x_word(row, 4u * q + 2u), x_word(row, 4u * q + 3u));
        }
        scratch[tile + s * params.stride + q] = value;
    }
}

/// Replaces z by act'(z) and writes act(z) `n` quads further, for one block's samples and outputs.
fn activate_block(layer: vec4<u32>, z_at: u32, block: u32) {
    let across = blocks_across(layer.y);
    let n = quads(layer.y);
    let group = block / across;
    let o = TILE_QUADS * (block - group * across);
    for (var s = 0u; s < TILE_SAMPLES; s++) {
        for (var q = o; q < min(o + TILE_QUADS, n); q++) {
            let at = z_at + (TILE_SAMPLES * group + s) * params.stride + q;
            let z = scratch[at];
            let a = act4(z);
            let mask = inside(q, layer.y);
            scratch[at] = select(vec4<f32>(), act_grad4(z, a), mask);
            scratch[at + n] = select(vec4<f32>(), a, mask);
        }
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let cursor = control[1];
    if (group.x == 0u && lane == 0u) {
        control[2] = control[0] + 1u;
        control[3] = cursor;
    }
    let first = cursor * params.batch + group.x * params.span;
    let end = min((cursor + 1u) * params.batch, params.rows);
    let tile = group.x * params.span * params.stride;
    let tall = params.span / TILE_SAMPLES;
    gather(tile, first, end, lane);
    storageBarrier();

    var at = tile;
    for (var l = 0u; l < params.depth; l++) {
        let layer = params.layers[l];
        let z_at = at + quads(layer.x);
        let hidden = l + 1u < params.depth;
        let blocks = tall * blocks_across(layer.y);
        if ((layer.x & 3u) == 0u) {
            for (var block = lane; block < blocks; block += WORKGROUP) { forward_block(layer, at, z_at, block, true); }
        } else {
            for (var block = lane; block < blocks; block += WORKGROUP) { forward_block(layer, at, z_at, block, false); }
        }
        for (var block = lane; hidden && block < blocks; block += WORKGROUP) { activate_block(layer, z_at, block); }
        storageBarrier();
        at = z_at + quads(layer.y);
    }
    at -= quads(params.outputs);

    var sum = vec2<f32>();
    for (var s = lane; s < params.span; s += WORKGROUP) {
        let z_at = at + s * params.stride;
        if (first + s < end) {
            sum += sample_loss(z_at, row_of(first + s));
        } else {
            for (var q = 0u; q < quads(params.outputs); q++) { scratch[z_at + q] = vec4<f32>(); }
        }
    }
    sums[lane] = sum;
    storageBarrier();

    for (var l = params.depth - 1u; l > 0u; l--) {
        let layer = params.layers[l];
        let d_at = at - 2u * quads(layer.x);
        let blocks = tall * blocks_across(layer.x);
        if ((layer.x & 3u) == 0u) {
            for (var block = lane; block < blocks; block += WORKGROUP) { backward_block(layer, at, d_at, block, true); }
        } else {
            for (var block = lane; block < blocks; block += WORKGROUP) { backward_block(layer, at, d_at, block, false); }
        }
        storageBarrier();
        at = d_at;
    }

    let out_at = group.x * (params.total + 64u);
    at = tile;
    for (var l = 0u; l < params.depth; l++) {
        let layer = params.layers[l];
        let d_at = at + quads(layer.x);
        for (var block = lane; block < blocks_across(layer.x) * ((layer.y + TILE_SAMPLES - 1u) / TILE_SAMPLES); block += WORKGROUP) {
            gradient_block(layer, at, d_at, out_at, block);
        }
        at = d_at + quads(layer.y);
    }
    gradient_of_coefficients(at, min(max(end, first) - first, params.span), lane, out_at);
    workgroupBarrier();
    if (lane == 0u) {
        for (var i = 1u; i < WORKGROUP; i++) { sum += sums[i]; }
        partials[out_at + params.total] = sum.x;
        partials[out_at + params.total + 1u] = sum.y;
    }
}
