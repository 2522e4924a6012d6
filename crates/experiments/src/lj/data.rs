//! The data of the domain, drawn from a seed, and the formulas behind them.

use crate::description::Size;
use crate::random::{Purpose, Stream};
use meromorph::train::Examples;

/// The range of training distances, and the smallest test distance; in units of σ.
pub const DISTANCES: [f64; 3] = [0.8, 3.0, 0.2];
/// Upper ends of the buckets of r; the last is open.
pub const EDGES: [f64; 4] = [0.5, 0.8, 1.2, 2.0];
/// The scale of the targets: about the standard deviation of V over the training distances.
pub(super) const SCALE: f64 = 10.0;
/// Share of test distances below the training ones.
const EXTRAPOLATED: f64 = 0.6;

/// V(r) in units of ε, for r in units of σ.
pub fn potential(r: f64) -> f64 {
    let sixth = r.powi(-6);
    4.0 * (sixth * sixth - sixth)
}

/// dV/dr in units of ε/σ.
pub fn slope(r: f64) -> f64 {
    let sixth = r.powi(-6);
    4.0 * (-12.0 * sixth * sixth + 6.0 * sixth) / r
}

/// The bucket of a distance: [0, 0.5), [0.5, 0.8), [0.8, 1.2), [1.2, 2), [2, ∞).
pub fn bucket(r: f64) -> usize {
    EDGES.iter().position(|edge| r < *edge).unwrap_or(EDGES.len())
}

/// Distances and potentials: inputs (0.8 / r, r / 3), targets (V / scale).
pub struct Data {
    /// Training rows.
    pub train: Examples,
    /// Rows that choose the best epoch.
    pub validation: Examples,
    /// Test distances.
    pub test: Vec<f64>,
}

/// Distances for training, validation and test.
pub(super) fn sizes(mode: Size) -> [usize; 3] {
    match mode {
        Size::Contract => [512, 128, 256],
        Size::Smoke => [5000, 1000, 2000],
        Size::Paper => [50_000, 10_000, 20_000],
    }
}

/// The data of a seed: one stream draws training and validation distances, uniform in [0.8, 3), then test distances, the first
/// 60 % uniform in the logarithm in [0.2, 0.8), the others like the training ones.
pub fn draw(mode: Size, seed: u64) -> Data {
    let [train, validation, test] = sizes(mode);
    let [low, high, lowest] = DISTANCES;
    let mut stream = Stream::new(seed, Purpose::Data);
    let mut inside = |count: usize| (0..count).map(|_| stream.between(low, high)).collect::<Vec<f64>>();
    let [train, validation] = [train, validation].map(|count| encoded(&inside(count)));
    let outside = (test as f64 * EXTRAPOLATED).round() as usize;
    let mut distances: Vec<f64> = (0..outside).map(|_| stream.log_uniform(lowest, low)).collect();
    distances.extend((outside..test).map(|_| stream.between(low, high)));
    Data { train, validation, test: distances }
}

fn encoded(distances: &[f64]) -> Examples {
    let y = distances.iter().map(|&r| (potential(r) / SCALE) as f32).collect();
    Examples { x: distances.iter().flat_map(|&r| features(r)).collect(), y }
}

/// The inputs of a model: u = 0.8 / r, at most 1 over the training distances, and r / 3.
pub(super) fn features(r: f64) -> [f32; 2] {
    [(DISTANCES[0] / r) as f32, (r / DISTANCES[1]) as f32]
}
