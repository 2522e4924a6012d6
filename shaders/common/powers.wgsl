// Whether a power or a hypotenuse is representable, decided in integers; and their values for arguments of any size.

// a^b is real.
fn power_exists(a: f32, b: f32) -> bool {
    return (is_nonzero(a) || !is_below_zero(b)) && (!is_below_zero(a) || is_integer(b));
}

// Whether |a|^b rounds to a float: b log2 |a| < 128 - 4.3e-8, decided by 62 bits of the logarithm where simple bounds are not enough.
fn power_fits(a: f32, b: f32) -> bool {
    let x = parts(a);
    let y = parts(b);
    let floor_log = x.exponent + 23;
    if x.mantissa == 0u || y.mantissa == 0u || (floor_log >= 0) == is_below_zero(b) {
        return true;
    }
    let size = 0x1p-10f * bitcast<f32>(magnitude(b));
    let small = f32(select(-floor_log - 1, floor_log, floor_log >= 0));
    if (small + 1.0) * size < 0x1p-4f {
        return true;
    }
    if small * size >= 0x1p-2f {
        return false;
    }
    return logarithm_fits(x.mantissa, floor_log, y);
}

fn logarithm_fits(mantissa: u32, floor_log: i32, y: Parts) -> bool {
    let fraction = logarithm_bits(mantissa);
    var whole = u32(abs(floor_log));
    var rest = fraction;
    if floor_log < 0 && (fraction.high | fraction.low) != 0u {
        whole -= 1u;
        rest = wide_difference(Wide(0x40000000u, 0u), fraction);
    }
    var size = rest;
    var scale = 1;
    if whole > 0u {
        size = wide_sum(Wide(whole << 22u, 0u), wide_right(rest, 8u));
        scale = 9;
    }
    if (size.high | size.low) == 0u {
        return true;
    }
    let zeros = select(countLeadingZeros(size.high), 32u + countLeadingZeros(size.low), size.high == 0u);
    size = wide_left(size, zeros);
    let low = wide_product((size.high << 8u) | (size.low >> 24u), y.mantissa);
    var value = wide_sum(low, Wide((size.high >> 24u) * y.mantissa, 0u));
    var exponent = scale - i32(zeros) + y.exponent + 23;
    if value.high >= 0x80000000u {
        exponent += 1;
    } else {
        value = wide_left(value, 1u);
    }
    return exponent < 6 || (exponent == 6 && wide_less(value, Wide(0xfffffffeu, 0x8eab8950u)));
}

// log2 of mantissa / 2^23, 62 bits: the carries of repeated squaring.
fn logarithm_bits(mantissa: u32) -> Wide {
    var z = Wide(mantissa << 8u, 0u);
    var bits = Wide(0u, 0u);
    for (var i = 0; i < 62; i += 1) {
        z = wide_sum(wide_product(z.high, z.high), wide_right(wide_product(z.high, z.low), 31u));
        let carry = z.high >> 31u;
        if carry == 0u {
            z = wide_left(z, 1u);
        }
        bits = wide_left(bits, 1u);
        bits.low |= carry;
    }
    return bits;
}

// a² + b² stays below (2^128 - 2^103)², in units of a quarter of the larger one's last place squared.
fn hypotenuse_fits(a: f32, b: f32) -> bool {
    let x = parts(bitcast<f32>(max(magnitude(a), magnitude(b))));
    let y = parts(bitcast<f32>(min(magnitude(a), magnitude(b))));
    if x.exponent < 104 {
        return true;
    }
    let room = wide_difference(Wide(0xffffu, 0xff000000u), wide_product(x.mantissa, x.mantissa));
    let square = wide_left(wide_product(y.mantissa, y.mantissa), 2u);
    let limit = wide_sum(wide_left(room, 2u), Wide(0u, 1u));
    return wide_less(wide_right(square, u32(2 * (x.exponent - y.exponent))), limit);
}

fn hypotenuse_value(a: f32, b: f32) -> f32 {
    let top = max(parts(a).exponent, parts(b).exponent);
    return scaled(hypotenuse(shifted(a, -23 - top), shifted(b, -23 - top)), top + 23);
}

fn angle_value(a: f32, b: f32) -> f32 {
    let top = max(parts(a).exponent, parts(b).exponent);
    return angle(shifted(a, -23 - top), shifted(b, -23 - top));
}

// x · 2^by, for a result of about 1 at most.
fn shifted(x: f32, by: i32) -> f32 {
    let p = parts(x);
    return with_sign(select(scaled(unit(p.mantissa), p.exponent + 23 + by), 0.0, p.mantissa == 0u), bitcast<u32>(x));
}
