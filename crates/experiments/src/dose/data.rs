//! The data of the domain, drawn from a seed, and the formulas behind them.

use crate::description::Size;
use crate::random::{Purpose, Stream};
use meromorph::train::Examples;

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
pub(super) fn sizes(mode: Size) -> [usize; 3] {
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
