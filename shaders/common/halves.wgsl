/// Beyond ±65,504 WGSL leaves a conversion to halves open. NaN there instead, which no activation and no sum loses.
fn within_half(quad: vec4<f32>) -> vec4<f32> {
    let bits = bitcast<vec4<u32>>(quad);
    let beyond = (bits & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x477fe000u);
    return bitcast<vec4<f32>>(select(bits, vec4<u32>(0x7fc00000u), beyond));
}
