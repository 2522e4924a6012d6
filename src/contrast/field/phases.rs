//! A field as a wave function, dT/dt = -i a Lap T with a = (1 - w) / 2m on a periodic grid. Each wave of the grid turns by its phase: the exact one, or that
//! of Cayley's form (Crank and Nicolson 1947), (1 + i dt a Lap / 2) T' = (1 - i dt a Lap / 2) T. Both keep the sum of |T|². Euler's step, which Trainer2
//! takes, multiplies a wave by sqrt(1 + (dt a λ)²) and grows without bound.

use std::f64::consts::{PI, TAU};

use super::{Field, matrix, positive};
use crate::autograd::Var;
use crate::error::{Error, Result};
use crate::ops;
use crate::record;

/// By which angle a wave turns in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseForm {
    /// dt a λ.
    Exact,
    /// 2 atan(dt a λ / 2).
    Cayley,
    /// The step of Trainer2, which is refused: it does not keep |T|.
    Euler,
}

record! { enum PhaseForm { Exact, Cayley, Euler } }

/// The constants of a wave function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phases {
    /// dt.
    pub dt: f64,
    /// m.
    pub mass: f64,
    /// w: the weight of memory, in [0, 1].
    pub memory: f64,
    /// Factors of the second derivatives along both axes: the diagonal of an inverse metric.
    pub factors: [f64; 2],
    /// The angle of a step.
    pub form: PhaseForm,
}

record! { Phases { dt, mass, memory, factors, form } }

impl Default for Phases {
    /// The constants of Trainer2 before its queue of states fills, with Cayley's step.
    fn default() -> Self {
        Self { dt: 0.005, mass: 1.0, memory: 0.0, factors: [1.0; 2], form: PhaseForm::Cayley }
    }
}

/// Sites from which on the matrix of a step is too large.
const MOST_SITES: usize = 1024;

impl Phases {
    pub(super) fn check(&self, grid: [usize; 2]) -> Result<()> {
        positive("dt", self.dt)?;
        positive("mass", self.mass)?;
        if self.form == PhaseForm::Euler {
            return Err(Error::usage(
                "field: got Euler's step, with which |T| grows without bound: expected exact or cayley",
            ));
        }
        if !(0.0..=1.0).contains(&self.memory) {
            return Err(Error::usage(format!("field: memory: got {}, expected a number from 0 to 1", self.memory)));
        }
        self.factors.into_iter().try_for_each(|factor| positive("factors", factor))?;
        let sites = grid[0].saturating_mul(grid[1]);
        if sites > MOST_SITES {
            return Err(Error::usage(format!(
                "field: got {sites} sites, expected at most {MOST_SITES} for a field of phases"
            )));
        }
        Ok(())
    }

    /// The angle by which the wave with these periods per site turns in one step.
    fn turn(&self, frequencies: [f64; 2]) -> f64 {
        let eigenvalue = |axis: usize| self.factors[axis] * 4.0 * (PI * frequencies[axis]).sin().powi(2);
        let exact = self.dt * (1.0 - self.memory) / (2.0 * self.mass) * (eigenvalue(0) + eigenvalue(1));
        if self.form == PhaseForm::Exact { exact } else { 2.0 * (0.5 * exact).atan() }
    }

    /// What a step adds to a field that is 1 at the origin and 0 elsewhere: real and imaginary part at each site.
    fn kernel(&self, [width, height]: [usize; 2]) -> Vec<[f64; 2]> {
        let sites = width * height;
        let share = |site: usize, wave: usize| {
            let turns = |axis: usize, size: usize| {
                (wave_of(wave, axis, height) * wave_of(site, axis, height)) as f64 / size as f64
            };
            // The phase is even in both frequencies, so that the sines cancel.
            (TAU * (turns(0, width) + turns(1, height))).cos() / sites as f64
        };
        let mut kernel = vec![[0.0; 2]; sites];
        for wave in 0..sites {
            let frequency = [0, 1].map(|axis| wave_of(wave, axis, height) as f64 / [width, height][axis] as f64);
            let angle = self.turn(frequency);
            // cos - 1, without cancellation.
            let change = [-2.0 * (0.5 * angle).sin().powi(2), angle.sin()];
            for (site, sum) in kernel.iter_mut().enumerate() {
                let share = share(site, wave);
                *sum = [0, 1].map(|part| sum[part] + share * change[part]);
            }
        }
        kernel
    }

    /// [[A, -B], [B, A]] for the change A + iB of a step, [2 sites, 2 sites].
    fn matrix(&self, grid: [usize; 2]) -> Vec<f64> {
        let ([width, height], kernel) = (grid, self.kernel(grid));
        let sites = width * height;
        let entry = |at: usize| {
            let (to, from) = (at / (2 * sites), at % (2 * sites));
            let apart = |axis: usize, size: usize| {
                (wave_of(to % sites, axis, height) + size - wave_of(from % sites, axis, height)) % size
            };
            let [real, imaginary] = kernel[apart(0, width) * height + apart(1, height)];
            match (to < sites, from < sites) {
                (true, false) => -imaginary,
                (false, true) => imaginary,
                _ => real,
            }
        };
        (0..4 * sites * sites).map(entry).collect()
    }

    /// The field after so many steps.
    pub(super) fn advanced(&self, field: &Field, start: &Var, steps: usize, each: &mut dyn FnMut(&Var)) -> Var {
        let sites = field.grid[0] * field.grid[1];
        let change = matrix(start, [2 * sites, 2 * sites], &self.matrix(field.grid));
        let mut value = ops::reshape(start, [2 * sites, field.width * field.width]);
        for _ in 0..steps {
            each(&value);
            // Only the change is multiplied, so that rounding does not let |T| grow from step to step.
            value = ops::add(&value, &ops::matmul(&change, &value));
        }
        ops::reshape(&value, [field.numbers()])
    }
}

/// The coordinate of a site, or the wave number, along an axis.
fn wave_of(site: usize, axis: usize, height: usize) -> usize {
    if axis == 0 { site / height } else { site % height }
}
