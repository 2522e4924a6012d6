// c^2 / ((P^2 + Q^2)(Yn^2 + Yd^2) + gamma) with c = P Yd - Q Yn.
fn chordal_term(pair: vec2<f32>, expected: vec2<f32>) -> vec3<f32> {
    let cross = pair.x * expected.y - pair.y * expected.x;
    let length = dot(expected, expected);
    let ratio = cross / (dot(pair, pair) * length + params.gamma);
    return ratio * vec3<f32>(cross, 2.0 * (vec2<f32>(expected.y, -expected.x) - ratio * length * pair));
}
