// The upper half of a float: 8 bits of exponent and 7 of fraction, to the nearest, ties to even.
fn half_of(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let rounded = (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
    return select(rounded, (bits >> 16u) | 0x40u, (bits & 0x7fffffffu) > 0x7f800000u);
}

fn float_of(half: u32) -> f32 { return bitcast<f32>(half << 16u); }
