// What both retrievals share: the uniform, the bindings, and the distance of a key from a query.

struct Params {
    rows: u32,
    keys: u32,
    coordinates: u32,
    width: u32,
    steps: u32,
    sharpness: f32,
    nudge: f32,
    rate: f32,
    epsilon: f32,
}

@group(0) @binding(0) var<storage, read> queries: array<f32>;
@group(0) @binding(1) var<storage, read> keys: array<f32>;
@group(0) @binding(2) var<storage, read> states: array<u32>;
@group(0) @binding(3) var<storage, read> targets: array<f32>;
@group(0) @binding(4) var<storage, read> control: array<f32>;
@group(0) @binding(5) var<storage, read_write> pulls: array<f32>;
@group(0) @binding(6) var<storage, read_write> found: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

// Figures of a row before its mix.
const FIGURES: u32 = 4u;
// Added to the probability under the logarithm of the cross-entropy.
const FLOOR: f32 = 1e-3;
const LANES: u32 = 128u;
const LOWEST: f32 = -0x1.fffffep+127f;

// sqrt(|key - query|^2 + epsilon), or -1 if the key is no candidate: its slot is empty, or it is the query's own row.
fn distance_of(row: u32, key: u32) -> f32 {
    let stride = params.width + 1u;
    let id = id_of(key);
    if id < 0.0 || id == targets[row * stride + params.width] {
        return -1.0;
    }
    var sum = 0.0;
    for (var i = 0u; i < params.coordinates; i++) {
        let apart = keys[i * params.keys + key] - queries[row * params.coordinates + i];
        sum += apart * apart;
    }
    return sqrt(sum + params.epsilon);
}
