// The mean over a row's outputs of a pair loss, weight 1; replaces the features by its gradient.
fn sample_loss(z_at: u32, row: u32) -> vec2<f32> {
    let tau = threshold();
    var below = vec3<f32>();
    var sum = 0.0;
    var d = 0.0;
    for (var o = 0u; o < values(); o++) {
        if (o == 0u || !SHARED) {
            below = denominator(z_at, o);
            d = 0.0;
        }
        let above = curve(z_at, o);
        let loss = graded(vec2<f32>(above.x, below.x), row, o, tau);
        sum += loss.x;
        d += loss.z;
        pass_down(z_at, o, loss.y, above.y);
        if (o + 1u == values() || !SHARED) {
            pass_down(z_at, values() + select(o, 0u, SHARED), d * below.y, below.z);
        }
    }
    return vec2<f32>(sum, 1.0);
}
