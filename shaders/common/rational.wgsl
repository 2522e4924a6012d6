// Polynomials of rational functions: Horner's rule, or Clenshaw's for Chebyshev polynomials, and the recurrences of the bases.

struct Params {
    count: u32,
    channels: u32,
    columns: u32,
    rows_per_part: u32,
    epsilon: f32,
}

// Coefficients of P come before those of Q.
const Q_START: u32 = NUMERATOR + 1u;

// φ_k, its derivative, and those of k - 1.
struct Term { now: f32, slope: f32, before: f32, before_slope: f32, }

fn advance(t: Term, x: f32, k: u32) -> Term {
    if !IS_CHEBYSHEV || k == 0u {
        return Term(t.now * x, t.slope * x + t.now, t.now, t.slope);
    }
    return Term(2.0 * x * t.now - t.before, 2.0 * (t.now + x * t.slope) - t.before_slope, t.now, t.slope);
}
