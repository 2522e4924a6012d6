//! Energies of a window, for reports. With means over the rows of the velocity v_t and of its length |v|_t before step t, and with R_t:
//! E_geo is the mean of |v_t - v_(t-1)|; E_var the mean over 8 Gaussian perturbations dv of deviation 0.1 of max(0, R |v|² - R |v + dv|²), at the means of R
//! and v; E_struct = |corr_t(R, |v|) + 1|, with 1e-8 added to both variances, so that it is 1 if one of them does not change.

use crate::autograd::Var;
use crate::model::Initial;
use crate::ops;
use crate::program::expr::{abs, max, sqrt};
use crate::tensor::Tensor;

/// Names of the energies.
pub(super) const ENERGIES: [&str; 3] = ["energy_geo", "energy_var", "energy_struct"];

/// Perturbations, and their deviation.
const PERTURBATIONS: usize = 8;
const DEVIATION: f64 = 0.1;
/// Added to variances.
const FLOOR: f32 = 1e-8;

/// What a window was before each step; a list of one does not change.
#[derive(Default)]
pub(super) struct Trace {
    /// v [1, n].
    pub velocity: Vec<Var>,
    /// |v| [1, 1].
    pub length: Vec<Var>,
}

impl Trace {
    /// The energies, [1, 1] each, for R [1, 1] before each step.
    pub(super) fn energies(&self, curvature: &[Var]) -> [Var; 3] {
        let zero = || ops::constant(&curvature[0], 0.0);
        let geo = if self.velocity.len() == 1 { zero() } else { self.geo() };
        let is_still = self.length.len() == 1 || curvature.len() == 1;
        let structure = if is_still { ops::constant(&curvature[0], 1.0) } else { self.structure(curvature) };
        [geo, self.variation(curvature), structure]
    }

    fn geo(&self) -> Var {
        let steps = stacked(&self.velocity);
        let count = self.velocity.len();
        let (before, after) = (ops::slice(&steps, 0, 0..count - 1), ops::slice(&steps, 0, 1..count));
        let squares = ops::sum(&ops::fused(&[&after, &before], |v| (v[0] - v[1]) * (v[0] - v[1])), 1..2);
        ops::mean(&ops::fused(&[&squares], |v| sqrt(v[0])), 0..1)
    }

    fn variation(&self, curvature: &[Var]) -> Var {
        let (r, v) = (mean(curvature), mean(&self.velocity));
        let n = v.shape().sizes()[1];
        let mut moves = vec![0.0; PERTURBATIONS * n];
        Initial::normal([PERTURBATIONS, n], DEVIATION).fill(&mut moves, 0, 0);
        let moves = Var::constant(Tensor::constant(v.value().device(), [PERTURBATIONS, n], &moves));
        let gains = ops::sum(&ops::fused(&[&v, &moves], |v| v[0] * v[0] - (v[0] + v[1]) * (v[0] + v[1])), 1..2);
        ops::mean(&ops::fused(&[&gains, &r], |v| max(0.0, v[1] * v[0])), 0..1)
    }

    fn structure(&self, curvature: &[Var]) -> Var {
        let [r, v] = [curvature, &self.length].map(stacked);
        let [r, v] = [&r, &v].map(|x| ops::sub(x, &ops::mean(x, 0..1)));
        let mean = |a: &Var, b: &Var| ops::mean(&ops::mul(a, b), 0..1);
        ops::fused(&[&mean(&r, &v), &mean(&r, &r), &mean(&v, &v)], |v| {
            abs(v[0] / sqrt((v[1] + FLOOR) * (v[2] + FLOOR)) + 1.0)
        })
    }
}

/// The mean of values of one shape.
pub(super) fn mean(values: &[Var]) -> Var {
    let share = 1.0 / values.len() as f32;
    let sum = values.iter().cloned().reduce(|a, b| ops::add(&a, &b)).expect("at least one");
    if values.len() == 1 { sum } else { ops::fused(&[&sum], |v| share * v[0]) }
}

/// Rows [1, columns] one below the other.
fn stacked(rows: &[Var]) -> Var {
    ops::concat(&rows.iter().collect::<Vec<_>>(), 0)
}
