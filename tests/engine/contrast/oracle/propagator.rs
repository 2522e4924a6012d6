//! The dissipative form of the field, dT/dt = -i (1 - w) / 2m Lap(T) on a periodic grid, stepped so that the sum of |T|^2 is kept.
//!
//! Each wave on the grid turns by its own phase: the exact one, or the one of Cayley's form (Crank and Nicolson),
//! (1 + i dt a Lap / 2) T' = (1 - i dt a Lap / 2) T with a = (1 - w) / 2m. The source's step is forward Euler, which grows without bound.

use super::Field;
use std::f64::consts::{PI, TAU};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Phase {
    Exact,
    Cayley,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Dissipative {
    pub(crate) dt: f64,
    pub(crate) mass: f64,
    /// The weight w of memory, in [0, 1].
    pub(crate) memory: f64,
    /// The factors of the second derivatives along x and y: the diagonal of an inverse metric.
    pub(crate) factors: [f64; 2],
    pub(crate) phase: Phase,
}

/// w = clamp(alpha ln(1 + queued states) lambda, 0, 1).
pub(crate) fn memory_weight(alpha: f64, queued: usize, lambda: f64) -> f64 {
    (alpha * (1.0 + queued as f64).ln() * lambda).clamp(0.0, 1.0)
}

impl Dissipative {
    /// T'(x, y) = sum over sites of kernel(x - x', y - y') T(x', y').
    pub(crate) fn step(&self, field: &mut Field) {
        let [width, height] = field.grid;
        let kernel = self.kernel(field.grid);
        let before = field.clone();
        field.values.fill(0.0);
        for (to, from) in pairs(width * height) {
            let [x, y] = [0, 1].map(|axis| {
                let place = |site: usize| if axis == 0 { site / height } else { site % height };
                (place(to) + field.grid[axis] - place(from)) % field.grid[axis]
            });
            let [real, imaginary] = kernel[x * height + y];
            for at in (0..field.width()).step_by(2) {
                let (to, from) = (to * field.width() + at, from * field.width() + at);
                let [re, im] = [before.values[from], before.values[from + 1]];
                field.values[to] += real * re - imaginary * im;
                field.values[to + 1] += real * im + imaginary * re;
            }
        }
    }

    /// The step of a field that is 1 at the origin: the inverse Fourier transform of the phases.
    fn kernel(&self, [width, height]: [usize; 2]) -> Vec<[f64; 2]> {
        let mut kernel = vec![[0.0; 2]; width * height];
        for (site, wave) in pairs(width * height) {
            let [x, y, k, l] = [site / height, site % height, wave / height, wave % height].map(|value| value as f64);
            let turn = self.turn([k / width as f64, l / height as f64]);
            // The phase is even in k and l, so that the sines cancel.
            let share = (TAU * (k * x / width as f64 + l * y / height as f64)).cos() / (width * height) as f64;
            kernel[site][0] += share * turn.cos();
            kernel[site][1] += share * turn.sin();
        }
        kernel
    }

    /// The angle by which the wave with these numbers of periods per site turns in one step.
    fn turn(&self, frequencies: [f64; 2]) -> f64 {
        let eigenvalue = |axis: usize| self.factors[axis] * 4.0 * (PI * frequencies[axis]).sin().powi(2);
        let exact = self.dt * (1.0 - self.memory) / (2.0 * self.mass) * (eigenvalue(0) + eigenvalue(1));
        match self.phase {
            Phase::Exact => exact,
            Phase::Cayley => 2.0 * (0.5 * exact).atan(),
        }
    }
}

fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |a| (0..count).map(move |b| (a, b)))
}
