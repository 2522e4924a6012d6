/// The gradient by the free pair; the size is treated as a constant.
fn through_normalization(d: vec2<f32>, pair: vec2<f32>, size: f32) -> vec2<f32> { return d / size; }
