// 1 - cos of the angle between the pair and the expected one, if |Yd| is small enough. Scaled first, so that no square overflows.
fn sign_term(pair: vec2<f32>, expected: vec2<f32>) -> vec3<f32> {
    if (abs(expected.y) > params.sign_within) { return vec3<f32>(); }
    let scale = max(1.0, max(abs(pair.x), abs(pair.y)));
    let scaled = pair / scale;
    let size = sqrt(dot(scaled, scaled) + params.gamma / scale / scale);
    let towards = expected / sqrt(dot(expected, expected) + params.gamma);
    let along = dot(scaled, towards) / size;
    return vec3<f32>(1.0 - clamp(along, -1.0, 1.0), (along / size * scaled - towards) / (size * scale));
}
