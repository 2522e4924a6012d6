/// The gradient of the free pair, the size's own included.
fn through_gauge(d: vec2<f32>, pair: vec2<f32>, size: f32) -> vec2<f32> { return (d - dot(pair, d) * pair) / size; }
