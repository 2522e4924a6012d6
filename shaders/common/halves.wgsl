/// Beyond ±65,504 WGSL leaves a conversion to halves open. NaN there instead, which no activation and no sum loses.
fn within_half(z: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(select(bitcast<vec4<u32>>(z), vec4<u32>(0x7fc00000u), abs(z) > vec4<f32>(65504.0)));
}
