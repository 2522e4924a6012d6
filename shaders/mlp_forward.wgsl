// The forward pass alone: out[r] = W_last ... act(W_0 x[r] + b_0) ... + b_last. A workgroup takes tiles of `span` rows in turn;
// scratch holds two halves of `stride` / 2 quads per sample, source and target of a layer by turns.
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> theta: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<storage, read_write> scratch: array<vec4<f32>>;
@group(1) @binding(0) var<uniform> params: Params;


fn gather(tile: u32, first: u32, lane: u32) {
    let n = quads(params.inputs);
    for (var i = lane; i < params.span * n; i += WORKGROUP) {
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
        scratch[tile + s * params.stride + q] = value;
    }
}

fn activate_block(layer: vec4<u32>, z_at: u32, block: u32) {
    let across = blocks_across(layer.y);
    let group = block / across;
    let o = TILE_QUADS * (block - group * across);
    for (var s = 0u; s < TILE_SAMPLES; s++) {
        for (var q = o; q < min(o + TILE_QUADS, quads(layer.y)); q++) {
            let at = z_at + (TILE_SAMPLES * group + s) * params.stride + q;
            scratch[at] = select(vec4<f32>(), act4(scratch[at]), inside(q, layer.y));
        }
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let tile = group.x * params.span * params.stride;
    let tall = params.span / TILE_SAMPLES;
    for (var first = group.x * params.span; first < params.rows; first += groups.x * params.span) {
        gather(tile, first, lane);
        storageBarrier();
        var a_at = tile;
        var z_at = tile + params.stride / 2u;
        for (var l = 0u; l < params.depth; l++) {
            let layer = params.layers[l];
            let hidden = l + 1u < params.depth;
            let blocks = tall * blocks_across(layer.y);
            if ((layer.x & 3u) == 0u) {
                for (var block = lane; block < blocks; block += WORKGROUP) { forward_block(layer, a_at, z_at, block, true); }
            } else {
                for (var block = lane; block < blocks; block += WORKGROUP) { forward_block(layer, a_at, z_at, block, false); }
            }
            for (var block = lane; hidden && block < blocks; block += WORKGROUP) { activate_block(layer, z_at, block); }
            storageBarrier();
            let swap = a_at;
            a_at = z_at;
            z_at = swap;
        }
        for (var i = lane; i < params.span * answers(); i += WORKGROUP) {
            let s = i / answers();
            if (first + s < params.rows) { give(a_at + s * params.stride, first + s, i - s * answers()); }
        }
        storageBarrier();
    }
}
