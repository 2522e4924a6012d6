//! How the direction of a matrix is made orthogonal, by Newton–Schulz steps; `muon.rs` has their source.

use crate::autograd::Var;
use crate::ops;
use crate::program::constants::Values;
use crate::program::expr::{max, sqrt};

/// Coefficients of a Newton–Schulz step: steepest at 0 such that singular values end between 0.7 and 1.2 (Jordan et al. 2024).
const STEP: [f64; 3] = [3.4445, -4.7750, 2.0315];

/// The nearest orthogonal matrix to a direction [rows, columns], approximately, times its scale. Products are taken on the shorter side.
pub(super) fn orthogonal(direction: &Var, constants: &Values) -> Var {
    let (rows, columns) = (direction.shape().sizes()[0], direction.shape().sizes()[1]);
    let (is_tall, least) = (rows > columns, constants.get("newton_schulz_epsilon"));
    let squares = ops::sum(&ops::mul(direction, direction), 0..2);
    let mut x = ops::fused(&[direction, &squares], |v| v[0] / max(sqrt(v[1]), least));
    let steps = constants.get("newton_schulz_steps") as usize;
    for step in 1..=steps {
        let gram = ops::product(&x, &x, is_tall, !is_tall);
        let square = ops::matmul(&gram, &gram);
        let polynomial = ops::fused(&[&gram, &square], |v| STEP[1] * v[0] + STEP[2] * v[1]);
        let product = if is_tall { ops::matmul(&x, &polynomial) } else { ops::matmul(&polynomial, &x) };
        let scale = if step == steps { scale(rows, columns, constants) } else { 1.0 };
        x = ops::fused(&[&x, &product], |v| scale * (STEP[0] * v[0] + v[1]));
    }
    x
}

/// The factor of an orthogonal direction of this many rows and columns.
fn scale(rows: usize, columns: usize, constants: &Values) -> f64 {
    let [rows, columns] = [rows, columns].map(|size| size as f64);
    if constants.get("match_rms") == 1.0 { 0.2 * rows.max(columns).sqrt() } else { (rows / columns).max(1.0).sqrt() }
}
