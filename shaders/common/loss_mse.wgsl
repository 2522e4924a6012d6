fn loss4(z: vec4<f32>, y: vec4<f32>) -> Loss4 {
    let d = z - y;
    return Loss4(d * d, 2.0 * d);
}
