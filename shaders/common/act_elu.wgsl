fn act4(z: vec4<f32>) -> vec4<f32> { return select(z, expm1_4(z), z < vec4<f32>()); }
fn act_grad4(z: vec4<f32>, a: vec4<f32>) -> vec4<f32> { return select(a + 1.0, vec4<f32>(1.0), z > vec4<f32>()); }
