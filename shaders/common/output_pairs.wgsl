/// Pairs per row.
fn answers() -> u32 { return values(); }

/// Writes number `o` of a row's pairs.
fn give(z_at: u32, row: u32, o: u32) {
    let free = free_pair(z_at, o);
    let pair = free / gauge_size(free);
    out[row * params.targets + o] = pair.x;
    out[row * params.targets + values() + o] = pair.y;
}
