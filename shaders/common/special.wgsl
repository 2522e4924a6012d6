// Special functions of f32; src/program/special has the f64 versions. Each function states its domain; outside it the value is unspecified,
// but NaN propagates. Uses functions of scalar.wgsl and sine.wgsl. Polynomials without a source are minimax fits made with mpmath.
// This file: the exponential without loss, inverse trigonometric functions and sinc.

// e^(high + low) for sums up to 88, 0 below -104; low is the rounding error of high. WGSL's own exp may err by 3 + 2|x| ulp.
fn precise_exp(high: f32, low: f32) -> f32 {
    if high < -104.0 {
        return 0.0;
    }
    let k = round((high + low) * 1.44269504);
    let r = ((high - k * 0.693359375) + k * 0.000212194440) + low;
    let p = 0.50000001 + r * (0.16666513 + r * (0.0416661874 + r * (0.00836958967 + r * 0.00139517121)));
    // 2^k as two factors, because the exponent of the smaller subnormals does not fit into one.
    let half = floor(0.5 * k);
    return (1.0 + (r + r * r * p)) * two_to_the(half) * two_to_the(k - half);
}

fn two_to_the(k: f32) -> f32 {
    return bitcast<f32>(u32(i32(k) + 127) << 23u);
}

// e^(y² - x²) for y² - x² <= 88: of each square the leading part is exact up to 256.
fn exp_square_difference(y: f32, x: f32) -> f32 {
    if abs(x) > 2048.0 {
        return 0.0;
    }
    let a = round(16.0 * y) * 0.0625;
    let b = round(16.0 * x) * 0.0625;
    return precise_exp(a * a - b * b, (y - a) * (y + a) - (x - b) * (x + b));
}

// |x| <= 1/2.
fn arc_sine_near(x: f32) -> f32 {
    let s = x * x;
    return x + x * s * (0.166666731 + s * (0.0749876161 + s * (0.0450202175 + s * (0.0264333491 + s * 0.0383283307))));
}

// -1 <= x <= 1. π/2 is 1.57079637 - 4.37113883e-8.
fn arc_sine(x: f32) -> f32 {
    let size = abs(x);
    if size <= 0.5 {
        return arc_sine_near(x);
    }
    let value = 1.57079637 - (2.0 * arc_sine_near(sqrt(0.5 - 0.5 * size)) + 4.37113883e-8);
    return select(value, -value, x < 0.0);
}

// -1 <= x <= 1.
fn arc_cosine(x: f32) -> f32 {
    if abs(x) <= 0.5 {
        return 1.57079637 - (arc_sine_near(x) + 4.37113883e-8);
    }
    let value = 2.0 * arc_sine_near(sqrt(0.5 - 0.5 * abs(x)));
    return select(value, 3.14159274 - (value + 8.74227766e-8), x < 0.0);
}

// |x| <= tan(π/8).
fn arc_tangent_near(x: f32) -> f32 {
    let s = x * x;
    return x + x * s * (-0.333333319 + s * (0.199995579 + s * (-0.142644506 + s * (0.107482395 - s * 0.0646476449))));
}

// All x.
fn arc_tangent(x: f32) -> f32 {
    let size = abs(x);
    // So that -0 keeps its sign.
    if size < 0.0001 {
        return x;
    }
    if size <= 0.414213562 {
        return arc_tangent_near(x);
    }
    var value = 0.785398185 + arc_tangent_near((size - 1.0) / (size + 1.0));
    if size > 2.41421356 {
        value = 1.57079637 - (arc_tangent_near(1.0 / size) + 4.37113883e-8);
    }
    return select(value, -value, x < 0.0);
}

// sin(x) / x for finite x.
fn sinc_value(x: f32) -> f32 {
    if abs(x) < 0.0001 {
        return 1.0;
    }
    return sine(x) / x;
}

// (cos x - sinc x) / x for finite x; below 1.25, where they cancel, the Taylor series.
fn sinc_slope_value(x: f32) -> f32 {
    if abs(x) > 1.25 {
        return (cosine(x) - sine(x) / x) / x;
    }
    let s = x * x;
    return x * (-0.333333333 + s * (0.0333333333 + s * (-0.00119047619 + s * (2.20458554e-5 - s * 2.50521084e-7))));
}
