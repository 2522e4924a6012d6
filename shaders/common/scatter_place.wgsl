// out[r, c] = values[r] where c = index[r], else 0.
fn scattered(number: u32, lane: u32) {
    let i = number * 256u + lane;
    if i < params.rows * params.columns {
        let r = i / params.columns;
        out[i] = select(0.0, values[r], index[r] == i % params.columns);
    }
}
