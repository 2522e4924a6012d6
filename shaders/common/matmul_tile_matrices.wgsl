// A workgroup of four subgroups of 32 computes a 64 x 64 tile with cooperative matrices of 16 x 16; each subgroup 32 x 32 of it. Factors are halves,
// sums are floats. Thirty-two steps of p are staged at a time.

// Halves of a row of each tile: an odd multiple of 16 bytes, which loads of matrices need, so that rows are in different banks.
const A_ROW: u32 = 40u;
const B_ROW: u32 = 72u;
const STEPS: u32 = 32u;

var<workgroup> a_tile: array<f16, 2560>;
var<workgroup> b_tile: array<f16, 2304>;
var<workgroup> tile_sums: array<f32, 4096>;

fn stage_a(at: u32, four: vec4<f32>) {
    a_tile[at] = f16(four.x);
    a_tile[at + 1u] = f16(four.y);
    a_tile[at + 2u] = f16(four.z);
    a_tile[at + 3u] = f16(four.w);
}

fn stage_b(at: u32, four: vec4<f32>) {
    b_tile[at] = f16(four.x);
    b_tile[at + 1u] = f16(four.y);
    b_tile[at + 2u] = f16(four.z);
    b_tile[at + 3u] = f16(four.w);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let z = group.z;
    if is_past_tiles(group.x) {
        sum_rows(z, group.y, lane);
        return;
    }
    let row = 64u * group.y;
    let column = 64u * group.x;
    let part = lane / 32u;
    let down = 32u * (part / 2u);
    let across = 32u * (part % 2u);
    var c00 = coop_mat16x16<f32, C>();
    var c01 = coop_mat16x16<f32, C>();
    var c10 = coop_mat16x16<f32, C>();
    var c11 = coop_mat16x16<f32, C>();
    for (var p = 0u; p < params.k; p += STEPS) {
        // Each invocation stages a 4 x 4 block of a and one of b.
        let from_a = a_block(z, row + 4u * (lane / 8u), p + 4u * (lane % 8u));
        let from_b = b_block(z, p + 4u * (lane / 16u), column + 4u * (lane % 16u));
        workgroupBarrier();
        for (var r = 0u; r < 4u; r++) {
            stage_a((4u * (lane / 8u) + r) * A_ROW + 4u * (lane % 8u), from_a[r]);
            stage_b((4u * (lane / 16u) + r) * B_ROW + 4u * (lane % 16u), from_b[r]);
        }
        workgroupBarrier();
        for (var q = 0u; q < STEPS; q += 16u) {
            let a0 = coopLoadT<coop_mat16x16<f16, A>>(&a_tile[down * A_ROW + q], A_ROW);
            let a1 = coopLoadT<coop_mat16x16<f16, A>>(&a_tile[(down + 16u) * A_ROW + q], A_ROW);
            let b0 = coopLoadT<coop_mat16x16<f16, B>>(&b_tile[q * B_ROW + across], B_ROW);
            let b1 = coopLoadT<coop_mat16x16<f16, B>>(&b_tile[q * B_ROW + across + 16u], B_ROW);
            c00 = coopMultiplyAdd(a0, b0, c00);
            c01 = coopMultiplyAdd(a0, b1, c01);
            c10 = coopMultiplyAdd(a1, b0, c10);
            c11 = coopMultiplyAdd(a1, b1, c11);
        }
    }
    coopStoreT(c00, &tile_sums[down * 64u + across], 64u);
    coopStoreT(c01, &tile_sums[down * 64u + across + 16u], 64u);
    coopStoreT(c10, &tile_sums[(down + 16u) * 64u + across], 64u);
    coopStoreT(c11, &tile_sums[(down + 16u) * 64u + across + 16u], 64u);
    workgroupBarrier();
    for (var at = lane; at < 1024u; at += WORKGROUP) {
        let place = 4u * at;
        store(z, row + at / 16u, column + 4u * (at % 16u), vec4<f32>(tile_sums[place], tile_sums[place + 1u], tile_sums[place + 2u], tile_sums[place + 3u]));
    }
}
