//! Heads and losses of the projective methods, in ops. A prediction is a pair (P, Q) that represents P / Q, or ⊥ by Q = 0; losses on
//! pairs never divide by Q. These terms complement `loss::pairs`: masks that do not come from the target, and quotients.

use meromorph::autograd::Var;
use meromorph::ops;
use meromorph::program::{Expr, expr};
use meromorph::tensor::Tensor;

/// Added to norms and scales so that they stay above 0.
pub const GAMMA: f32 = 1e-9;

/// Values as a row [1, count] on the device of `like`.
pub fn row(like: &Var, values: &[f32]) -> Var {
    let tensor = Tensor::from_f32(like.value().device(), [1, values.len()], values);
    Var::constant(tensor.expect("a row of constants can be uploaded"))
}

/// Columns `first..first + count` of x [rows, columns].
pub fn columns(x: &Var, first: usize, count: usize) -> Var {
    let all = x.shape().sizes()[1];
    let mut chosen = vec![0.0; all * count];
    for column in 0..count {
        chosen[(first + column) * count + column] = 1.0;
    }
    let chosen = Tensor::from_f32(x.value().device(), [all, count], &chosen);
    ops::matmul(x, &Var::constant(chosen.expect("a choice of columns can be uploaded")))
}

/// Σ_k c_k z^k by Horner's rule, with z broadcast against coefficients [1, columns]; at most six.
pub fn polynomial(z: &Var, coefficients: &[Var]) -> Var {
    let inputs: Vec<&Var> = [z].into_iter().chain(coefficients).collect();
    ops::fused(&inputs, |v| {
        let (z, c) = (v[0], &v[1..]);
        c[..c.len() - 1].iter().rev().fold(c[c.len() - 1], |sum, &c| sum * z + c)
    })
}

/// Σ w x / Σ w over [rows, columns] with weights [rows, 1]: the mean over the rows of the batch, of shape [1].
pub fn mean(x: &Var, weight: &Var) -> Var {
    ratio(&ops::mul(x, weight), &ops::broadcast_to(weight, x.shape()))
}

/// Σ a / max(Σ b, 1), of shape [1]: a mean over the rows that b selects, 0 without any.
pub fn ratio(a: &Var, b: &Var) -> Var {
    let total = |x: &Var| ops::reshape(&ops::sum(x, 0..2), [1]);
    ops::fused(&[&total(a), &total(b)], |v| v[0] / expr::max(v[1], 1.0))
}

/// (P, Q) / (√(P² + Q²) + γ), the norm is a constant to gradients.
pub fn renormalise(p: &Var, q: &Var) -> [Var; 2] {
    let norm = |p: Expr, q: Expr| expr::sqrt(p * p + q * q) + GAMMA;
    let (fixed_p, fixed_q) = (p.detach(), q.detach());
    [p, q].map(|x| ops::fused(&[x, &fixed_p, &fixed_q], |v| v[0] / norm(v[1], v[2])))
}

/// (P, Q) / √(P² + Q² + γ): gradients are tangential to the circle.
pub fn on_circle(p: &Var, q: &Var) -> [Var; 2] {
    [p, q].map(|x| ops::fused(&[x, p, q], |v| v[0] / expr::sqrt(v[1] * v[1] + v[2] * v[2] + GAMMA)))
}

/// The mean of -ln((1 + cos 2α) / 2) = -ln cos² α for the angle α between unit pairs: (P, Q) and (-P, -Q) are equal; it
/// behaves as α² near 0 and is steepest where pairs are farthest apart, where a squared sine is flat. 5e-4 bounds the logarithm.
pub fn double_angle([p, q]: [&Var; 2], [yn, yd]: [&Var; 2], weight: &Var) -> Var {
    let each =
        ops::fused(&[p, q, yn, yd], |v| -expr::ln((expr::square(v[0] * v[2] + v[1] * v[3]) + 5e-4) * (1.0 / 1.0005)));
    mean(&each, weight)
}

/// The mean of mark · (1 - cosine between (P, Q) and (Y_n, Y_d)).
pub fn sign([p, q]: [&Var; 2], [yn, yd]: [&Var; 2], mark: &Var, weight: &Var) -> Var {
    let each = ops::fused(&[p, q, yn, yd, mark], |v| {
        let norm = |a: Expr, b: Expr| expr::sqrt(a * a + b * b + GAMMA);
        let cosine = (v[0] * v[2] + v[1] * v[3]) / (norm(v[0], v[1]) * norm(v[2], v[3]));
        v[4] * (1.0 - expr::clamp(cosine, -1.0, 1.0))
    });
    mean(&each, weight)
}

/// The mean of mark · relu(τ - |Q|)².
pub fn margin(q: &Var, tau: f32, mark: &Var, weight: &Var) -> Var {
    let each = ops::fused(&[q, mark], |v| v[1] * expr::square(expr::max(tau - expr::abs(v[0]), 0.0)));
    mean(&each, weight)
}

/// Squared difference, mean over rows and columns.
pub fn mse(z: &Var, y: &Var, weight: &Var) -> Var {
    mean(&ops::fused(&[z, y], |v| expr::square(v[0] - v[1])), weight)
}

/// P / (sgn(Q) · max(|Q|, floor)), with sgn(0) = 1.
pub fn decoded(p: &Var, q: &Var, floor: f32) -> Var {
    ops::fused(&[p, q], |v| {
        let sign = expr::select(expr::lt(v[1], 0.0), -1.0, 1.0);
        v[0] / (sign * expr::max(expr::abs(v[1]), floor))
    })
}

/// P / (Q + ε sgn(Q)), with sgn(0) = 1: division by something that is never 0.
pub fn guarded(p: &Var, q: &Var, epsilon: f32) -> Var {
    ops::fused(&[p, q], |v| v[0] / (v[1] + expr::select(expr::lt(v[1], 0.0), -epsilon, epsilon)))
}

/// |p - D y|² / (|p|² + |D y|²) by row, for a real numerator p, a complex denominator D and a complex target y, each part [rows, 1]:
/// the relative error without a division by D; it is equal for all multiples of (p, D).
pub fn relative(p: &Var, denominator: [&Var; 2], target: [&Var; 2]) -> Var {
    let ([c, d], [a, b]) = (denominator, target);
    ops::fused(&[p, c, d, a, b], |v| {
        let (real, imaginary) = (v[1] * v[3] - v[2] * v[4], v[1] * v[4] + v[2] * v[3]);
        let size = v[0] * v[0] + real * real + imaginary * imaginary;
        (expr::square(v[0] - real) + expr::square(imaginary)) / (size + 1e-30)
    })
}

/// The weighted sum of losses.
pub fn weighted(terms: &[(f32, &Var)]) -> Var {
    let scaled = |&(weight, term): &(f32, &Var)| ops::fused(&[term], |v| v[0] * weight);
    let (first, rest) = terms.split_first().expect("a loss has a term");
    rest.iter().fold(scaled(first), |sum, term| ops::add(&sum, &scaled(term)))
}
