//! The Lennard-Jones potential V(r) = 4ε ((σ/r)^12 - (σ/r)^6) of a pair of atoms, ε = σ = 1. Trained where r ≥ 0.8, tested down
//! to r = 0.2, where V is a billion times larger: the pole at r = 0 must be extrapolated. After ZeroProofML's LJ domain.

mod measure;
mod methods;
mod powers;

use super::elsewhere::Notation;
use super::harness::{EpochScore, Size, Subject};
use super::random::{Purpose, Stream};
use super::training::adam;
use meromorph::optim::{Schedule, ScheduleShape};
use meromorph::train::{Examples, TrainerConfig};

/// The range of training distances, and the smallest test distance; in units of σ.
pub const DISTANCES: [f64; 3] = [0.8, 3.0, 0.2];
/// Upper ends of the buckets of r; the last is open.
pub const EDGES: [f64; 4] = [0.5, 0.8, 1.2, 2.0];
/// The scale of the targets: about the standard deviation of V over the training distances.
const SCALE: f64 = 10.0;
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
fn sizes(mode: Size) -> [usize; 3] {
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
fn features(r: f64) -> [f32; 2] {
    [(DISTANCES[0] / r) as f32, (r / DISTANCES[1]) as f32]
}

fn config(mode: Size) -> TrainerConfig {
    let epochs = match mode {
        Size::Contract => 1,
        Size::Smoke => 60,
        Size::Paper => 100,
    };
    let schedule = Schedule { warmup_steps: 0, shape: ScheduleShape::Cosine { floor: 0.01 } };
    adam(epochs, 256, 2e-3, schedule)
}

const NOTATION: Notation<Data, measure::Potentials> = Notation {
    inputs: &["u", "r_third"],
    targets: &["v_tenth"],
    predictions: &["v_tenth"],
    validation: Some(|data| &data.validation),
    read: |values| Ok(measure::direct(&[vec![values.into()]])),
};

/// The domain.
pub(super) fn subject() -> Subject<Data, measure::Potentials> {
    Subject {
        facts: &measure::FACTS,
        methods: methods::all(),
        sizes: |mode| {
            let [train, validation, test] = sizes(mode);
            vec![("training distances", train), ("validation distances", validation), ("test distances", test)]
        },
        draw,
        train: |data| &data.train,
        notation: NOTATION,
        config,
        epoch_score: Some(EpochScore {
            x: |data| &data.validation.x,
            score: |data, found| measure::mean_square(&data.validation, found),
        }),
        probes: |data| {
            let all = |distances: &[f64]| distances.iter().flat_map(|&r| features(r)).collect();
            vec![all(&data.test), all(&measure::line()), all(&measure::neighbours(&data.test))]
        },
        measure: measure::measure,
        remarks: |_| Vec::new(),
    }
}
