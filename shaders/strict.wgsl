// Strict decoding of pairs, 32 denominators per invocation: one word of each plane of bits, two of the provenance codes.

struct Params {
    count: u32, inner: u32, depth: u32, p_row: u32,
    q_row: u32, q_start: u32, plane: u32, factors: u32,
    is_raw: u32, infer: f32, train: f32, unused: u32,
    taus: vec4<f32>,
}

@group(0) @binding(0) var<storage, read> p: array<f32>;
@group(0) @binding(1) var<storage, read> q: array<f32>;
@group(0) @binding(2) var<storage, read> factors: array<f32>;
@group(0) @binding(3) var<storage, read_write> value: array<f32>;
@group(0) @binding(4) var<storage, read_write> planes: array<u32>;
@group(0) @binding(5) var<storage, read_write> provenance: array<u32>;
@group(1) @binding(0) var<uniform> params: Params;

fn exponent(x: f32) -> u32 { return magnitude(x) >> 23u; }

const FAULT: u32 = 1u;
const SEMANTIC: u32 = 2u;
const GAP: u32 = 4u;

// |x|; 0 if x is not finite or subnormal, since some devices flush subnormals.
fn normal(x: f32) -> f32 {
    let e = exponent(x);
    return select(0.0, abs(x), e != 0u && e != 255u);
}

fn is_near(size: f32, largest: f32, limit: f32) -> bool {
    if size >= largest { return false; }
    let scale = select(select(1.0, 0x1p64, largest < 0x1p-60), 0x1p-64, largest > 0x1p60);
    return size * scale < limit * (largest * scale);
}

fn judge(index: u32) -> u32 {
    let row = index / params.inner;
    let column = index % params.inner;
    let denominator = q[row * params.q_row + params.q_start + column];
    let first = row * params.p_row + column * params.depth;
    var is_fault = !is_finite(denominator);
    var largest = 0.0;
    for (var k = 0u; k < params.depth; k++) {
        is_fault = is_fault || !is_finite(p[first + k]);
        largest = max(largest, normal(p[first + k]));
    }
    let size = normal(denominator);
    var is_semantic = exponent(denominator) == 0u;
    var is_gap = false;
    if params.is_raw != 0u {
        is_semantic = is_semantic || (is_finite(denominator) && size < params.infer);
        is_gap = !is_semantic && is_finite(denominator) && size < params.train;
    } else if size > 0.0 {
        is_semantic = is_near(size, largest, params.infer);
        is_gap = !is_semantic && is_near(size, largest, params.train);
    }
    for (var k = 0u; k < params.factors; k++) {
        let factor = factors[k * params.count + index];
        is_fault = is_fault || !is_finite(factor);
        is_semantic = is_semantic || (is_finite(factor) && normal(factor) < params.taus[k]);
    }
    if !is_fault && !is_semantic {
        for (var k = 0u; k < params.depth; k++) {
            is_fault = is_fault || !quotient_fits(p[first + k], denominator);
        }
    }
    for (var k = 0u; k < params.depth; k++) {
        var decoded = 0.0;
        if !is_fault && !is_semantic { decoded = quotient(p[first + k], denominator); }
        value[index * params.depth + k] = decoded;
    }
    return select(0u, FAULT, is_fault) | select(0u, SEMANTIC, is_semantic) | select(0u, GAP, is_gap);
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let word = group_number(group, groups) * 64u + lane;
    let first = 32u * word;
    if word >= params.plane { return; }
    var bottom = 0u;
    var gap = 0u;
    var fault = 0u;
    var semantic = 0u;
    var low = 0u;
    var high = 0u;
    let last = min(32u, params.count - min(first, params.count));
    for (var k = 0u; k < last; k++) {
        let seen = judge(first + k);
        let code = seen & (FAULT | SEMANTIC);
        bottom |= select(0u, 1u, code != 0u) << k;
        gap |= select(0u, 1u, seen == GAP) << k;
        fault |= (seen & FAULT) << k;
        semantic |= ((seen & SEMANTIC) >> 1u) << k;
        if k < 16u { low |= code << (2u * k); } else { high |= code << (2u * (k - 16u)); }
    }
    planes[word] = bottom;
    planes[params.plane + word] = gap;
    planes[2u * params.plane + word] = fault;
    planes[3u * params.plane + word] = semantic;
    if last > 0u { provenance[2u * word] = low; }
    if last > 16u { provenance[2u * word + 1u] = high; }
}
