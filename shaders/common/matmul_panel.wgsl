// A workgroup of four computes a 256 x 32 tile with panel.wgsl: each invocation has rows of its own and multiplies them by one panel of b, 64
// steps of p, after another. The result keeps the sums between panels, and the epilogue follows in a pass of its own.

/// Fills the panel with b[p.., j..]; zero past k. Columns past n are never stored.
fn fill(z: u32, p: u32, j: u32) {
    for (var c = 0u; c < 8u && j + 4u * c < params.n; c++) {
        for (var q = 0u; q < 16u; q++) {
            panel[16u * c + q] = b_block(z, p + 4u * q, j + 4u * c);
        }
    }
}

/// a[z, i, p..p+4], where `at` is the place of a[z, i, p]; zero past k.
fn a_quad(at: u32, p: u32) -> vec4<f32> {
    let is_inside = vec4<i32>(i32(p)) + vec4<i32>(0, 1, 2, 3) < vec4<i32>(i32(params.k));
    return select(vec4<f32>(), a_line(at, params.a_strides.z, params.a_strides.w), is_inside);
}

fn a_four(at: u32, p: u32) -> Four {
    let step = 4u * params.a_strides.z;
    return Four(a_quad(at, p), a_quad(at + step, p + 4u), a_quad(at + 2u * step, p + 8u), a_quad(at + 3u * step, p + 12u));
}

fn a_sixteen(at: u32, p: u32) -> Sixteen {
    let step = 16u * params.a_strides.z;
    return Sixteen(a_four(at, p), a_four(at + step, p + 16u), a_four(at + 2u * step, p + 32u), a_four(at + 3u * step, p + 48u));
}

/// Adds to the sums at four columns from j on, after the first panel; `at` is the place of column j.
fn add_words(at: u32, j: u32, sums: vec4<f32>, again: bool) {
    add_word(at, j, sums.x, again);
    add_word(at + 1u, j + 1u, sums.y, again);
    add_word(at + 2u, j + 2u, sums.z, again);
    add_word(at + 3u, j + 3u, sums.w, again);
}

fn add_word(at: u32, j: u32, sum: f32, again: bool) {
    if j < params.n { out[at] = sum + select(0.0, out[at], again); }
}

fn add_eight(at: u32, j: u32, sums: Eight, again: bool) {
    add_words(at, j, sums.a, again);
    add_words(at + 4u, j + 4u, sums.b, again);
    add_words(at + 8u, j + 8u, sums.c, again);
    add_words(at + 12u, j + 12u, sums.d, again);
    add_words(at + 16u, j + 16u, sums.e, again);
    add_words(at + 20u, j + 20u, sums.f, again);
    add_words(at + 24u, j + 24u, sums.g, again);
    add_words(at + 28u, j + 28u, sums.h, again);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let z = group.z;
    if SUMS_ROWS & (COLUMNS * group.x >= params.n) {
        sum_rows(z, group.y, lane);
        return;
    }
    let first = ROWS * group.y + lane;
    let end = min(ROWS * group.y + ROWS, params.m);
    let j = COLUMNS * group.x;
    // SwiftShader runs both sides of a branch but can skip a loop, so narrow results and short sums have loops of their own.
    let end_single = select(0u, end, params.n <= 4u);
    for (var p = 0u; p < max(params.k, 1u); p += 64u) {
        fill(z, p, j);
        let end_slim = select(0u, end, params.n > 4u && params.k <= p + 16u);
        for (var i = first; i < end_single; i += 4u) {
            let x = a_sixteen(z * params.a_strides.x + i * params.a_strides.y + p * params.a_strides.z, p);
            add_words((z * params.m + i) * params.n + j, j, quad_of_product(0u, x), p > 0u);
        }
        for (var i = first; i < end_slim; i += 4u) {
            let x = a_four(z * params.a_strides.x + i * params.a_strides.y + p * params.a_strides.z, p);
            add_eight((z * params.m + i) * params.n + j, j, add_product(0u, x, Eight()), p > 0u);
        }
        for (var i = first + max(end_single, end_slim); i < end; i += 4u) {
            let x = a_sixteen(z * params.a_strides.x + i * params.a_strides.y + p * params.a_strides.z, p);
            add_eight((z * params.m + i) * params.n + j, j, product(x, Eight()), p > 0u);
        }
    }
    for (var i = first; HAS_EPILOGUE && i < end; i += 4u) {
        let row = (z * params.m + i) * params.n;
        for (var column = j; column < min(j + 32u, params.n); column++) {
            put(row + column, out[row + column]);
        }
    }
}
