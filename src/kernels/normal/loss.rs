//! Robust losses for the kernel, as programs of z = (r / s)² with three results: ρ(z), ρ'(z) and ρ'(z) + 2 z ρ''(z), the factor of JᵀJ before its
//! limit. The last is written without the difference, which would lose digits in f32, and none of them divides infinities where z overflows ρ'.

use crate::program::expr::{atan, le, log1p, max, min, sqrt, square};
use crate::program::{Expr, Program};

/// ρ(z) = 2 (√(1 + z) - 1).
pub fn soft_l1() -> Program {
    program(|z| {
        let root = sqrt(1.0 + z);
        let slope = 1.0 / root;
        // 2 (√(1 + z) - 1), which keeps its digits at small z.
        vec![2.0 * (z / (1.0 + root)), slope, slope * slope * slope]
    })
}

/// ρ(z) = z up to 1, then 2 √z - 1.
pub fn huber() -> Program {
    program(|z| {
        let root = sqrt(max(z, 1.0));
        vec![min(z, 1.0) + 2.0 * (root - 1.0), 1.0 / root, le(z, 1.0)]
    })
}

/// ρ(z) = ln(1 + z).
pub fn cauchy() -> Program {
    program(|z| {
        let slope = 1.0 / (1.0 + z);
        vec![log1p(z), slope, slope * (2.0 * slope - 1.0)]
    })
}

/// ρ(z) = arctan z.
pub fn arctan() -> Program {
    program(|z| {
        let slope = 1.0 / (1.0 + square(z));
        vec![atan(z), slope, slope * (4.0 * slope - 3.0)]
    })
}

fn program(results: impl FnOnce(Expr) -> Vec<Expr>) -> Program {
    Program::with_results(1, |z| results(z[0]))
}
