//! A field as a wave, by velocity Verlet: F(T) = (ħ²/2m) Lap T - κ (T - T_eq), P += dt/2 F(T), T += dt P / m, P += dt/2 F(T). The Laplacian is that of
//! five points with distance 1, and 0 beyond the grid. A step can be undone, and the energy |P|²/2m + κ/2 |T - T_eq|² + (ħ²/4m) Σ over edges |dT|² is
//! kept up to an error of the order of dt² that does not grow.

use super::{Field, matrix, positive};
use crate::autograd::Var;
use crate::error::{Error, Result};
use crate::ops;
use crate::record;

/// The constants of a wave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Symplectic {
    /// dt.
    pub dt: f64,
    /// m.
    pub mass: f64,
    /// ħ.
    pub hbar: f64,
    /// κ.
    pub stiffness: f64,
}

record! { Symplectic { dt, mass, hbar, stiffness } }

impl Default for Symplectic {
    /// The constants of Trainer2.
    fn default() -> Self {
        Self { dt: 0.005, mass: 1.0, hbar: 0.1, stiffness: 0.01 }
    }
}

impl Symplectic {
    /// ħ²/2m.
    fn spread(&self) -> f64 {
        self.hbar * self.hbar / (2.0 * self.mass)
    }

    /// Steps shorter than this are stable on any grid: 2 / ω for the fastest wave, ω² = (8 ħ²/2m + κ) / m.
    pub fn longest_step(&self) -> f64 {
        2.0 / ((8.0 * self.spread() + self.stiffness) / self.mass).sqrt()
    }

    pub(super) fn check(&self) -> Result<()> {
        positive("dt", self.dt)?;
        positive("mass", self.mass)?;
        let is_fine = |value: f64| value >= 0.0 && value.is_finite();
        for (name, value) in [("hbar", self.hbar), ("stiffness", self.stiffness)] {
            if !is_fine(value) {
                return Err(Error::usage(format!(
                    "field: {name}: got {value}, expected a finite number of at least 0"
                )));
            }
        }
        let most = self.longest_step();
        if self.dt >= most {
            let dt = self.dt;
            return Err(Error::usage(format!(
                "field: dt: got {dt}, expected less than {most:.4}, from which on the fastest wave grows"
            )));
        }
        Ok(())
    }

    /// The blocks after so many steps. The force after a step is the one before the next.
    pub(super) fn advanced(&self, field: &Field, blocks: &[Var], steps: usize, each: &mut dyn FnMut(&Var)) -> Vec<Var> {
        let [value, momentum, rest] = blocks else { unreachable!("the blocks of a wave") };
        let (mut value, mut momentum) = (value.clone(), momentum.clone());
        let laplacian = Laplacian::of(field, &value);
        let (spread, stiffness) = (self.spread() as f32, self.stiffness as f32);
        let force = |value: &Var| {
            let [x, y] = laplacian.of_axes(value);
            ops::fused(&[&x, &y, value, rest], |v| spread * (v[0] + v[1]) - stiffness * (v[2] - v[3]))
        };
        let (kick, drift) = (0.5 * self.dt as f32, (self.dt / self.mass) as f32);
        let mut now = force(&value);
        for _ in 0..steps {
            each(&value);
            momentum = ops::fused(&[&momentum, &now], |v| v[0] + kick * v[1]);
            value = ops::fused(&[&value, &momentum], |v| v[0] + drift * v[1]);
            now = force(&value);
            momentum = ops::fused(&[&momentum, &now], |v| v[0] + kick * v[1]);
        }
        vec![value, momentum, rest.clone()]
    }
}

/// The second differences along both axes, as matrices.
struct Laplacian {
    along: [Var; 2],
    /// Of a value with all axes: planes and N_x, N_y, numbers of a site.
    sizes: [usize; 3],
    length: usize,
}

impl Laplacian {
    fn of(field: &Field, like: &Var) -> Self {
        let along = field.grid.map(|size| {
            let entry = |at: usize| match (at / size).abs_diff(at % size) {
                0 => -2.0,
                1 => 1.0,
                _ => 0.0,
            };
            matrix(like, [size, size], &(0..size * size).map(entry).collect::<Vec<_>>())
        });
        let [x, y] = field.grid;
        Self { along, sizes: [x, y, field.width * field.width], length: field.numbers() }
    }

    fn of_axes(&self, value: &Var) -> [Var; 2] {
        let [x, y, site] = self.sizes;
        let shapes = [[2, x, y * site], [2 * x, y, site]];
        [0, 1].map(|axis| {
            let value = ops::reshape(value, shapes[axis]);
            ops::reshape(&ops::matmul(&self.along[axis], &value), [self.length])
        })
    }
}
