/// Replaces a feature by its gradient.
fn pass_down(z_at: u32, feature: u32, d: f32, slope: f32) { set_word(z_at, feature, d * slope); }
