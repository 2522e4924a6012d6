/// NaN stays NaN where a device has it; max would pass over it.
fn act4(z: vec4<f32>) -> vec4<f32> { return select(z, vec4<f32>(), z <= vec4<f32>()); }
fn act_grad4(z: vec4<f32>, a: vec4<f32>) -> vec4<f32> { return select(vec4<f32>(), vec4<f32>(1.0), z > vec4<f32>()); }
