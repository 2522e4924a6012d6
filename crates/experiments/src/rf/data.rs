//! The data of the domain, drawn from a seed, and the formulas behind them.

use crate::description::Size;
use crate::random::{Purpose, Stream};
use meromorph::train::Examples;

/// The range of frequencies.
const FREQUENCIES: [f64; 2] = [0.1, 10.0];
/// Resonance frequencies.
const RESONANCES: [f64; 2] = [0.5, 5.0];
/// Quality factors of training filters, and the largest of test filters.
pub const QUALITIES: [f64; 3] = [2.0, 30.0, 500.0];

/// (Re, Im) of H(jw).
pub fn response(w: f64, w0: f64, q: f64) -> [f64; 2] {
    let (real, imaginary) = (w0 * w0 - w * w, w0 / q * w);
    let scale = w0 * w0 / (real * real + imaginary * imaginary);
    [scale * real, -scale * imaginary]
}

/// The largest |H(jw)| and its w; for Q > 1/√2, else |H(0)| = 1 at 0.
pub fn peak(w0: f64, q: f64) -> [f64; 2] {
    if q <= std::f64::consts::FRAC_1_SQRT_2 {
        return [1.0, 0.0];
    }
    [q / (1.0 - 1.0 / (4.0 * q * q)).sqrt(), w0 * (1.0 - 1.0 / (2.0 * q * q)).sqrt()]
}

/// A filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filter {
    /// Resonance frequency.
    pub w0: f64,
    /// Quality factor.
    pub q: f64,
}

/// Filters and their responses: inputs (log10 w, log10 w0, log10 Q), targets (Re H, Im H).
pub struct Data {
    /// Training rows.
    pub train: Examples,
    /// Rows that choose the best epoch.
    pub validation: Examples,
    /// Test rows.
    pub test: Examples,
    /// The filters of the test rows, in order, each with as many rows.
    pub filters: Vec<Filter>,
    /// Frequencies at which the peak of each test filter is searched.
    pub grids: Vec<Vec<f64>>,
}

/// Counts of filters and points.
pub(super) struct Sizes {
    pub(super) filters: [usize; 3],
    pub(super) points: usize,
    grid: usize,
}

pub(super) fn sizes(mode: Size) -> Sizes {
    match mode {
        Size::Contract => Sizes { filters: [32, 8, 8], points: 16, grid: 64 },
        Size::Smoke => Sizes { filters: [256, 64, 128], points: 64, grid: 1024 },
        Size::Paper => Sizes { filters: [2048, 512, 1024], points: 64, grid: 2048 },
    }
}

/// The data of a seed: one stream draws training, validation and test filters in turn.
pub fn draw(mode: Size, seed: u64) -> Data {
    let Sizes { filters: [train, validation, test], points, grid } = sizes(mode);
    let mut stream = Stream::new(seed, Purpose::Data);
    let [low, high, highest] = QUALITIES;
    let (train, _) = split(&mut stream, train, points, [low, high]);
    let (validation, _) = split(&mut stream, validation, points, [low, high]);
    let (test, filters) = split(&mut stream, test, points, [low, highest]);
    let grids = filters.iter().map(|&filter| peak_grid(filter, grid)).collect();
    Data { train, validation, test, filters, grids }
}

/// Draws, in this order, each for all filters: w0, Q, the frequencies; all uniform in the logarithm.
fn split(stream: &mut Stream, count: usize, points: usize, [low, high]: [f64; 2]) -> (Examples, Vec<Filter>) {
    let resonances: Vec<f64> = (0..count).map(|_| stream.log_uniform(RESONANCES[0], RESONANCES[1])).collect();
    let filters: Vec<Filter> =
        resonances.into_iter().map(|w0| Filter { w0, q: stream.log_uniform(low, high) }).collect();
    let mut examples = Examples::default();
    for filter in &filters {
        for _ in 0..points {
            let w = stream.log_uniform(FREQUENCIES[0], FREQUENCIES[1]);
            examples.x.extend(features(w, *filter));
            examples.y.extend(response(w, filter.w0, filter.q).map(|part| part as f32));
        }
    }
    (examples, filters)
}

/// The inputs of a model.
pub(super) fn features(w: f64, Filter { w0, q }: Filter) -> [f32; 3] {
    [w, w0, q].map(|value| value.log10() as f32)
}

/// Frequencies that resolve a filter's peak: `count` evenly over w0 (1 ± 10/Q), and an eighth of that, at least 256, over all
/// frequencies, evenly in the logarithm; sorted.
pub fn peak_grid(Filter { w0, q }: Filter, count: usize) -> Vec<f64> {
    let [lowest, highest] = FREQUENCIES;
    let span = 10.0 / q;
    let (low, high) = (lowest.max(w0 * (1.0 - span)), highest.min(w0 * (1.0 + span)));
    let local = (0..count).map(|at| low + (high - low) * at as f64 / (count - 1) as f64);
    let global = crate::log_space(lowest.log10(), highest.log10(), (count / 8).max(256));
    let mut all: Vec<f64> = local.chain(global).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}
