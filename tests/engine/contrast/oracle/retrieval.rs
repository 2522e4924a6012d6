//! Retrieval from labelled keys: u_j = Q(c_j - q), cost_j = R sqrt(sum_i g_i u_ji^2 + eps), w = softmax(-beta cost), y = sum_j w_j s_j.

use super::Rotor;

/// What is learned about distances: the diagonal metric g, [n], and the angles theta, [P].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Geometry {
    pub(crate) metric: Vec<f64>,
    pub(crate) theta: Vec<f64>,
}

impl Geometry {
    /// The metric is 1 and nothing is turned.
    pub(crate) fn identity(rotor: &Rotor) -> Self {
        Self { metric: vec![1.0; rotor.n], theta: vec![0.0; rotor.slots()] }
    }
}

/// The valid slots of a bank, and how they are compared with a query.
#[derive(Clone, Debug)]
pub(crate) struct Retrieval {
    pub(crate) n: usize,
    pub(crate) d: usize,
    pub(crate) beta: f64,
    pub(crate) r: f64,
    pub(crate) eps: f64,
    /// [C, n]
    pub(crate) keys: Vec<f64>,
    /// [C, d]
    pub(crate) states: Vec<f64>,
    pub(crate) rotor: Rotor,
}

impl Retrieval {
    pub(crate) fn candidates(&self) -> usize {
        self.keys.len() / self.n
    }

    pub(crate) fn key(&self, j: usize) -> &[f64] {
        &self.keys[j * self.n..(j + 1) * self.n]
    }

    /// u_j = Q(c_j - q).
    pub(crate) fn offset(&self, theta: &[f64], q: &[f64], j: usize) -> Vec<f64> {
        let difference: Vec<f64> = self.key(j).iter().zip(q).map(|(c, q)| c - q).collect();
        self.rotor.apply(theta, &difference)
    }

    /// cost_j / R for every candidate.
    pub(crate) fn distances(&self, geometry: &Geometry, q: &[f64]) -> Vec<f64> {
        let distance = |j| speed(&geometry.metric, &self.offset(&geometry.theta, q, j), self.eps);
        (0..self.candidates()).map(distance).collect()
    }

    pub(crate) fn costs(&self, geometry: &Geometry, q: &[f64]) -> Vec<f64> {
        self.distances(geometry, q).into_iter().map(|distance| self.r * distance).collect()
    }

    /// softmax(-beta cost).
    pub(crate) fn weights(&self, costs: &[f64]) -> Vec<f64> {
        let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
        let mut weights: Vec<f64> = costs.iter().map(|cost| (-self.beta * (cost - least)).exp()).collect();
        let sum: f64 = weights.iter().sum();
        for weight in &mut weights {
            *weight /= sum;
        }
        weights
    }

    /// y = sum_j w_j s_j.
    pub(crate) fn mix(&self, weights: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.d];
        for (weight, state) in weights.iter().zip(self.states.chunks_exact(self.d)) {
            for (y, state) in y.iter_mut().zip(state) {
                *y += weight * state;
            }
        }
        y
    }
}

/// sqrt(max(0, sum_i g_i v_i^2) + eps), the specification's spd.
pub(crate) fn speed(metric: &[f64], v: &[f64], eps: f64) -> f64 {
    let square: f64 = metric.iter().zip(v).map(|(g, v)| g * v * v).sum();
    (square.max(0.0) + eps).sqrt()
}
