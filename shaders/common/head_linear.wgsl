fn curve(z_at: u32, feature: u32) -> vec2<f32> { return vec2<f32>(word(z_at, feature), 1.0); }
