fn loss4(z: vec4<f32>, y: vec4<f32>) -> Loss4 { return Loss4(abs(z - y), sign(z - y)); }
