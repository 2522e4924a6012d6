//! Plain f64 mathematics that several kernels' oracles share; never optimised.

/// The coordinates of a row-major space, in order.
pub fn indices(dims: [u32; 4]) -> impl Iterator<Item = [u32; 4]> {
    let [d0, d1, d2, d3] = dims;
    (0..d0).flat_map(move |a| (0..d1).flat_map(move |b| (0..d2).flat_map(move |c| (0..d3).map(move |d| [a, b, c, d]))))
}

/// The error function: its series, and for |x| > 3 the continued fraction of 1 - erf.
pub fn erf(x: f64) -> f64 {
    let a = x.abs();
    if a < 3.0 {
        let (mut term, mut sum) = (x, x);
        for n in 1..100 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        return sum * std::f64::consts::FRAC_2_SQRT_PI;
    }
    let fraction = (1..200).rev().fold(a, |below, k| a + 0.5 * f64::from(k) / below);
    x.signum() * (1.0 - (-a * a).exp() / (fraction * std::f64::consts::PI.sqrt()))
}

/// A buffer of floats as f64.
pub fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&x| f64::from(x)).collect()
}
