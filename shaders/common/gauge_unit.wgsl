/// The gradient of the free pair, which takes the size for a constant.
fn through_gauge(d: vec2<f32>, pair: vec2<f32>, size: f32) -> vec2<f32> { return d / size; }
