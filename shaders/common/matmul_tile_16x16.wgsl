// A workgroup of eight makes a 32 x 64 tile, an invocation 16 x 16 of it: fewest loads and no barrier, for software adapters.
// A row of 16 columns is four vectors of a matrix.

fn row(sum: mat4x4<f32>, x: vec4<f32>, y0: mat4x4<f32>, y1: mat4x4<f32>, y2: mat4x4<f32>, y3: mat4x4<f32>) -> mat4x4<f32> {
    return mat4x4<f32>(add(sum[0], x, y0), add(sum[1], x, y1), add(sum[2], x, y2), add(sum[3], x, y3));
}

fn store_row(z: u32, i: u32, j: u32, sums: mat4x4<f32>) {
    store(z, i, j, sums[0]);
    store(z, i, j + 4u, sums[1]);
    store(z, i, j + 8u, sums[2]);
    store(z, i, j + 12u, sums[3]);
}

@compute @workgroup_size(8)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let z = group.z;
    let i = 32u * group.y + 16u * (lane / 4u);
    let j = 64u * group.x + 16u * (lane % 4u);
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
        let y1 = b_block(z, p, j + 4u);
        let y2 = b_block(z, p, j + 8u);
        let y3 = b_block(z, p, j + 12u);
        let x0 = a_block(z, i, p);
        r0 = row(r0, x0[0], y0, y1, y2, y3);
        r1 = row(r1, x0[1], y0, y1, y2, y3);
        r2 = row(r2, x0[2], y0, y1, y2, y3);
        r3 = row(r3, x0[3], y0, y1, y2, y3);
        let x1 = a_block(z, i + 4u, p);
        r4 = row(r4, x1[0], y0, y1, y2, y3);
        r5 = row(r5, x1[1], y0, y1, y2, y3);
        r6 = row(r6, x1[2], y0, y1, y2, y3);
        r7 = row(r7, x1[3], y0, y1, y2, y3);
        let x2 = a_block(z, i + 8u, p);
        r8 = row(r8, x2[0], y0, y1, y2, y3);
        r9 = row(r9, x2[1], y0, y1, y2, y3);
        r10 = row(r10, x2[2], y0, y1, y2, y3);
        r11 = row(r11, x2[3], y0, y1, y2, y3);
        let x3 = a_block(z, i + 12u, p);
        r12 = row(r12, x3[0], y0, y1, y2, y3);
        r13 = row(r13, x3[1], y0, y1, y2, y3);
        r14 = row(r14, x3[2], y0, y1, y2, y3);
        r15 = row(r15, x3[3], y0, y1, y2, y3);
    }
    store_row(z, i, j, r0);
    store_row(z, i + 1u, j, r1);
    store_row(z, i + 2u, j, r2);
    store_row(z, i + 3u, j, r3);
    store_row(z, i + 4u, j, r4);
    store_row(z, i + 5u, j, r5);
    store_row(z, i + 6u, j, r6);
    store_row(z, i + 7u, j, r7);
    store_row(z, i + 8u, j, r8);
    store_row(z, i + 9u, j, r9);
    store_row(z, i + 10u, j, r10);
    store_row(z, i + 11u, j, r11);
    store_row(z, i + 12u, j, r12);
    store_row(z, i + 13u, j, r13);
    store_row(z, i + 14u, j, r14);
    store_row(z, i + 15u, j, r15);
}
