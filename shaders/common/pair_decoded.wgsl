// (P / (sgn(Q) max(|Q|, tau)) - Yn)^2 where the target is finite.
fn decoded_term(pair: vec2<f32>, expected: vec2<f32>, tau: f32) -> vec3<f32> {
    if (expected.y == 0.0) { return vec3<f32>(); }
    let size = max(abs(pair.y), tau);
    let bounded = select(-size, size, pair.y >= 0.0);
    let value = pair.x / bounded;
    let far = value - expected.x;
    let slope = 2.0 * far / bounded;
    return vec3<f32>(far * far, slope, select(0.0, -slope * value, abs(pair.y) >= tau));
}
