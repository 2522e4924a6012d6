// A workgroup of 8 x 8 computes a 64 x 64 tile; each invocation 8 x 8 of it, as two halves of rows by two halves of columns, in named vectors:
// r and s are rows ty.. with columns tx.. and 32 + tx.., t and u the same for rows 32 + ty... Sixteen steps of p are staged at a time.

// A row of a_tile is 16 steps of p in four vectors; the fifth keeps rows in different banks.
const A_ROW: u32 = 5u;
// A row of b_tile is one step of p: 64 columns.
const B_ROW: u32 = 16u;

var<workgroup> a_tile: array<vec4<f32>, 320>;
var<workgroup> b_tile: array<vec4<f32>, 256>;

// A row of the result and four steps of p.
fn add(sum: vec4<f32>, x: vec4<f32>, y: mat4x4<f32>) -> vec4<f32> {
    return sum + x.x * y[0] + x.y * y[1] + x.z * y[2] + x.w * y[3];
}

fn b_four(at: u32) -> mat4x4<f32> {
    return mat4x4<f32>(b_tile[at], b_tile[at + B_ROW], b_tile[at + 2u * B_ROW], b_tile[at + 3u * B_ROW]);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let z = group.z;
    if SUMS_ROWS & (COLUMNS * group.x >= params.n) {
        sum_rows(z, group.y, lane);
        return;
    }
    let row = ROWS * group.y;
    let column = COLUMNS * group.x;
    let i = 4u * (lane / 8u);
    let tx = lane % 8u;
    // Rows i + 0..4 and 32 + i + 0..4; columns 4 tx.. and 32 + 4 tx...
    var r0 = vec4<f32>();
    var r1 = vec4<f32>();
    var r2 = vec4<f32>();
    var r3 = vec4<f32>();
    var s0 = vec4<f32>();
    var s1 = vec4<f32>();
    var s2 = vec4<f32>();
    var s3 = vec4<f32>();
    var t0 = vec4<f32>();
    var t1 = vec4<f32>();
    var t2 = vec4<f32>();
    var t3 = vec4<f32>();
    var u0 = vec4<f32>();
    var u1 = vec4<f32>();
    var u2 = vec4<f32>();
    var u3 = vec4<f32>();
    for (var p = 0u; p < params.k; p += 16u) {
        // Each invocation stages a 4 x 4 block of a and one of b.
        let from_a = a_block(z, row + 4u * (lane / 4u), p + 4u * (lane % 4u));
        let from_b = b_block(z, p + 4u * (lane / 16u), column + 4u * (lane % 16u));
        let into_a = 4u * (lane / 4u) * A_ROW + lane % 4u;
        let into_b = 4u * (lane / 16u) * B_ROW + lane % 16u;
        workgroupBarrier();
        a_tile[into_a] = from_a[0];
        a_tile[into_a + A_ROW] = from_a[1];
        a_tile[into_a + 2u * A_ROW] = from_a[2];
        a_tile[into_a + 3u * A_ROW] = from_a[3];
        b_tile[into_b] = from_b[0];
        b_tile[into_b + B_ROW] = from_b[1];
        b_tile[into_b + 2u * B_ROW] = from_b[2];
        b_tile[into_b + 3u * B_ROW] = from_b[3];
        workgroupBarrier();
        for (var q = 0u; q < 4u; q++) {
            let left = b_four(4u * q * B_ROW + tx);
            let right = b_four(4u * q * B_ROW + 8u + tx);
            let at = i * A_ROW + q;
            let x0 = a_tile[at];
            let x1 = a_tile[at + A_ROW];
            let x2 = a_tile[at + 2u * A_ROW];
            let x3 = a_tile[at + 3u * A_ROW];
            r0 = add(r0, x0, left);
            r1 = add(r1, x1, left);
            r2 = add(r2, x2, left);
            r3 = add(r3, x3, left);
            s0 = add(s0, x0, right);
            s1 = add(s1, x1, right);
            s2 = add(s2, x2, right);
            s3 = add(s3, x3, right);
            let y0 = a_tile[at + 32u * A_ROW];
            let y1 = a_tile[at + 33u * A_ROW];
            let y2 = a_tile[at + 34u * A_ROW];
            let y3 = a_tile[at + 35u * A_ROW];
            t0 = add(t0, y0, left);
            t1 = add(t1, y1, left);
            t2 = add(t2, y2, left);
            t3 = add(t3, y3, left);
            u0 = add(u0, y0, right);
            u1 = add(u1, y1, right);
            u2 = add(u2, y2, right);
            u3 = add(u3, y3, right);
        }
    }
    let j = column + 4u * tx;
    store(z, row + i, j, r0);
    store(z, row + i + 1u, j, r1);
    store(z, row + i + 2u, j, r2);
    store(z, row + i + 3u, j, r3);
    store(z, row + i, j + 32u, s0);
    store(z, row + i + 1u, j + 32u, s1);
    store(z, row + i + 2u, j + 32u, s2);
    store(z, row + i + 3u, j + 32u, s3);
    store(z, row + i + 32u, j, t0);
    store(z, row + i + 33u, j, t1);
    store(z, row + i + 34u, j, t2);
    store(z, row + i + 35u, j, t3);
    store(z, row + i + 32u, j + 32u, u0);
    store(z, row + i + 33u, j + 32u, u1);
    store(z, row + i + 34u, j + 32u, u2);
    store(z, row + i + 35u, j + 32u, u3);
}
