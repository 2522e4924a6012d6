// a^b for all a and b, as C has it, with an error of about a unit in the last place. The logarithm is a sum of two numbers, after e_powf.c of FreeBSD
// (Sun Microsystems, 1993): leading parts of 12 bits, whose products are exact, are cut off by their bits, where no compiler sees what would cancel.

fn leading(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) & 0xfffff000u); }

// log2 |a| for a finite a that is not 0.
fn log2_in_two(a: f32) -> vec2<f32> {
    let word = bitcast<u32>(a) & 0x7fffffffu;
    let shift = max(countLeadingZeros(word), 8u) - 8u;
    let exponent = select(-126 - i32(shift), i32(word >> 23u) - 127, word >= 0x800000u);
    let mantissa = (word << shift) & 0x7fffffu;
    // x is between √¾ and √3: around 1 or around 3/2.
    let is_middle = mantissa > 0x1cc471u && mantissa < 0x5db3d7u;
    let is_upper = mantissa >= 0x5db3d7u;
    let bits = (mantissa | 0x3f800000u) - select(0u, 0x800000u, is_upper);
    let x = bitcast<f32>(bits);
    let centre = select(1.0, 1.5, is_middle);
    // s = (x - centre) / (x + centre); the error of the division is in its second part.
    let u = x - centre;
    let v = 1.0 / (x + centre);
    let s = u * v;
    let s_high = leading(s);
    let sum_high = bitcast<f32>((((bits >> 1u) & 0xfffff000u) | 0x20000000u) + 0x400000u + select(0u, 0x200000u, is_middle));
    let sum_low = x - (sum_high - centre);
    let s_low = v * ((u - s_high * sum_high) - s_high * sum_low);
    // 3/2 (ln x - ln centre) = s (3 + s² + …).
    let q = s * s;
    let series = 0.6 + q * (0.42857143 + q * (0.33333334 + q * (0.27272812 + q * (0.23066075 + q * 0.2069750130))));
    let rest = q * q * series + s_low * (s_high + s);
    let q_high = s_high * s_high;
    let t_high = leading(3.0 + q_high + rest);
    let t_low = rest - ((t_high - 3.0) - q_high);
    let p = s_high * t_high;
    let p_rest = s_low * t_high + t_low * s;
    let p_high = leading(p + p_rest);
    let p_low = p_rest - (p_high - p);
    // Times 2 / (3 ln 2), plus log2 centre, plus the exponent.
    let z_high = 0.96191406 * p_high;
    let z_low = -1.1736857e-4 * p_high + p_low * 0.96179670 + select(0.0, 1.5632208e-6, is_middle);
    let whole = f32(exponent + select(0, 1, is_upper));
    let offset = select(0.0, 0.58496094, is_middle);
    let high = leading(((z_high + z_low) + offset) + whole);
    return vec2<f32>(high, z_low - (((high - whole) - offset) - z_high));
}

// The bits of |a|^b for finite a and b that are not 0: those of infinity and of 0 where it is too large or too small.
fn power_bits(a: f32, b: f32) -> u32 {
    let log = log2_in_two(a);
    // Beyond 2^33 the power is infinite or 0 for every a but 1.
    let c = clamp(b, -8589934592.0, 8589934592.0);
    let c_high = leading(c);
    let high = c_high * log.x;
    let low = (c - c_high) * log.x + c * log.y;
    // Near 128 the sum may be rounded up; there the bits of the result decide.
    if high + low >= 129.0 {
        return 0x7f800000u;
    }
    if high + low < -150.0 {
        return 0u;
    }
    let n = round(high + low);
    let r = (high - n) + low;
    let series = 0.055504109 + r * (0.0096181291 + r * (0.0013333558 + r * (1.5403530e-4 + r * 1.5252734e-5)));
    // 2^r, between 0.7 and 1.5; its exponent grows in its bits.
    let size = 1.0 + r * (0.69314718 + r * (0.24022651 + r * series));
    let word = i32(bitcast<u32>(size)) + (i32(n) << 23u);
    if word >= 0x800000 {
        return min(u32(word), 0x7f800000u);
    }
    // The bits of a subnormal are its size in units of 2^-149.
    return u32(round(size * bitcast<f32>(u32(max(i32(n) + 149, -126) + 127) << 23u)));
}

// 0 where b is no integer, 1 where it is odd, 2 where it is even.
fn parity_of(b: f32) -> u32 {
    let word = bitcast<u32>(b) & 0x7fffffffu;
    if word >= 0x4b800000u || word == 0u {
        return 2u;
    }
    if word < 0x3f800000u {
        return 0u;
    }
    let bits = (word & 0x7fffffu) | 0x800000u;
    let fraction = 150u - (word >> 23u);
    if (bits & ((1u << fraction) - 1u)) != 0u {
        return 0u;
    }
    return 2u - ((bits >> fraction) & 1u);
}

fn power(a: f32, b: f32) -> f32 {
    let a_word = bitcast<u32>(a) & 0x7fffffffu;
    let b_word = bitcast<u32>(b) & 0x7fffffffu;
    let is_below_one = a_word < 0x3f800000u;
    let parity = parity_of(b);
    var word = 0x3f800000u;
    if b_word == 0u || bitcast<u32>(a) == 0x3f800000u {
        return bitcast<f32>(word);
    }
    if a_word > 0x7f800000u || b_word > 0x7f800000u {
        return bitcast<f32>(0x7fc00000u | a_word);
    }
    if b_word == 0x7f800000u {
        if a_word != 0x3f800000u {
            word = select(0x7f800000u, 0u, is_below_one == (bitcast<u32>(b) < 0x80000000u));
        }
        return bitcast<f32>(word);
    }
    let is_negative = bitcast<u32>(a) >= 0x80000000u;
    if a_word == 0u || a_word == 0x7f800000u {
        word = select(0x7f800000u, 0u, is_below_one == (bitcast<u32>(b) < 0x80000000u));
    } else if is_negative && parity == 0u {
        return bitcast<f32>(0x7fc00000u | a_word);
    } else {
        word = power_bits(a, b);
    }
    return bitcast<f32>(word | select(0u, 0x80000000u, is_negative && parity == 1u));
}
