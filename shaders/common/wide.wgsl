// Arithmetic of integers of 64 bits, for total.wgsl; sine.wgsl has the type and the product.

fn wide_right(x: Wide, by: u32) -> Wide {
    if by >= 64u {
        return Wide(0u, 0u);
    }
    if by >= 32u {
        return Wide(0u, x.high >> (by - 32u));
    }
    if by == 0u {
        return x;
    }
    return Wide(x.high >> by, (x.low >> by) | (x.high << (32u - by)));
}

fn wide_left(x: Wide, by: u32) -> Wide {
    if by >= 32u {
        return Wide(x.low << (by - 32u), 0u);
    }
    if by == 0u {
        return x;
    }
    return Wide((x.high << by) | (x.low >> (32u - by)), x.low << by);
}

fn wide_sum(a: Wide, b: Wide) -> Wide {
    let low = a.low + b.low;
    return Wide(a.high + b.high + select(0u, 1u, low < a.low), low);
}

fn wide_difference(a: Wide, b: Wide) -> Wide {
    return Wide(a.high - b.high - select(0u, 1u, a.low < b.low), a.low - b.low);
}

fn wide_less(a: Wide, b: Wide) -> bool { return a.high < b.high || (a.high == b.high && a.low < b.low); }

// x / 2^by to the nearest, ties to even, for 25 <= by <= 50 and a result of one word.
fn wide_rounded(x: Wide, by: u32) -> u32 {
    let twice = wide_right(x, by - 1u);
    let back = wide_left(twice, by - 1u);
    let is_more = back.high != x.high || back.low != x.low;
    let whole = twice.low >> 1u;
    return whole + select(0u, 1u, (twice.low & 1u) == 1u && (is_more || (whole & 1u) == 1u));
}
