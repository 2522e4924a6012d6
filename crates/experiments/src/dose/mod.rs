//! Censored dose-response: how strong is a drug, when the assay sees only part of the scale? A Hill curve is observed at ten
//! concentrations with noise; its log10 IC50 lies below, inside or above the window of concentrations, or the curve is flat.
//! After ZeroProofML's DOSE domain: the same distributions and the same order of draws, from this engine's generator.

mod measure;
mod methods;
mod odds;
mod pairs;

use super::elsewhere::Notation;
use super::harness::{Size, Subject};
use super::random::{Purpose, Stream};
use super::training::adam;
use meromorph::optim::Schedule;
use meromorph::train::{Examples, TrainerConfig};

pub use measure::Call;

/// Concentrations of a curve.
pub const POINTS: usize = 10;
/// log10 of the first and last concentration.
pub const WINDOW: [f64; 2] = [-9.0, -5.0];
/// log10 IC50 below the first or above the second counts as censored.
pub const THRESHOLDS: [f64; 2] = [-10.0, -4.0];
/// Ranges of log10 IC50 for below, inside and above.
const RANGES: [[f64; 2]; 3] = [[-13.0, -10.2], [-8.8, -5.2], [-3.8, -1.0]];
/// Share of flat curves.
const NULL_RATE: f64 = 0.10;
/// Deviation of the noise on a response.
const NOISE: f64 = 0.05;
/// The offset of the seeds of splits.
const SEED_OFFSET: u64 = 17_000_003;

/// Numbers per row of the targets: log10 IC50, class, clamped target, y_n, y_d.
pub const TARGETS: usize = 5;

/// The response to a concentration: E_min + (E_max - E_min) / (1 + (c / ic50)^h), c and ic50 in the same unit.
pub fn hill(c: f64, ic50: f64, h: f64, [low, high]: [f64; 2]) -> f64 {
    let ratio = (c / ic50).max(f64::MIN_POSITIVE);
    low + (high - low) / (1.0 + ratio.powf(h))
}

/// Curves and their targets.
pub struct Data {
    /// [rows, 20] inputs (log10 c, response) and [rows, 5] targets for training.
    pub train: Examples,
    /// Validation rows; only a reader's choice of a threshold may depend on them.
    pub validation: Examples,
    /// Test rows.
    pub test: Examples,
}

/// Rows of train, validation and test.
fn sizes(mode: Size) -> [usize; 3] {
    match mode {
        Size::Contract => [256, 64, 128],
        Size::Smoke => [5000, 1000, 2000],
        Size::Paper => [200_000, 20_000, 30_000],
    }
}

/// The data of a seed: train, validation and test are drawn from seed, seed + 1 and seed + 2.
pub fn draw(mode: Size, seed: u64) -> Data {
    let [train, validation, test] = sizes(mode);
    Data {
        train: split(seed, train),
        validation: split(seed.wrapping_add(1), validation),
        test: split(seed.wrapping_add(2), test),
    }
}

/// `count` curves. Draws in this order, each for all curves: class, E_min, E_max, flat or not, jitter of the flat ones, slope,
/// place of the IC50 in its range, noise.
pub fn split(seed: u64, count: usize) -> Examples {
    let mut stream = Stream::new(seed.wrapping_add(SEED_OFFSET + count as u64), Purpose::Data);
    let regime: Vec<usize> = (0..count).map(|_| stream.choice(&[1.0, 1.0, 1.0])).collect();
    let low: Vec<f64> = (0..count).map(|_| 0.02 * stream.normal()).collect();
    let mut high: Vec<f64> = (0..count).map(|_| 1.0 + 0.02 * stream.normal()).collect();
    let is_flat: Vec<bool> = (0..count).map(|_| stream.uniform() < NULL_RATE).collect();
    for row in (0..count).filter(|&row| is_flat[row]) {
        high[row] = low[row] + 0.01 * stream.normal();
    }
    let slope: Vec<f64> = (0..count).map(|_| stream.between(0.8, 1.5)).collect();
    let place: Vec<f64> = (0..count).map(|_| stream.uniform()).collect();
    let mut examples = Examples::default();
    for row in 0..count {
        let [from, to] = RANGES[regime[row]];
        let log_ic50 = from + (to - from) * place[row];
        for point in 0..POINTS {
            let log_c = WINDOW[0] + (WINDOW[1] - WINDOW[0]) * point as f64 / (POINTS - 1) as f64;
            let response = hill(10_f64.powf(log_c), 10_f64.powf(log_ic50), slope[row], [low[row], high[row]]);
            examples.x.extend([log_c as f32, (response + NOISE * stream.normal()) as f32]);
        }
        let class = if is_flat[row] { 2 } else { regime[row] };
        examples.y.extend(targets(log_ic50, class).map(|value| value as f32));
    }
    examples
}

/// The targets of a curve: its log10 IC50, class, the value clamped to the window, and the pair (y_n, y_d).
fn targets(log_ic50: f64, class: usize) -> [f64; TARGETS] {
    let (clamped, pair) = match class {
        0 => (WINDOW[0], [-1.0, 0.0]),
        1 => (log_ic50, [log_ic50, 1.0]),
        _ => (WINDOW[1], [1.0, 0.0]),
    };
    [log_ic50, class as f64, clamped, pair[0], pair[1]]
}

fn config(mode: Size) -> TrainerConfig {
    let (epochs, batch) = match mode {
        Size::Contract => (1, 128),
        Size::Smoke => (2, 256),
        Size::Paper => (30, 512),
    };
    adam(epochs, batch, 2e-3, Schedule::CONSTANT)
}

const NOTATION: Notation<Data, Call> = Notation {
    inputs: &[
        "log10_c1",
        "e1",
        "log10_c2",
        "e2",
        "log10_c3",
        "e3",
        "log10_c4",
        "e4",
        "log10_c5",
        "e5",
        "log10_c6",
        "e6",
        "log10_c7",
        "e7",
        "log10_c8",
        "e8",
        "log10_c9",
        "e9",
        "log10_c10",
        "e10",
    ],
    targets: &["log10_ic50", "class", "clamped", "y_n", "y_d"],
    predictions: &["class", "log10_ic50", "abs_q"],
    validation: Some(|data| &data.validation),
    read: measure::written,
};

/// The domain.
pub(super) fn subject() -> Subject<Data, Call> {
    Subject {
        facts: &measure::FACTS,
        methods: methods::all(),
        sizes: |mode| {
            let [train, validation, test] = sizes(mode);
            vec![("train curves", train), ("validation curves", validation), ("test curves", test)]
        },
        draw,
        train: |data| &data.train,
        notation: NOTATION,
        config,
        epoch_score: None,
        probes: |data| vec![data.test.x.clone()],
        measure: measure::measure,
        remarks: measure::remarks,
    }
}
