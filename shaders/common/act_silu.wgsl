fn act4(z: vec4<f32>) -> vec4<f32> { return z * sigmoid4(z); }
fn act_grad4(z: vec4<f32>, a: vec4<f32>) -> vec4<f32> {
    let s = sigmoid4(z);
    return s + a * (1.0 - s);
}
