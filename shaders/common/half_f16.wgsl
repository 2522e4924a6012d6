// Halves with 5 bits of exponent. What is too large becomes infinite, by its bits, since WGSL does not define that; so does what is read.
fn half_of(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let size = bits & 0x7fffffffu;
    let sign = (bits >> 16u) & 0x8000u;
    let finite = pack2x16float(vec2<f32>(clamp(x, -65504.0, 65504.0), 0.0)) & 0xffffu;
    let large = select(sign | 0x7c00u, 0x7e00u, size > 0x7f800000u);
    return select(finite, large, size >= 0x477ff000u);
}

fn float_of(half: u32) -> f32 {
    let large = ((half & 0x8000u) << 16u) | 0x7f800000u | ((half & 0x3ffu) << 13u);
    return select(unpack2x16float(half).x, bitcast<f32>(large), (half & 0x7c00u) == 0x7c00u);
}
