fn loss4(z: vec4<f32>, y: vec4<f32>) -> Loss4 {
    return Loss4(max(z, vec4<f32>()) - z * y + log1p_exp4(-abs(z)), sigmoid4(z) - y);
}
