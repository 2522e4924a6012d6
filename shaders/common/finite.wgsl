// Decisions that every device takes alike: on the bits of numbers, never on how a quotient was rounded or a subnormal flushed.

fn is_finite(x: f32) -> bool { return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u; }

fn exponent(x: f32) -> i32 { return i32((bitcast<u32>(x) >> 23u) & 0xffu); }

// Whether the correctly rounded x / y of two finite numbers, y normal, is beyond the largest f32. A quotient of normal numbers never
// rounds up across a power of two, so exponents and fractions decide.
fn quotient_overflows(x: f32, y: f32) -> bool {
    let is_less = (bitcast<u32>(x) & 0x7fffffu) < (bitcast<u32>(y) & 0x7fffffu);
    return exponent(x) - exponent(y) - select(0, 1, is_less) >= 128;
}
