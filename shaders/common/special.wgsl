// Special functions of one f32; src/program/special has the f64 versions. Each function states its domain; outside it the value is unspecified,
// but NaN propagates. Uses sine, cosine, log1p and precise_log of scalar.wgsl. Polynomials without a source are minimax fits made with mpmath.

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

fn erf_near(x: f32) -> f32 {
    let s = x * x;
    return x * (1.12837917 + s * (-0.376126188 + s * (0.112833766 + s * (-0.0268346247 + s * (0.00511434567 - s * 0.000674951343)))));
}

// e^(-x²) P(u) / (x + 2) for x >= 3/4, with u = (x - 2) / (x + 2).
fn erfc_far(x: f32) -> f32 {
    if x > 12.0 {
        return 0.0;
    }
    let u = (x - 2.0) / (x + 2.0);
    let high = -0.0214995836 + u * (0.00649953171 + u * (0.00300126793 + u * (-0.000881848998 - u * 0.000407728432)));
    let p = 1.02158271 + u * (-0.687160626 + u * (0.279471628 + u * (-0.0364444787 + u * high)));
    return exp_square_difference(0.0, x) * p / (x + 2.0);
}

// All x.
fn erf_value(x: f32) -> f32 {
    if abs(x) < 0.75 {
        return erf_near(x);
    }
    let value = 1.0 - erfc_far(abs(x));
    return select(value, -value, x < 0.0);
}

// All x; 0 where the value is below the least float.
fn erfc_value(x: f32) -> f32 {
    if abs(x) < 0.75 {
        return 1.0 - erf_near(x);
    }
    let value = erfc_far(abs(x));
    return select(value, 2.0 - value, x < 0.0);
}

// 1 / Γ(1 + t), |t| <= 1/2.
fn inverse_gamma_near(t: f32) -> f32 {
    let high = -0.04217398 + t * (-0.00965357466 + t * (0.00709363727 - t * 0.00105722811));
    return 1.0 + t * (0.577215696 + t * (-0.655878233 + t * (-0.0420042935 + t * (0.166542398 + t * high))));
}

// Γ(x) for x <= 35.04 but 0, -1, …, by the recurrence from x to within 1/2 of 1: at most 43 steps. 0 below -43.
fn gamma_value(x: f32) -> f32 {
    if x < -43.0 {
        return 0.0;
    }
    let whole = round(select(x, 40.0, x > 40.0));
    let t = select(x, 40.0, x > 40.0) - whole;
    var value = 1.0 / inverse_gamma_near(t);
    var k = 1.0;
    while k < whole {
        value *= t + k;
        k += 1.0;
    }
    k = 0.0;
    while k >= whole {
        value /= t + k;
        k -= 1.0;
    }
    return value;
}

// ln Γ(2 + t), -1/2 <= t <= 1.
fn lgamma_near(t: f32) -> f32 {
    let high = -0.00738275738 + t * (0.00288425082 + t * (-0.00120451875 + t * (0.000541316145 + t * (-0.000220893003 + t * 4.95967733e-5))));
    return t * (0.422784337 + t * (0.322467019 + t * (-0.0673524861 + t * (0.0205813199 + t * high))));
}

// Stirling's series.
fn lgamma_far(x: f32) -> f32 {
    let r = 1.0 / x;
    let s = r * r;
    return (x - 0.5) * (log(x) - 1.0) + (0.418938533 + r * (0.0833333333 + s * (-0.00277777778 + s * 0.000793650794)));
}

// ln |Γ(x)| for x >= -1/2.
fn lgamma_above(x: f32) -> f32 {
    if x < 0.5 {
        return lgamma_near(x) - precise_log(abs(x * (1.0 + x)));
    }
    if x < 1.5 {
        return lgamma_near(x - 1.0) - log1p(x - 1.0);
    }
    if x > 8.0 {
        return lgamma_far(x);
    }
    var t = x - 2.0;
    var product = 1.0;
    while t > 1.0 {
        product *= t + 1.0;
        t -= 1.0;
    }
    return lgamma_near(t) + precise_log(product);
}

// ln |Γ(x)| for all x <= 4e36 but 0, -1, …; near its zeros below -2 the error is absolute, not relative.
fn lgamma_value(x: f32) -> f32 {
    if x < -0.5 {
        let turn = sine(3.14159265 * (x - round(x)));
        return precise_log(3.14159265 / abs(x * turn)) - lgamma_above(-x);
    }
    return lgamma_above(x);
}

// n! / x^(n + 1).
fn polygamma_pole(n: f32, x: f32) -> f32 {
    let r = 1.0 / x;
    var value = r;
    var k = 1.0;
    while k <= n {
        value *= k * r;
        k += 1.0;
    }
    return value;
}

// Σ n! / (x + k)^(n + 1) over k >= 0 for x > 0, less its infinity for n = 0: the first terms, then Euler and Maclaurin's series.
fn polygamma_sum(n: f32, x: f32) -> f32 {
    let steps = select(0.0, n + 5.0 - floor(x), x < n + 5.0);
    let far = x + steps;
    let r = 1.0 / far;
    let s = r * r;
    let third = 3.30687831e-5 - (n + 6.0) * (n + 7.0) * s * 8.26719577e-7;
    let second = -0.00138888889 + (n + 4.0) * (n + 5.0) * s * third;
    let rest = polygamma_pole(n, far) * (0.5 + (n + 1.0) * r * (0.0833333333 + (n + 2.0) * (n + 3.0) * s * second));
    var sum = rest - log(far);
    if n > 0.0 {
        sum = rest + polygamma_pole(n - 1.0, far);
    }
    var k = steps - 1.0;
    while k >= 0.0 {
        sum += polygamma_pole(n, x + k);
        k -= 1.0;
    }
    return sum;
}

// Digamma at 1.46163213 + d, |d| <= 1/2; its zero is at d = 1.24381499e-8. One sum, not two, because compilers would fold the constants.
fn digamma_near_zero(d: f32) -> f32 {
    let high = -0.0723868965 + d * (0.0489731493 + d * (-0.031505352 + d * (0.0212789616 + d * (-0.0216056465 + d * 0.0150639683))));
    return -1.20360525e-8 + d * (0.967672245 + d * (-0.442763277 + d * (0.258499948 + d * (-0.163934177 + d * (0.107814582 + d * high)))));
}

// The derivative of order 0, 1, … 30 of digamma (order 0), for all x but 0, -1, … For x < 0 the recurrence is summed in closed form; near
// the zeros there the error is absolute.
fn polygamma_value(order: f32, x: f32) -> f32 {
    let n = select(order, 30.0, order > 30.0);
    let d = x - 1.46163213;
    if n == 0.0 && abs(d) <= 0.5 {
        return digamma_near_zero(d);
    }
    let is_odd = fract(0.5 * n) != 0.0;
    if x < 0.0 {
        let mirrored = polygamma_sum(n, -floor(-x) - x) - polygamma_sum(n, 1.0 - x);
        let sum = polygamma_sum(n, x - floor(x));
        return mirrored + select(-sum, sum, is_odd);
    }
    let sum = polygamma_sum(n, x);
    return select(-sum, sum, is_odd);
}

// The terms of ±t in the sum of faddeeva_above, less the factors y and x.
fn faddeeva_node(x: f32, y: f32, t: f32, weight: f32) -> vec2<f32> {
    let below = x - t;
    let above = x + t;
    let scale = weight / ((below * below + y * y) * (above * above + y * y));
    return vec2<f32>(scale * (x * x + y * y + t * t), scale * (below * above + y * y));
}

// 2 e^(-z²) / (1 + e^(2πy / h - i angle)) for the step h = 11/16.
fn faddeeva_pole(x: f32, y: f32, angle: f32) -> vec2<f32> {
    let q = precise_exp(-9.13917863 * y, 0.0);
    let size = 2.0 * exp_square_difference(y, x) * q / (1.0 + q * (2.0 * cosine(angle) + q));
    let phase = 2.0 * x * y;
    return vec2<f32>(size * (cosine(angle - phase) + q * cosine(phase)), size * (sine(angle - phase) - q * sine(phase)));
}

// Laplace's continued fraction to its first term, i / (√π z).
fn faddeeva_far(x: f32, y: f32) -> vec2<f32> {
    let size = select(y, abs(x), abs(x) > y);
    let a = x / size;
    let b = y / size;
    let scale = 0.564189584 / (a * a + b * b);
    return vec2<f32>(scale * b / size, scale * a / size);
}

// c + u v.
fn complex_step(c: f32, u: vec2<f32>, v: vec2<f32>) -> vec2<f32> {
    return vec2<f32>(c + u.x * v.x - u.y * v.y, u.x * v.y + u.y * v.x);
}

// The Maclaurin series, even terms and odd, for |z| < 0.3: there the parts of the trapezoidal rule cancel.
fn faddeeva_near(x: f32, y: f32) -> vec2<f32> {
    let u = vec2<f32>(x * x - y * y, 2.0 * x * y);
    let second = complex_step(-0.166666667, u, complex_step(0.0416666667, u, vec2<f32>(-0.00833333333, 0.0)));
    let even = complex_step(1.0, u, complex_step(-1.0, u, complex_step(0.5, u, second)));
    let third = complex_step(-0.0859717461, u, complex_step(0.0191048325, u, vec2<f32>(-0.00347360591, 0.0)));
    let odd = complex_step(1.12837917, u, complex_step(-0.752252778, u, complex_step(0.300901111, u, third)));
    return vec2<f32>(even.x - x * odd.y - y * odd.x, even.y + x * odd.x - y * odd.y);
}

// w(z) = e^(-z²) erfc(-iz) for y >= 0 by the trapezoidal rule of Al Azah and Chandler-Wilde, as in faddeeva.rs but with step 11/16.
fn faddeeva_above(x: f32, y: f32) -> vec2<f32> {
    if abs(x) > 4096.0 || y > 4096.0 {
        return faddeeva_far(x, y);
    }
    if x * x + y * y < 0.09 {
        return faddeeva_near(x, y);
    }
    let offset = x - 0.6875 * round(x * 1.45454545);
    let is_between = abs(offset) <= 0.171875;
    let t = select(0.0, 0.34375, is_between);
    var sum = faddeeva_node(x, y, t + 4.125, select(4.07575393e-8, 2.12450594e-9, is_between));
    sum += faddeeva_node(x, y, t + 3.4375, select(7.38244074e-6, 6.17336511e-7, is_between));
    sum += faddeeva_node(x, y, t + 2.75, select(0.000519574682, 6.97014761e-5, is_between));
    sum += faddeeva_node(x, y, t + 2.0625, select(0.0142086229, 0.00305786273, is_between));
    sum += faddeeva_node(x, y, t + 1.375, select(0.150977418, 0.052125471, is_between));
    sum += faddeeva_node(x, y, t + 0.6875, select(0.623344309, 0.345253426, is_between));
    sum += faddeeva_node(x, y, t, select(0.5, 0.888550263, is_between));
    sum = 0.437676094 * vec2<f32>(y * sum.x, x * sum.y);
    if abs(x) > 12.0 || y > 4.56958931 {
        return sum;
    }
    let centre = select(select(offset + 0.34375, offset - 0.34375, offset > 0.0), offset, is_between);
    return sum + faddeeva_pole(x, y, 9.13917863 * centre);
}

// w(x + iy), real and imaginary part, for all finite x and y with y² - x² <= 88 where y < 0; there it is 2 e^(-z²) - w(-z), with an error
// relative to the larger of the two.
fn faddeeva_value(x: f32, y: f32) -> vec2<f32> {
    if y < 0.0 {
        let size = 2.0 * exp_square_difference(y, x);
        let angle = 2.0 * x * y;
        return vec2<f32>(size * cosine(angle), -size * sine(angle)) - faddeeva_above(-x, -y);
    }
    return faddeeva_above(x, y);
}

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
