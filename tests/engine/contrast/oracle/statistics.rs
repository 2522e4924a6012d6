//! The derivatives of the free energy F at given weights, pair by pair. With kap_j = w_j R / spd_j, u_j = Q(c_j - q) and p_j = g * u_j:
//! metric sum_j kap_j u_ji^2 / 2; angle of plane (a, b) sum_j kap_j (p_b u_a - p_a u_b), with u and p as they are after that plane;
//! query -sum_j kap_j Q' p_j; key kap_j Q' p_j; tau = 1 / beta: sum_j w_j ln w_j; R: sum_j w_j spd_j.

use super::retrieval::speed;
use super::rotor::turn;
use super::{Batch, Energy, Geometry, Relaxed};

/// Means over the rows of a batch, except for `queries`: those are each row's own, B times their part in a mean.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Statistics {
    /// [n]
    pub(crate) metric: Vec<f64>,
    /// [P]; 0 in slots that are not live.
    pub(crate) angles: Vec<f64>,
    /// [B, n]
    pub(crate) queries: Vec<f64>,
    /// [C, n]
    pub(crate) keys: Vec<f64>,
    /// [C, d]: w_j dC/dy, the explicit derivative of C with respect to a state.
    pub(crate) values: Vec<f64>,
    /// The derivative with respect to tau = 1 / beta.
    pub(crate) sharpness: f64,
    /// The derivative with respect to R.
    pub(crate) r: f64,
}

impl Statistics {
    pub(crate) fn of(energy: &Energy, geometry: &Geometry, batch: &Batch, at: &[Relaxed]) -> Self {
        let (n, d) = (energy.retrieval.n, energy.retrieval.d);
        let mut sums = Self::zeros(energy, batch);
        for (row, relaxed) in at.iter().enumerate() {
            let query = &batch.queries[row * n..(row + 1) * n];
            let slope = energy.error.slope(&relaxed.y, &batch.targets[row * d..(row + 1) * d]);
            for (j, &weight) in relaxed.weights.iter().enumerate() {
                sums.add_pair(energy, geometry, (row, query), (j, weight));
                for (value, slope) in sums.values[j * d..(j + 1) * d].iter_mut().zip(&slope) {
                    *value += weight * slope;
                }
            }
        }
        sums.divide_by_rows(at.len() as f64);
        sums
    }

    fn zeros(energy: &Energy, batch: &Batch) -> Self {
        let retrieval = &energy.retrieval;
        Self {
            metric: vec![0.0; retrieval.n],
            angles: vec![0.0; retrieval.rotor.slots()],
            queries: vec![0.0; batch.queries.len()],
            keys: vec![0.0; retrieval.keys.len()],
            values: vec![0.0; retrieval.states.len()],
            sharpness: 0.0,
            r: 0.0,
        }
    }

    fn add_pair(
        &mut self,
        energy: &Energy,
        geometry: &Geometry,
        (row, query): (usize, &[f64]),
        (j, weight): (usize, f64),
    ) {
        let retrieval = &energy.retrieval;
        let (n, rotor) = (retrieval.n, &retrieval.rotor);
        let mut u = retrieval.offset(&geometry.theta, query, j);
        let mut p: Vec<f64> = geometry.metric.iter().zip(&u).map(|(g, u)| g * u).collect();
        let distance = speed(&geometry.metric, &u, retrieval.eps);
        let kap = weight * retrieval.r / distance;
        for (metric, u) in self.metric.iter_mut().zip(&u) {
            *metric += 0.5 * kap * u * u;
        }
        for (slot, (a, b)) in rotor.planes().into_iter().rev() {
            if slot < rotor.live {
                self.angles[slot] += kap * (p[b] * u[a] - p[a] * u[b]);
            }
            let back = -rotor.angle(&geometry.theta, slot);
            turn(&mut u, (a, b), back);
            turn(&mut p, (a, b), back);
        }
        for (i, p) in p.into_iter().enumerate() {
            self.keys[j * n + i] += kap * p;
            self.queries[row * n + i] -= kap * p;
        }
        // The limit of w ln w at 0 is 0.
        self.sharpness += if weight > 0.0 { weight * weight.ln() } else { 0.0 };
        self.r += weight * distance;
    }

    fn divide_by_rows(&mut self, rows: f64) {
        let means = [&mut self.metric, &mut self.angles, &mut self.keys, &mut self.values];
        means.into_iter().flatten().for_each(|value| *value /= rows);
        self.sharpness /= rows;
        self.r /= rows;
    }

    /// (self - other) / width, and 0 for a width of 0.
    pub(crate) fn difference(&self, other: &Self, width: f64) -> Self {
        let scale = if width == 0.0 { 0.0 } else { width.recip() };
        let of = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * scale).collect();
        Self {
            metric: of(&self.metric, &other.metric),
            angles: of(&self.angles, &other.angles),
            queries: of(&self.queries, &other.queries),
            keys: of(&self.keys, &other.keys),
            values: of(&self.values, &other.values),
            sharpness: (self.sharpness - other.sharpness) * scale,
            r: (self.r - other.r) * scale,
        }
    }

    pub(crate) fn is_finite(&self) -> bool {
        let parts = [&self.metric, &self.angles, &self.queries, &self.keys, &self.values];
        let mut numbers = parts.into_iter().flatten().chain([&self.sharpness, &self.r]);
        numbers.all(|number| number.is_finite())
    }
}
