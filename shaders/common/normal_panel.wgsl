// Many parameters: the workgroup writes a panel of TILE rows of [J | r] into its memory, QUADS vectors each, put there by the body's put(row, at).
// An invocation owns a block of 4 x 4 products, that of two quads of columns; SHARES invocations share a block, each with some of the rows.

// With the counters at most 16 KiB.
const TILE: u32 = min(256u, 1023u / QUADS);
const BLOCKS: u32 = QUADS * (QUADS + 1u) / 2u;
const SHARES: u32 = 256u / BLOCKS;

var<workgroup> panel: array<vec4<f32>, TILE * QUADS>;

// The rows of the block, and the sums of squares and costs.
var<private> s0: vec4<f32>;
var<private> s1: vec4<f32>;
var<private> s2: vec4<f32>;
var<private> s3: vec4<f32>;
var<private> rest: vec4<f32>;

// The quads of block `at`: (0, 0), (0, 1), …, (1, 1), …
fn block(at: u32) -> vec2<u32> {
    var row = 0u;
    var left = at;
    while left >= QUADS - row {
        left -= QUADS - row;
        row += 1u;
    }
    return vec2<u32>(row, row + left);
}

fn sum_rows(first: u32, last: u32, lane: u32) {
    let own = block(lane % BLOCKS);
    let share = lane / BLOCKS;
    for (var start = first; start < last; start += TILE) {
        let count = min(TILE, last - start);
        if lane < count {
            let row = row_at(start + lane);
            put(row, QUADS * lane);
            rest += vec4<f32>(row.squares, row.cost, 0.0, 0.0);
        }
        workgroupBarrier();
        if share < SHARES {
            for (var i = share; i < count; i += SHARES) {
                let a = panel[QUADS * i + own.x];
                let b = panel[QUADS * i + own.y];
                s0 += a.x * b;
                s1 += a.y * b;
                s2 += a.z * b;
                s3 += a.w * b;
            }
        }
        workgroupBarrier();
    }
}

// Writes row `row` of every block, added up over its invocations.
fn write_row(row: u32, sums: vec4<f32>, place: u32, lane: u32) {
    panel[lane] = sums;
    workgroupBarrier();
    if lane < BLOCKS {
        var total = vec4<f32>();
        for (var share = 0u; share < SHARES; share++) {
            total += panel[lane + BLOCKS * share];
        }
        let own = block(lane);
        let i = 4u * own.x + row;
        for (var c = 0u; c < 4u; c++) {
            let j = 4u * own.y + c;
            if i < PARAMETERS && i <= j && j <= PARAMETERS {
                partials[place + i * (2u * PARAMETERS + 1u - i) / 2u + j] = total[c];
            }
        }
    }
    workgroupBarrier();
}

fn write_sums(place: u32, lane: u32) {
    write_row(0u, s0, place, lane);
    write_row(1u, s1, place, lane);
    write_row(2u, s2, place, lane);
    write_row(3u, s3, place, lane);
    panel[lane] = rest;
    workgroupBarrier();
    var total = vec4<f32>();
    for (var i = 0u; i < 16u; i++) {
        total += panel[16u * i + lane % 16u];
    }
    workgroupBarrier();
    panel[lane] = total;
    workgroupBarrier();
    if lane == 0u {
        for (var i = 1u; i < 16u; i++) {
            total += panel[i];
        }
        partials[place + SIZE - 2u] = total.x;
        partials[place + SIZE - 1u] = total.y;
    }
}
