// out[r, c] = Σ over i with index[i] = r of values[i, c], in order of i. A workgroup has `span` rows and up to 256 columns. It reads all indices, a tile
// at a time, and marks those of its rows; then each invocation adds the marked values of its own column, and of every so many rows, in order.
const TILE: u32 = 2048u;

// Rows less the workgroup's first, and a bit for each that is below `span`.
var<workgroup> places: array<u32, TILE>;
var<workgroup> marks: array<u32, 64>;

fn scattered(number: u32, lane: u32) {
    let first = number / params.blocks * params.span;
    let column = number % params.blocks * 256u + lane % params.width;
    let sharing = 256u / params.width;
    let own = lane / params.width;
    let has_work = own < sharing && column < params.columns;
    if has_work {
        for (var r = first + own; r < min(first + params.span, params.rows); r += sharing) {
            out[r * params.columns + column] = 0.0;
        }
    }
    for (var start = 0u; start < params.count; start += TILE) {
        for (var k = lane; k < TILE; k += 256u) {
            var place = 0xffffffffu;
            if start + k < params.count {
                // Rows before the first wrap around.
                place = index[start + k] - first;
            }
            places[k] = place;
        }
        workgroupBarrier();
        if lane < 64u {
            var word = 0u;
            for (var bit = 0u; bit < 32u; bit++) {
                word |= select(0u, 1u << bit, places[32u * lane + bit] < params.span);
            }
            marks[lane] = word;
        }
        workgroupBarrier();
        if has_work {
            for (var at = 0u; at < 64u; at++) {
                for (var word = marks[at]; word != 0u; word &= word - 1u) {
                    let k = 32u * at + firstTrailingBit(word);
                    let r = first + places[k];
                    if places[k] % sharing == own && r < params.rows {
                        out[r * params.columns + column] += values[(start + k) * params.columns + column];
                    }
                }
            }
        }
        workgroupBarrier();
    }
}
