/// The gradient by the free pair, including the gradient of the size.
fn through_normalization(d: vec2<f32>, pair: vec2<f32>, size: f32) -> vec2<f32> { return (d - dot(pair, d) * pair) / size; }
