// z (1 + tanh u) / 2 = z sigmoid(2 u), u = sqrt(2 / pi) (z + 0.044715 z^3).
fn gate4(z: vec4<f32>) -> vec4<f32> { return sigmoid4(1.5957691 * (z + 0.044715 * z * z * z)); }
fn act4(z: vec4<f32>) -> vec4<f32> { return z * gate4(z); }
fn act_grad4(z: vec4<f32>, a: vec4<f32>) -> vec4<f32> {
    let s = gate4(z);
    return s + a * (1.0 - s) * 1.5957691 * (1.0 + 0.134145 * z * z);
}
