fn act4(z: vec4<f32>) -> vec4<f32> { return max(z, vec4<f32>()) + log1p_exp4(-abs(z)); }
fn act_grad4(z: vec4<f32>, a: vec4<f32>) -> vec4<f32> { return sigmoid4(z); }
