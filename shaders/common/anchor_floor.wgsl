/// Q = softplus(q) + floor + anchor, and its slope; softplus by log(1 + t) = 2 artanh(t / (2 + t)) where t is small.
fn anchored(q: f32) -> vec2<f32> {
    let t = exp(-min(abs(q), 80.0));
    let r = t / (2.0 + t);
    let s = r * r;
    let near = 2.0 * r * (1.0 + s * (0.33333334 + s * (0.2 + s * (0.14285715 + s * 0.11111111))));
    let bent = max(q, 0.0) + select(log(1.0 + t), near, t < 0.5);
    return vec2<f32>(bent + params.shift, select(1.0, t, q < 0.0) / (1.0 + t));
}
