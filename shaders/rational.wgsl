// y = P(x) / Q(x) and the bits of ⊥; an invocation computes 32 neighbouring elements and their word of bits.

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> w: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<storage, read_write> bottom: array<u32>;
@group(1) @binding(0) var<uniform> params: Params;

// The polynomial whose lowest coefficient is w[first].
fn polynomial(first: u32, degree: u32, at: f32) -> f32 {
    let step = params.channels;
    if !IS_CHEBYSHEV {
        var sum = w[first + degree * step];
        for (var k = degree; k > 0u; k--) { sum = sum * at + w[first + (k - 1u) * step]; }
        return sum;
    }
    var one = 0.0;
    var two = 0.0;
    for (var k = degree; k > 0u; k--) {
        let next = 2.0 * at * one - two + w[first + k * step];
        two = one;
        one = next;
    }
    return at * one - two + w[first];
}

fn denominator(at: f32, c: u32) -> f32 {
    let first = Q_START * params.channels + c;
    let sum = polynomial(first, DENOMINATOR, at);
    // The lowest coefficient of a safe denominator is fixed at 1.
    if IS_SAFE { return 1.0 + abs(sum - w[first]); }
    return sum;
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let word = group_number(group, groups) * 64u + lane;
    let first = 32u * word;
    if first >= params.count { return; }
    var bits = 0u;
    for (var k = 0u; k < min(32u, params.count - first); k++) {
        let i = first + k;
        let at = x[i];
        let c = i % params.channels;
        var is_bottom = !is_finite(at);
        var value = 0.0;
        if !is_bottom {
            let over = polynomial(c, NUMERATOR, at);
            let under = denominator(at, c);
            is_bottom = !is_finite(over) || !is_finite(under) || abs(under) <= params.epsilon || !quotient_fits(over, under);
            if !is_bottom {
                value = quotient(over, under);
                is_bottom = !quotient_fits(value, under);
            }
        }
        y[i] = select(value, 0.0, is_bottom);
        bits |= select(0u, 1u, is_bottom) << k;
    }
    bottom[word] = bits;
}
