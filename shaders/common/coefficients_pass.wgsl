/// Writes the gradient of a feature over it.
fn pass_down(z_at: u32, feature: u32, d: f32, slope: f32) { set_word(z_at, feature, d * slope); }
