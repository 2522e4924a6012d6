// A workgroup computes a tile of ROWS x COLUMNS with cooperative matrices of 16 x 16, each of its subgroups of 32 lanes 64 x 32 of it in eight sums.
// Factors are halves, sums are floats. STEPS steps of p are staged at a time, line by line as the operands are stored, and the next ones are
// read from storage meanwhile. Both operands have whole lines: four halves at a multiple of four are a vector.

const SUBGROUPS_ACROSS: u32 = COLUMNS / 32u;
// A staged line has A_FOURS or B_FOURS vectors; two more keep lines in different banks, and at multiples of 16 bytes.
const A_LINE: u32 = A_FOURS + 2u;
const B_LINE: u32 = B_FOURS + 2u;
const A_TILE: u32 = A_LINE * A_LINES;
const B_TILE: u32 = B_LINE * B_LINES;
// Vectors that an invocation stages.
const A_EACH: u32 = A_FOURS * A_LINES / WORKGROUP;
const B_EACH: u32 = B_FOURS * B_LINES / WORKGROUP;

var<workgroup> a_tile: array<vec4<f16>, A_TILE>;
var<workgroup> b_tile: array<vec4<f16>, B_TILE>;
// A matrix of sums for each subgroup, in vectors.
var<workgroup> tile_sums: array<vec4<f32>, 2u * WORKGROUP>;

// A vector of a's tile: along a row, or along a column of a transposed operand. Zero past k, which is a multiple of four where rows are lines.
fn a_four(z: u32, row: u32, p: u32, at: u32) -> vec4<f16> {
    let s = params.a_strides;
    let line = at / A_FOURS;
    let along = 4u * (at % A_FOURS);
    let i = row + select(line, along, A_IS_TURNED);
    let step = p + select(along, line, A_IS_TURNED);
    return select(vec4<f16>(), a[min(z * s.x + i * s.y + step * s.z, s.w) / 4u], step < params.k);
}

fn b_four(z: u32, p: u32, column: u32, at: u32) -> vec4<f16> {
    let s = params.b_strides;
    let line = at / B_FOURS;
    let along = 4u * (at % B_FOURS);
    let step = p + select(line, along, B_IS_TURNED);
    let j = column + select(along, line, B_IS_TURNED);
    return select(vec4<f16>(), b[min(z * s.x + step * s.y + j * s.z, s.w) / 4u], step < params.k);
}

fn a_matrix(down: u32, step: u32) -> coop_mat16x16<f16, A> {
    if A_IS_TURNED {
        return coopLoad<coop_mat16x16<f16, A>>(&a_tile[step * A_LINE + down / 4u], A_LINE);
    }
    return coopLoadT<coop_mat16x16<f16, A>>(&a_tile[down * A_LINE + step / 4u], A_LINE);
}

fn b_matrix(step: u32, across: u32) -> coop_mat16x16<f16, B> {
    if B_IS_TURNED {
        return coopLoad<coop_mat16x16<f16, B>>(&b_tile[across * B_LINE + step / 4u], B_LINE);
    }
    return coopLoadT<coop_mat16x16<f16, B>>(&b_tile[step * B_LINE + across / 4u], B_LINE);
}

// Stores a matrix of each subgroup, whose first result is at (i, j).
fn put_matrix(sums: coop_mat16x16<f32, C>, z: u32, i: u32, j: u32, lane: u32) {
    let first = 64u * (lane / 32u);
    coopStoreT(sums, &tile_sums[first], 4u);
    workgroupBarrier();
    for (var at = lane % 32u; at < 64u; at += 32u) {
        store(z, i + at / 4u, j + 4u * (at % 4u), tile_sums[first + at]);
    }
    workgroupBarrier();
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
    let part = lane / 32u;
    let down = 64u * (part / SUBGROUPS_ACROSS);
    let across = 32u * (part % SUBGROUPS_ACROSS);
    var c00 = coop_mat16x16<f32, C>();
    var c01 = coop_mat16x16<f32, C>();
    var c10 = coop_mat16x16<f32, C>();
    var c11 = coop_mat16x16<f32, C>();
    var c20 = coop_mat16x16<f32, C>();
    var c21 = coop_mat16x16<f32, C>();
    var c30 = coop_mat16x16<f32, C>();
    var c31 = coop_mat16x16<f32, C>();
    var from_a: array<vec4<f16>, A_EACH>;
    var from_b: array<vec4<f16>, B_EACH>;
    for (var r = 0u; r < A_EACH; r++) { from_a[r] = a_four(z, row, 0u, lane + r * WORKGROUP); }
    for (var r = 0u; r < B_EACH; r++) { from_b[r] = b_four(z, 0u, column, lane + r * WORKGROUP); }
    for (var p = 0u; p < params.k; p += STEPS) {
        workgroupBarrier();
        for (var r = 0u; r < A_EACH; r++) {
            let at = lane + r * WORKGROUP;
            a_tile[at / A_FOURS * A_LINE + at % A_FOURS] = from_a[r];
        }
        for (var r = 0u; r < B_EACH; r++) {
            let at = lane + r * WORKGROUP;
            b_tile[at / B_FOURS * B_LINE + at % B_FOURS] = from_b[r];
        }
        workgroupBarrier();
        for (var r = 0u; r < A_EACH; r++) { from_a[r] = a_four(z, row, p + STEPS, lane + r * WORKGROUP); }
        for (var r = 0u; r < B_EACH; r++) { from_b[r] = b_four(z, p + STEPS, column, lane + r * WORKGROUP); }
        for (var step = 0u; step < STEPS; step += 16u) {
            let b0 = b_matrix(step, across);
            let b1 = b_matrix(step, across + 16u);
            let a0 = a_matrix(down, step);
            c00 = coopMultiplyAdd(a0, b0, c00);
            c01 = coopMultiplyAdd(a0, b1, c01);
            let a1 = a_matrix(down + 16u, step);
            c10 = coopMultiplyAdd(a1, b0, c10);
            c11 = coopMultiplyAdd(a1, b1, c11);
            let a2 = a_matrix(down + 32u, step);
            c20 = coopMultiplyAdd(a2, b0, c20);
            c21 = coopMultiplyAdd(a2, b1, c21);
            let a3 = a_matrix(down + 48u, step);
            c30 = coopMultiplyAdd(a3, b0, c30);
            c31 = coopMultiplyAdd(a3, b1, c31);
        }
    }
    let i = row + down;
    let j = column + across;
    put_matrix(c00, z, i, j, lane);
    put_matrix(c01, z, i, j + 16u, lane);
    put_matrix(c10, z, i + 16u, j, lane);
    put_matrix(c11, z, i + 16u, j + 16u, lane);
    put_matrix(c20, z, i + 32u, j, lane);
    put_matrix(c21, z, i + 32u, j + 16u, lane);
    put_matrix(c30, z, i + 48u, j, lane);
    put_matrix(c31, z, i + 48u, j + 16u, lane);
}
