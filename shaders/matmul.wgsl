// out[z, i, j] = value(sum over p of a[z, i, p] * b[z, p, j]), with value printed from a program (the epilogue).
// A workgroup makes a 64 x 64 tile: 16 x 16 invocations, each 4 x 4 in named vectors; 16 steps of p are staged at a time.

struct Params {
    dims: vec4<u32>,
    strides: array<vec4<u32>, 7>,
    m: u32,
    k: u32,
    n: u32,
    batch: u32,
    a_strides: vec4<u32>,
    b_strides: vec4<u32>,
}

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

var<workgroup> a_tile: array<vec4<f32>, 256>;
var<workgroup> b_tile: array<vec4<f32>, 256>;

fn a_at(z: u32, i: u32, p: u32) -> f32 {
    let s = params.a_strides;
    return select(0.0, a[min(z * s.x + i * s.y + p * s.z, s.w)], i < params.m && p < params.k);
}

fn b_at(z: u32, p: u32, j: u32) -> f32 {
    let s = params.b_strides;
    return select(0.0, b[min(z * s.x + p * s.y + j * s.z, s.w)], p < params.k && j < params.n);
}

fn store(z: u32, i: u32, j: u32, row: vec4<f32>) {
    if i >= params.m {
        return;
    }
    let base = (z * params.m + i) * params.n + j;
    if j < params.n { out[base] = value(base, row.x); }
    if j + 1u < params.n { out[base + 1u] = value(base + 1u, row.y); }
    if j + 2u < params.n { out[base + 2u] = value(base + 2u, row.z); }
    if j + 3u < params.n { out[base + 3u] = value(base + 3u, row.w); }
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let z = group.z;
    let row = group.y * 64u;
    let column = group.x * 64u;
    let ty = lane / 16u;
    let tx = lane % 16u;
    var r0 = vec4<f32>();
    var r1 = vec4<f32>();
    var r2 = vec4<f32>();
    var r3 = vec4<f32>();
    for (var p = 0u; p < params.k; p += 16u) {
        // Invocation (ty, tx) stages step ty of p for four rows of a and four columns of b.
        let i = row + 4u * tx;
        let j = column + 4u * tx;
        let q = p + ty;
        workgroupBarrier();
        a_tile[lane] = vec4<f32>(a_at(z, i, q), a_at(z, i + 1u, q), a_at(z, i + 2u, q), a_at(z, i + 3u, q));
        b_tile[lane] = vec4<f32>(b_at(z, q, j), b_at(z, q, j + 1u), b_at(z, q, j + 2u), b_at(z, q, j + 3u));
        workgroupBarrier();
        for (var s = 0u; s < 256u; s += 16u) {
            let x = a_tile[s + ty];
            let y = b_tile[s + tx];
            r0 += x.x * y;
            r1 += x.y * y;
            r2 += x.z * y;
            r3 += x.w * y;
        }
    }
    let i = row + 4u * ty;
    let j = column + 4u * tx;
    store(z, i, j, r0);
    store(z, i + 1u, j, r1);
    store(z, i + 2u, j, r2);
    store(z, i + 3u, j, r3);
}
