// The mean over a row's outputs of a loss of pairs (cos, sin), weight 1; replaces the features by its gradient.
fn sample_loss(z_at: u32, row: u32) -> vec2<f32> {
    let tau = threshold();
    var sum = 0.0;
    for (var o = 0u; o < values(); o++) {
        let free = free_pair(z_at, o);
        let loss = graded(free, row, o, tau);
        sum += loss.x;
        set_word(z_at, o, params.scale * (free.x * loss.z - free.y * loss.y));
    }
    return vec2<f32>(sum, 1.0);
}
