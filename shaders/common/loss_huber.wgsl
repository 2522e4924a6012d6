fn loss4(z: vec4<f32>, y: vec4<f32>) -> Loss4 {
    let d = z - y;
    let near = clamp(d, vec4<f32>(-params.delta), vec4<f32>(params.delta));
    return Loss4(near * (d - 0.5 * near), near);
}
