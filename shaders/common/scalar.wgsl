// Scalar functions that WGSL lacks or leaves inaccurate. src/kernels/prelude.rs is the other half: same names, same meaning.

// tanh overflows on some drivers; beyond 10 it is 1 to the last bit. Near 0 the odd series keeps relative accuracy.
fn safe_tanh(x: f32) -> f32 {
    let s = x * x;
    let near = x * (1.0 + s * (-0.33333333 + s * (0.13333333 + s * (-0.053968254 + s * 0.021869488))));
    let e = exp(2.0 * clamp(x, -10.0, 10.0));
    return select(1.0 - 2.0 / (e + 1.0), near, abs(x) < 0.25);
}

fn expm1(x: f32) -> f32 {
    let near = x * (1.0 + x * (0.5 + x * (0.16666667 + x * (0.041666667 + x * (0.0083333333 + x * 0.0013888889)))));
    return select(exp(x) - 1.0, near, abs(x) < 0.35);
}

// 2 atanh(x / (2 + x)) as a series near 0.
fn log1p(x: f32) -> f32 {
    let s = x / (2.0 + x);
    let q = s * s;
    let near = 2.0 * s * (1.0 + q * (0.33333333 + q * (0.2 + q * (0.14285714 + q * (0.11111111 + q * (0.090909091 + q * 0.076923077))))));
    return select(log(1.0 + x), near, abs(x) < 0.5);
}

// a^b for a > 0, and for any a where b is an integer.
fn power(a: f32, b: f32) -> f32 {
    let size = select(pow(abs(a), b), 0.0, a == 0.0 && b > 0.0);
    let is_odd = fract(0.5 * abs(b)) != 0.0;
    return select(select(size, 1.0, b == 0.0), -size, a < 0.0 && is_odd);
}

fn erf(x: f32) -> f32 {
    let s = x * x;
    let near = x * 1.1283791671 * (1.0 + s * (-0.33333333 + s * (0.1 + s * (-0.023809524 + s * 0.0046296296))));
    let a = min(abs(x), 6.0);
    let t = 1.0 / (1.0 + 0.3275911 * a);
    let tail = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
    let far = sign(x) * (1.0 - tail * exp(-a * a));
    return select(far, near, abs(x) < 0.5);
}

// WGSL promises sin and cos only to 2^-11: reduce by quarter turns (Cody and Waite) and use the Taylor polynomials.
fn quarter_turns(x: f32) -> f32 {
    return round(x * 0.63661977);
}

fn reduced(x: f32, k: f32) -> f32 {
    return ((x - k * 1.5703125) - k * 4.8375129e-4) - k * 7.5497901e-8;
}

fn sine_polynomial(r: f32) -> f32 {
    let s = r * r;
    return r + r * s * (-0.16666667 + s * (0.0083333333 + s * (-1.9841270e-4 + s * 2.7557319e-6)));
}

fn cosine_polynomial(r: f32) -> f32 {
    let s = r * r;
    return 1.0 + s * (-0.5 + s * (0.041666667 + s * (-0.0013888889 + s * (2.4801587e-5 - s * 2.7557319e-7))));
}

fn quadrant(r: f32, q: i32) -> f32 {
    let value = select(sine_polynomial(r), cosine_polynomial(r), (q & 1) == 1);
    return select(value, -value, (q & 2) == 2);
}

fn sine(x: f32) -> f32 {
    let k = quarter_turns(x);
    return quadrant(reduced(x, k), i32(k));
}

fn cosine(x: f32) -> f32 {
    let k = quarter_turns(x);
    return quadrant(reduced(x, k), i32(k) + 1);
}
