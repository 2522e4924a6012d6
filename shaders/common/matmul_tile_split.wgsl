// A workgroup of 128 computes a 16 x 16 tile. Each invocation sums a 4 x 4 block of it over every eighth group of four steps of p, and a tree
// in workgroup memory adds the eight sums of a block: for results too few to occupy a GPU with larger tiles.

const SHARES: u32 = 8u;
const BLOCKS: u32 = 16u;

var<workgroup> parts: array<mat4x4<f32>, 64>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let z = group.z;
    if SUMS_ROWS & (COLUMNS * group.x >= params.n) {
        sum_rows(z, group.y, lane);
        return;
    }
    let share = lane / BLOCKS;
    let i = ROWS * group.y + 4u * (lane % BLOCKS / 4u);
    let j = COLUMNS * group.x + 4u * (lane % 4u);
    // Column r is row i + r of the result.
    var sum = mat4x4<f32>();
    for (var p = 4u * share; p < params.k; p += 4u * SHARES) {
        sum += b_block(z, p, j) * a_block(z, i, p);
    }
    for (var half = SHARES / 2u; half > 0u; half /= 2u) {
        if share >= half && share < 2u * half { parts[lane - half * BLOCKS] = sum; }
        workgroupBarrier();
        if share < half { sum += parts[lane]; }
        workgroupBarrier();
    }
    if share > 0u {
        return;
    }
    store(z, i, j, sum[0]);
    store(z, i + 1u, j, sum[1]);
    store(z, i + 2u, j, sum[2]);
    store(z, i + 3u, j, sum[3]);
}
