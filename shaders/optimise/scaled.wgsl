// The factor of the loss falls after an update that was left out, and grows after INTERVAL updates in a row. Its state: the factor, the updates since.
fn unscaled(share: f32, scale: f32) -> f32 { return share * (SCALED_ROWS / scale); }

fn next_scale(old: vec4<f32>, is_finite: bool) -> vec4<f32> {
    if (!is_finite) { return vec4<f32>(max(old.x * BACKOFF, LEAST_SCALE), 0.0, 0.0, 0.0); }
    if (old.y + 1.0 >= INTERVAL) { return vec4<f32>(min(old.x * GROWTH, MOST_SCALE), 0.0, 0.0, 0.0); }
    return vec4<f32>(old.x, old.y + 1.0, 0.0, 0.0);
}
