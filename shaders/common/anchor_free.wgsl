/// Q and its slope.
fn anchored(q: f32) -> vec2<f32> { return vec2<f32>(q + params.shift, 1.0); }
