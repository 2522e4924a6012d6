//! A field of complex channels on a grid, T [N_x, N_y, D_f * D_f, 2], and its symplectic dynamics (velocity Verlet):
//! F(T) = (hbar^2 / 2m) Lap(T) - kappa (T - T_eq) + J; P += dt/2 F(T); T += dt P / m; P += dt/2 F(T).

use super::Random;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    /// N_x, N_y
    pub(crate) grid: [usize; 2],
    /// D_f * D_f
    pub(crate) channels: usize,
    /// Real and imaginary parts alternate.
    pub(crate) values: Vec<f64>,
}

impl Field {
    /// Complex Gaussian numbers of variance 1: each part has variance 1/2.
    pub(crate) fn random(grid: [usize; 2], channels: usize, random: &mut Random) -> Self {
        let values = random.gaussians(grid[0] * grid[1] * channels * 2, 0.5_f64.sqrt());
        Self { grid, channels, values }
    }

    /// The scalar weight R of a window's step: the mean of |T| over all entries.
    pub(crate) fn mean_modulus(&self) -> f64 {
        let moduli = self.values.chunks_exact(2).map(|value| value[0].hypot(value[1]));
        moduli.sum::<f64>() / (self.values.len() / 2) as f64
    }

    /// The sum of |T|^2.
    pub(crate) fn square(&self) -> f64 {
        self.values.iter().map(|value| value * value).sum()
    }

    /// Numbers of one site.
    pub(crate) fn width(&self) -> usize {
        2 * self.channels
    }

    /// Where the numbers of site (x, y) begin.
    pub(crate) fn site(&self, x: usize, y: usize) -> usize {
        (x * self.grid[1] + y) * self.width()
    }
}

/// What is beyond the edge of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Border {
    Zero,
    Periodic,
}

/// The site one step before or after (x, y) along an axis, if there is one.
fn neighbour(field: &Field, border: Border, site: [usize; 2], axis: usize, is_after: bool) -> Option<usize> {
    let (mut site, count) = (site, field.grid[axis]);
    let is_last = site[axis] == if is_after { count - 1 } else { 0 };
    if is_last && border == Border::Zero {
        return None;
    }
    site[axis] = (site[axis] + if is_after { 1 } else { count - 1 }) % count;
    Some(field.site(site[0], site[1]))
}

/// The five-point stencil per channel, dx = 1, with a factor for each axis.
pub(crate) fn laplacian(field: &Field, border: Border, factors: [f64; 2]) -> Vec<f64> {
    let mut lap = vec![0.0; field.values.len()];
    for site in sites(field) {
        let here = field.site(site[0], site[1]);
        for (axis, factor) in factors.into_iter().enumerate() {
            for is_after in [false, true] {
                let there = neighbour(field, border, site, axis, is_after);
                for at in 0..field.width() {
                    let value = there.map_or(0.0, |there| field.values[there + at]);
                    lap[here + at] += factor * (value - field.values[here + at]);
                }
            }
        }
    }
    lap
}

fn sites(field: &Field) -> impl Iterator<Item = [usize; 2]> {
    let [width, height] = field.grid;
    (0..width).flat_map(move |x| (0..height).map(move |y| [x, y]))
}

/// The field T with its momentum P, its rest value T_eq and its source J, each as long as T's values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wave {
    pub(crate) field: Field,
    pub(crate) momentum: Vec<f64>,
    pub(crate) rest: Vec<f64>,
    pub(crate) source: Vec<f64>,
}

impl Wave {
    /// At rest where it is, without a source.
    pub(crate) fn new(field: Field) -> Self {
        let zeros = vec![0.0; field.values.len()];
        Self { momentum: zeros.clone(), rest: field.values.clone(), source: zeros, field }
    }
}

/// The constants of the Verlet step; kappa is `stiffness`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Symplectic {
    pub(crate) dt: f64,
    pub(crate) mass: f64,
    pub(crate) hbar: f64,
    pub(crate) stiffness: f64,
}

impl Default for Symplectic {
    fn default() -> Self {
        Self { dt: 0.005, mass: 1.0, hbar: 0.1, stiffness: 0.01 }
    }
}

impl Symplectic {
    pub(crate) fn step(&self, wave: &mut Wave) {
        self.kick(wave);
        for (value, momentum) in wave.field.values.iter_mut().zip(&wave.momentum) {
            *value += self.dt * momentum / self.mass;
        }
        self.kick(wave);
    }

    /// P += dt/2 F(T).
    fn kick(&self, wave: &mut Wave) {
        let force = self.force(wave);
        for (momentum, force) in wave.momentum.iter_mut().zip(force) {
            *momentum += 0.5 * self.dt * force;
        }
    }

    pub(crate) fn force(&self, wave: &Wave) -> Vec<f64> {
        let lap = laplacian(&wave.field, Border::Zero, [self.hbar * self.hbar / (2.0 * self.mass); 2]);
        let parts = wave.field.values.iter().zip(&wave.rest).zip(&wave.source);
        lap.iter()
            .zip(parts)
            .map(|(lap, ((value, rest), source))| lap - self.stiffness * (value - rest) + source)
            .collect()
    }

    /// |P|^2 / 2m + kappa/2 |T - T_eq|^2 + (hbar^2 / 4m) sum over edges |dT|^2 - J . T, with the edges to the zero border.
    pub(crate) fn energy(&self, wave: &Wave) -> f64 {
        let kinetic = wave.momentum.iter().map(|p| p * p).sum::<f64>() / (2.0 * self.mass);
        let stretch = wave.field.values.iter().zip(&wave.rest).map(|(value, rest)| (value - rest).powi(2)).sum::<f64>();
        let work: f64 = wave.field.values.iter().zip(&wave.source).map(|(value, source)| value * source).sum();
        let edges = self.hbar * self.hbar / (4.0 * self.mass) * edges(&wave.field);
        kinetic + 0.5 * self.stiffness * stretch + edges - work
    }
}

/// The sum of |dT|^2 over the edges of the grid: each inner one once, and those to the border.
fn edges(field: &Field) -> f64 {
    let mut sum = 0.0;
    for site in sites(field) {
        let here = field.site(site[0], site[1]);
        for axis in [0, 1] {
            for is_after in [false, true] {
                let there = neighbour(field, Border::Zero, site, axis, is_after);
                // An inner edge has two ends.
                let share = if there.is_some() { 0.5 } else { 1.0 };
                let step = |at| there.map_or(0.0, |there: usize| field.values[there + at]) - field.values[here + at];
                sum += share * (0..field.width()).map(|at| step(at).powi(2)).sum::<f64>();
            }
        }
    }
    sum
}
