//! The rule "lior_scalar", the source's: two windows of S steps, one with nudged queries, and one number from them, dL = L(nudged) - L(free).
//! With v the mean velocity of the free window and z_i = (Qv)_i^2 / (|Qv|^2 + 1e-8): g <- clamp(g + (eta / b) dL z), and for each plane
//! (a, b) theta <- wrap(theta - 0.01 (eta / b) dL atan2(v_b, v_a) hypot(v_a, v_b)). It is a reference for parity; it follows no gradient.

use super::contrastive::{clamp, wrap};
use super::{Geometry, Retrieval, Rotor, speed};

/// What a window calls the velocity of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Velocity {
    /// q, as the source does. The nudge cannot change it.
    Position,
    /// q + nudge
    NudgedPosition,
    /// sum_j w_j c_j - (q + nudge)
    Displacement,
}

/// Means over the steps of a window, except for `mix`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Window {
    pub(crate) lior: f64,
    pub(crate) r: f64,
    pub(crate) speed: f64,
    /// [B, n]
    pub(crate) velocity: Vec<f64>,
    /// y of the last step, [B, d]. No update reads it.
    pub(crate) mix: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ScalarRule {
    pub(crate) velocity: Velocity,
    /// eta / b
    pub(crate) rate: f64,
    pub(crate) nudge_scale: f64,
}

impl ScalarRule {
    /// Both windows and the update they lead to. `r` is R before each step; `targets` are coordinates [B, n].
    pub(crate) fn train(
        &self,
        retrieval: &Retrieval,
        geometry: &mut Geometry,
        queries: &[f64],
        targets: &[f64],
        r: &[f64],
    ) -> [Window; 2] {
        let nudge: Vec<f64> = targets.iter().zip(queries).map(|(target, q)| self.nudge_scale * (target - q)).collect();
        let free = self.window(retrieval, geometry, queries, &vec![0.0; queries.len()], r);
        let nudged = self.window(retrieval, geometry, queries, &nudge, r);
        self.update(&retrieval.rotor, geometry, &free, nudged.lior - free.lior);
        [free, nudged]
    }

    /// One phase of as many steps as `r` has numbers.
    pub(crate) fn window(
        &self,
        retrieval: &Retrieval,
        geometry: &Geometry,
        queries: &[f64],
        nudge: &[f64],
        r: &[f64],
    ) -> Window {
        let (n, steps) = (retrieval.n, r.len() as f64);
        let rows = queries.len() / n;
        let mut sums = Window { lior: 0.0, r: 0.0, speed: 0.0, velocity: vec![0.0; queries.len()], mix: Vec::new() };
        for &r in r {
            sums.r += r / steps;
            sums.mix.clear();
            for row in 0..rows {
                let at = row * n..(row + 1) * n;
                let (v, y) = self.row(retrieval, geometry, &queries[at.clone()], &nudge[at.clone()], r);
                let speed = speed(&geometry.metric, &retrieval.rotor.apply(&geometry.theta, &v), retrieval.eps);
                sums.lior += r * speed / (rows as f64 * steps);
                sums.speed += speed / (rows as f64 * steps);
                sums.velocity[at].iter_mut().zip(v).for_each(|(sum, v)| *sum += v / steps);
                sums.mix.extend(y);
            }
        }
        sums
    }

    /// The velocity and the mix of a row.
    fn row(
        &self,
        retrieval: &Retrieval,
        geometry: &Geometry,
        q: &[f64],
        nudge: &[f64],
        r: f64,
    ) -> (Vec<f64>, Vec<f64>) {
        let moved: Vec<f64> = q.iter().zip(nudge).map(|(q, nudge)| q + nudge).collect();
        let costs: Vec<f64> = retrieval.distances(geometry, &moved).iter().map(|distance| r * distance).collect();
        let weights = retrieval.weights(&costs);
        let y = retrieval.mix(&weights);
        let v = match self.velocity {
            Velocity::Position => q.to_vec(),
            Velocity::NudgedPosition => moved,
            Velocity::Displacement => {
                let mean = |i: usize| -> f64 { weights.iter().enumerate().map(|(j, w)| w * retrieval.key(j)[i]).sum() };
                (0..retrieval.n).map(|i| mean(i) - moved[i]).collect()
            }
        };
        (v, y)
    }

    /// One update, and whether it was made: a difference that is not finite leaves everything as it was.
    pub(crate) fn update(&self, rotor: &Rotor, geometry: &mut Geometry, free: &Window, difference: f64) -> bool {
        if !difference.is_finite() {
            return false;
        }
        let rows = (free.velocity.len() / rotor.n) as f64;
        let v: Vec<f64> =
            (0..rotor.n).map(|i| free.velocity.iter().skip(i).step_by(rotor.n).sum::<f64>() / rows).collect();
        let turned = rotor.apply(&geometry.theta, &v);
        let square: f64 = turned.iter().map(|v| v * v).sum();
        for (metric, v) in geometry.metric.iter_mut().zip(&turned) {
            *metric = clamp(*metric + self.rate * difference * v * v / (square + 1e-8));
        }
        for (slot, (a, b)) in rotor.planes().into_iter().take(rotor.live) {
            let length = v[a].hypot(v[b]);
            // Too short to have a direction.
            if length >= 1e-6 {
                let step = 0.01 * self.rate * difference * v[b].atan2(v[a]) * length;
                geometry.theta[slot] = wrap(geometry.theta[slot] - step);
            }
        }
        true
    }
}
