// max(tau - |Q|, 0)^2 where the target is finite.
fn margin_term(pair: vec2<f32>, expected: vec2<f32>, tau: f32) -> vec3<f32> {
    if (expected.y == 0.0) { return vec3<f32>(); }
    let missing = max(tau - abs(pair.y), 0.0);
    return vec3<f32>(missing * missing, 0.0, -2.0 * missing * sign(pair.y));
}
