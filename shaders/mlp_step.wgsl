// One training step's gradient, a part of the batch per LANES_PER_PART invocations.
//   z_l = W_l a_l + b_l, a_{l+1} = act(z_l); d_last = d loss / d z_last, d_{l-1} = (W_l' d_l) act'(z_{l-1});
//   partials[part] = sum over the part's samples of d_l (x) a_l and d_l, then [loss sum, weight sum].
// Scratch holds `stride` quads per sample: a_0, d_0, a_1, d_1, ..., d_last, where d_l starts as act'(z_l) (z_last for the last).
// All weight gradients come after the backward pass, so a step has 2 depth + 1 barriers. The update is in optimise.wgsl.
// Where scratch is, and from where products read theta, say step_in_storage.wgsl and step_in_workgroup.wgsl.
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> y: array<f32>;
@group(0) @binding(2) var<storage, read> order: array<u32>;
@group(0) @binding(3) var<storage, read> theta: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> class_weights: array<f32>;
@group(0) @binding(5) var<storage, read_write> control: array<u32>;
@group(0) @binding(6) var<storage, read_write> partials: array<array<f32, 4>>;
@group(1) @binding(0) var<uniform> params: Params;

var<workgroup> sums: array<vec2<f32>, WORKGROUP>;

/// Writes one word of partials. Its quads are arrays, since a write to a part of a vector may write all of it, and others write the rest.
fn put_partial(at: u32, value: f32) { partials[at >> 2u][at & 3u] = value; }

fn row_of(place: u32) -> u32 { return order[4u * params.steps + place]; }

fn x_word(row: u32, k: u32) -> f32 {
    if (k >= params.inputs) { return 0.0; }
    return x[row * params.inputs + k];
}

/// The part's rows of x into a_0; rows past the batch are zero.
fn gather(tile: u32, first: u32, end: u32, rows: u32, lane: u32) {
    let n = quads(params.inputs);
    for (var i = lane; i < rows * n; i += LANES_PER_PART) {
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

/// Writes act'(z) and, quads(words) further, act(z) for quad q of a sample's layer of `words`; z itself for the last layer.
fn finish(at: u32, q: u32, z: vec4<f32>, words: u32, hidden: bool) {
    if (q >= quads(words)) { return; }
    let mask = inside(q, words);
    let a = act4(z);
    scratch[at + q] = select(vec4<f32>(), select(z, act_grad4(z, a), hidden), mask);
    if (hidden) { scratch[at + q + quads(words)] = select(vec4<f32>(), a, mask); }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let lane = index % LANES_PER_PART;
    let part = (group.x * WORKGROUP + index) / LANES_PER_PART;
    let rows = select(0u, params.span, part < params.parts);
    let cursor = control[1];
    if (part == 0u && lane == 0u) {
        control[2] = control[0] + 1u;
        control[3] = cursor;
    }
    let first = cursor * params.batch + part * params.span;
    let end = min((cursor + 1u) * params.batch, params.rows);
    let tile = scratch_of(part);
    hold_parameters(lane);
    gather(tile, first, end, rows, lane);
    wait();

    var at = tile;
    for (var l = 0u; l < params.depth; l++) {
        let layer = params.layers[l];
        let z_at = at + quads(layer.x);
        forward_layer(layer, at, z_at, l + 1u < params.depth, rows, lane);
        wait();
        at = z_at + quads(layer.y);
    }
    at -= quads(params.outputs);

    var sum = vec2<f32>();
    for (var s = lane; s < rows; s += LANES_PER_PART) {
        let z_at = at + s * params.stride;
        if (first + s < end) {
            sum += sample_loss(z_at, row_of(first + s));
        } else {
            for (var q = 0u; q < quads(params.outputs); q++) { scratch[z_at + q] = vec4<f32>(); }
        }
    }
    sums[index] = sum;
    wait();

    for (var l = params.depth - 1u; l > 0u; l--) {
        let layer = params.layers[l];
        let d_at = at - 2u * quads(layer.x);
        backward_layer(layer, at, d_at, rows, lane);
        wait();
        at = d_at;
    }

    let out_at = part * (params.total + 64u);
    at = tile;
    for (var l = 0u; l < params.depth; l++) {
        let layer = params.layers[l];
        let d_at = at + quads(layer.x);
        gradient_layer(layer, at, d_at, out_at, rows, lane);
        at = d_at + quads(layer.y);
    }
    gradient_of_coefficients(at, min(max(end, first) - first, rows), lane, out_at);
    workgroupBarrier();
    if (lane == 0u && rows > 0u) {
        for (var i = 1u; i < LANES_PER_PART; i++) { sum += sums[i]; }
        put_partial(out_at + params.total, sum.x);
        put_partial(out_at + params.total + 1u, sum.y);
    }
}
