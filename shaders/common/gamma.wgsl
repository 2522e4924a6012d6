// The gamma function, its logarithm and derivatives; domains and polynomials are stated as in special.wgsl.

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
    // Loops count in integers within bounds, so that they end for NaN on every compiler.
    let end = clamp(i32(whole), -44, 40);
    for (var k = 1; k < end; k++) {
        value *= t + f32(k);
    }
    for (var k = 0; k >= end; k--) {
        value /= t + f32(k);
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
    for (var k = 0; k < 6 && t > 1.0; k++) {
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
    for (var k = 1; k <= min(i32(n), 30); k++) {
        value *= f32(k) * r;
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
    for (var k = min(i32(steps), 35) - 1; k >= 0; k--) {
        sum += polygamma_pole(n, x + f32(k));
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
