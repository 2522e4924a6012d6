// dx and partial sums of coefficient gradients: an invocation handles one column of one part.

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> w: array<f32>;
@group(0) @binding(2) var<storage, read> bottom: array<u32>;
@group(0) @binding(3) var<storage, read> g: array<f32>;
@group(0) @binding(4) var<storage, read_write> dx: array<f32>;
@group(0) @binding(5) var<storage, read_write> partials: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

const LARGEST: u32 = max(NUMERATOR, DENOMINATOR);
const COEFFICIENTS: u32 = NUMERATOR + DENOMINATOR + 2u;

fn finite(value: f32) -> f32 { return select(0.0, value, is_finite(value)); }

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let column = 64u * group.x + lane;
    if column >= params.columns { return; }
    let c = column % params.channels;
    var sums: array<f32, COEFFICIENTS>;
    let first = group.y * params.rows_per_part;
    for (var row = first; row < first + params.rows_per_part; row++) {
        let i = row * params.columns + column;
        if i >= params.count { break; }
        dx[i] = 0.0;
        if ((bottom[i / 32u] >> (i % 32u)) & 1u) == 1u { continue; }
        let at = x[i];
        var over = vec2<f32>();
        var under = vec2<f32>();
        var t = Term(1.0, 0.0, 0.0, 0.0);
        for (var k = 0u; k <= LARGEST; k++) {
            if k > 0u { t = advance(t, at, k - 1u); }
            let both = vec2<f32>(t.now, t.slope);
            if k <= NUMERATOR { over += w[k * params.channels + c] * both; }
            if k <= DENOMINATOR && !(IS_SAFE && k == 0u) { under += w[(Q_START + k) * params.channels + c] * both; }
        }
        var turn = 1.0;
        if IS_SAFE {
            turn = sign(under.x);
            under = vec2<f32>(1.0 + abs(under.x), under.y * turn);
        }
        let share = g[i] / under.x;
        let value = over.x / under.x;
        dx[i] = finite(share * (over.y - value * under.y));
        t = Term(1.0, 0.0, 0.0, 0.0);
        for (var k = 0u; k <= LARGEST; k++) {
            if k > 0u { t = advance(t, at, k - 1u); }
            if k <= NUMERATOR { sums[k] += finite(share * t.now); }
            if k <= DENOMINATOR && !(IS_SAFE && k == 0u) { sums[NUMERATOR + 1u + k] += finite(-share * value * turn * t.now); }
        }
    }
    for (var k = 0u; k < COEFFICIENTS; k++) {
        partials[(group.y * COEFFICIENTS + k) * params.columns + column] = sums[k];
    }
}
