/// Q = softplus(q) + floor + anchor, and its slope.
fn anchored(q: f32) -> vec2<f32> {
    let bent = max(q, 0.0) + log1p_exp4(vec4<f32>(-abs(q))).x;
    return vec2<f32>(bent + params.shift, sigmoid4(vec4<f32>(q)).x);
}
