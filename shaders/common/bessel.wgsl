// Bessel functions of the first kind, of order 0 and 1; domains and polynomials are stated as in special.wgsl.

// Hankel's form for |x| >= 4: P and x Q are polynomials of (4 / x)².
fn bessel_j0_far(x: f32) -> f32 {
    let w = 4.0 / x;
    let v = w * w;
    let p = 0.999999981 + v * (-0.0043934556 + v * (0.000427907594 + v * (-0.000102615917 + v * 2.06449502e-5)));
    let q = -0.124999989 + v * (0.00457669395 + v * (-0.000873875942 + v * (0.00034796824 + v * (-0.000147488709 + v * 3.43653836e-5))));
    let c = cosine(x);
    let s = sine(x);
    return 0.564189584 / sqrt(x) * (p * (c + s) - 0.25 * w * q * (s - c));
}

// All finite x.
fn bessel_j0_value(x: f32) -> f32 {
    if abs(x) >= 4.0 {
        return bessel_j0_far(abs(x));
    }
    let u = 0.125 * x * x - 1.0;
    let high = 0.0183525432 + u * (-0.00157894738 + u * (9.25334653e-5 - u * 3.91829008e-6));
    return -0.196548096 + u * (-0.565959974 + u * (0.479528114 + u * (-0.131032066 + u * high)));
}

fn bessel_j1_far(x: f32) -> f32 {
    let w = 4.0 / x;
    let v = w * w;
    let p = 1.0 + v * (0.00732396288 + v * (-0.000559749897 + v * (0.000146317904 + v * (-5.12128107e-5 + v * 1.0969729e-5))));
    let q = 0.374999988 + v * (-0.00640764084 + v * (0.0010695322 + v * (-0.000404846289 + v * (0.000168209262 - v * 3.88734674e-5))));
    let c = cosine(x);
    let s = sine(x);
    return 0.564189584 / sqrt(x) * (p * (s - c) + 0.25 * w * q * (s + c));
}

// All finite x.
fn bessel_j1_value(x: f32) -> f32 {
    if abs(x) >= 4.0 {
        let size = bessel_j1_far(abs(x));
        return select(size, -size, x < 0.0);
    }
    let u = 0.125 * x * x - 1.0;
    let high = 0.0019736811 + u * (-0.000138863179 + u * 6.85916448e-6);
    return x * (0.141489993 + u * (-0.239764069 + u * (0.0982740504 + u * (-0.0183524803 + u * high))));
}
