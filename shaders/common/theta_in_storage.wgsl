/// A quad of theta.
fn held(at: u32) -> vec4<f32> { return theta[at]; }
