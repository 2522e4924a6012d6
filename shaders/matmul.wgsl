// out[z, i, j] = value(sum over p of a[z, i, p] * b[z, p, j]), with value generated from a program (the epilogue),
// which `put_two` stores.
// A fragment matmul_tile_* or matmul_panel adds the entry point and the tiling.

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

@group(0) @binding(0) var<storage, read> a: array<AWord>;
@group(0) @binding(1) var<storage, read> b: array<BWord>;
@group(1) @binding(0) var<uniform> params: Params;

// Column r is a[z, i + r, p..p+4]. Zero past k; rows past m are never stored, so their contents do not matter.
fn a_block(z: u32, i: u32, p: u32) -> mat4x4<f32> {
    let s = params.a_strides;
    let at = z * s.x + i * s.y + p * s.z;
    let is_inside = vec4<u32>(p, p + 1u, p + 2u, p + 3u) < vec4<u32>(params.k);
    let line = select(s.y, s.z, A_IS_TURNED);
    let step = select(s.z, s.y, A_IS_TURNED);
    let lines = mat4x4<f32>(
        a_line(at, step, s.w),
        a_line(at + line, step, s.w),
        a_line(at + 2u * line, step, s.w),
        a_line(at + 3u * line, step, s.w),
    );
    let block = turned(lines, A_IS_TURNED);
    return mat4x4<f32>(
        select(vec4<f32>(), block[0], is_inside),
        select(vec4<f32>(), block[1], is_inside),
        select(vec4<f32>(), block[2], is_inside),
        select(vec4<f32>(), block[3], is_inside),
    );
}

// Column r is b[z, p + r, j..j+4], likewise.
fn b_block(z: u32, p: u32, j: u32) -> mat4x4<f32> {
    let s = params.b_strides;
    let at = z * s.x + p * s.y + j * s.z;
    let line = select(s.y, s.z, B_IS_TURNED);
    let step = select(s.z, s.y, B_IS_TURNED);
    let lines = mat4x4<f32>(
        b_line(at, step, s.w),
        b_line(at + line, step, s.w),
        b_line(at + 2u * line, step, s.w),
        b_line(at + 3u * line, step, s.w),
    );
    let block = turned(lines, B_IS_TURNED);
    return mat4x4<f32>(
        select(vec4<f32>(), block[0], p < params.k),
        select(vec4<f32>(), block[1], p + 1u < params.k),
        select(vec4<f32>(), block[2], p + 2u < params.k),
        select(vec4<f32>(), block[3], p + 3u < params.k),
    );
}

fn turned(x: mat4x4<f32>, is_turned: bool) -> mat4x4<f32> {
    if is_turned {
        return transpose(x);
    }
    return x;
}

fn store(z: u32, i: u32, j: u32, row: vec4<f32>) {
    if i >= params.m {
        return;
    }
    let base = (z * params.m + i) * params.n + j;
    if j < params.n { put_two(base, row.xy, j + 1u < params.n); }
    if j + 2u < params.n { put_two(base + 2u, row.zw, j + 3u < params.n); }
}
