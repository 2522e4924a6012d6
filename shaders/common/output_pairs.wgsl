/// Pairs per row.
fn output_count() -> u32 { return values(); }

/// Writes pair `o` of a row.
fn write_output(z_at: u32, row: u32, o: u32) {
    let free = free_pair(z_at, o);
    let pair = free / pair_size(free);
    out[row * params.targets + o] = pair.x;
    out[row * params.targets + values() + o] = pair.y;
}
