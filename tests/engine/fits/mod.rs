//! Curve fits: properties of the solution that need no reference. NIST's and SciPy's answers are in `tests/nist.py` and `tests/curve_fit.py`;
//! `mero fit` as a process is in `crates/mero/tests/command/fits.rs`.

mod bounds;
mod integrals;
mod intervals;
mod journals;
mod levels;
mod refused;
mod robust;
mod saved;
mod search;
mod starts;

use meromorph::Result;
use meromorph::fit::{Fit, Formula, Problem, SolveOptions, solve};

/// Numbers between -1 and 1 from a linear congruential generator.
fn noise(count: usize) -> Vec<f64> {
    let mut state = 12_345_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// x from 0 to 5 and a noisy decay over it.
fn decay(rows: usize) -> [Vec<f64>; 2] {
    let x: Vec<f64> = (0..rows).map(|row| 5.0 * row as f64 / rows as f64).collect();
    let y = x.iter().zip(noise(rows)).map(|(x, noise)| 3.0 * (-1.2 * x).exp() + 0.5 + 0.05 * noise).collect();
    [x, y]
}

fn problem<'a>(text: &str, [x, y]: &'a [Vec<f64>; 2]) -> Result<Problem<'a>> {
    Problem::new(Formula::parse(text, &["x"])?, &[("x", x)], y)
}

fn fitted(problem: &Problem<'_>) -> Fit {
    solve(problem, &SolveOptions::default()).expect("the fit has an answer")
}

const DECAY: &str = "a * exp(-b * x) + c";

/// A formula and the true values at x.
type Truth = (&'static str, fn(f64) -> f64);
