// c^2 / (S + gamma) with c = P Yd - Q Yn and S = Q^2 Yd^2 + P^2 Yn^2, which gradients treat as a constant.
fn implicit_term(pair: vec2<f32>, expected: vec2<f32>) -> vec3<f32> {
    let cross = pair.x * expected.y - pair.y * expected.x;
    let own = pair * expected;
    let ratio = cross / (dot(own, own) + params.gamma);
    return ratio * vec3<f32>(cross, 2.0 * expected.y, -2.0 * expected.x);
}
