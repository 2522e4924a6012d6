// A workgroup of eight computes a 32 x 64 tile, each invocation 16 x 16 of it: fewest loads and no barrier, for software adapters.
// A row is a matrix of four vectors: columns j.., 16 + j.., 32 + j.. and 48 + j.., so that neighbours read neighbouring words.

// A row of the result and four steps of p.
fn add(sums: mat4x4<f32>, x: vec4<f32>, y0: mat4x4<f32>, y1: mat4x4<f32>, y2: mat4x4<f32>, y3: mat4x4<f32>) -> mat4x4<f32> {
    return mat4x4<f32>(add_four(sums[0], x, y0), add_four(sums[1], x, y1), add_four(sums[2], x, y2), add_four(sums[3], x, y3));
}

fn add_four(sum: vec4<f32>, x: vec4<f32>, y: mat4x4<f32>) -> vec4<f32> {
    let sooner = fma(vec4<f32>(x.y), y[1], fma(vec4<f32>(x.x), y[0], sum));
    return fma(vec4<f32>(x.w), y[3], fma(vec4<f32>(x.z), y[2], sooner));
}

fn store_row(z: u32, i: u32, j: u32, sums: mat4x4<f32>) {
    store(z, i, j, sums[0]);
    store(z, i, j + 16u, sums[1]);
    store(z, i, j + 32u, sums[2]);
    store(z, i, j + 48u, sums[3]);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let z = group.z;
    if SUMS_ROWS & (COLUMNS * group.x >= params.n) {
        sum_rows(z, group.y, lane);
        return;
    }
    let i = ROWS * group.y + 16u * (lane / 4u);
    let j = COLUMNS * group.x + 4u * (lane % 4u);
    var r0 = mat4x4<f32>();
    var r1 = mat4x4<f32>();
    var r2 = mat4x4<f32>();
    var r3 = mat4x4<f32>();
    var r4 = mat4x4<f32>();
    var r5 = mat4x4<f32>();
    var r6 = mat4x4<f32>();
    var r7 = mat4x4<f32>();
    var r8 = mat4x4<f32>();
    var r9 = mat4x4<f32>();
    var r10 = mat4x4<f32>();
    var r11 = mat4x4<f32>();
    var r12 = mat4x4<f32>();
    var r13 = mat4x4<f32>();
    var r14 = mat4x4<f32>();
    var r15 = mat4x4<f32>();
    for (var p = 0u; p < params.k; p += 4u) {
        let y0 = b_block(z, p, j);
        let y1 = b_block(z, p, j + 16u);
        let y2 = b_block(z, p, j + 32u);
        let y3 = b_block(z, p, j + 48u);
        let x0 = a_block(z, i, p);
        r0 = add(r0, x0[0], y0, y1, y2, y3);
        r1 = add(r1, x0[1], y0, y1, y2, y3);
        r2 = add(r2, x0[2], y0, y1, y2, y3);
        r3 = add(r3, x0[3], y0, y1, y2, y3);
        let x1 = a_block(z, i + 4u, p);
        r4 = add(r4, x1[0], y0, y1, y2, y3);
        r5 = add(r5, x1[1], y0, y1, y2, y3);
        r6 = add(r6, x1[2], y0, y1, y2, y3);
        r7 = add(r7, x1[3], y0, y1, y2, y3);
        let x2 = a_block(z, i + 8u, p);
        r8 = add(r8, x2[0], y0, y1, y2, y3);
        r9 = add(r9, x2[1], y0, y1, y2, y3);
        r10 = add(r10, x2[2], y0, y1, y2, y3);
        r11 = add(r11, x2[3], y0, y1, y2, y3);
        let x3 = a_block(z, i + 12u, p);
        r12 = add(r12, x3[0], y0, y1, y2, y3);
        r13 = add(r13, x3[1], y0, y1, y2, y3);
        r14 = add(r14, x3[2], y0, y1, y2, y3);
        r15 = add(r15, x3[3], y0, y1, y2, y3);
    }
    // A loop over the rows, so that the store and the epilogue are compiled once instead of sixteen times.
    for (var row = i; row < min(i + 16u, params.m); row++) {
        store_row(z, row, j, r0);
        r0 = r1;
        r1 = r2;
        r2 = r3;
        r3 = r4;
        r4 = r5;
        r5 = r6;
        r6 = r7;
        r7 = r8;
        r8 = r9;
        r9 = r10;
        r10 = r11;
        r11 = r12;
        r12 = r13;
        r13 = r14;
        r14 = r15;
    }
}
