fn act4(z: vec4<f32>) -> vec4<f32> { return sigmoid4(z); }
fn act_grad4(z: vec4<f32>, a: vec4<f32>) -> vec4<f32> { return a * (1.0 - a); }
