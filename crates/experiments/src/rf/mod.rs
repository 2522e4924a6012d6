//! High-Q resonators: H(s) = w0² / (s² + (w0/Q) s + w0²) at s = jw. Trained on filters of moderate Q, tested on sharp ones, whose
//! peak is a pole close to the axis: a smooth model cuts it off. After ZeroProofML's RF domain.

mod measure;
mod methods;
mod powers;

use super::elsewhere::Notation;
use super::harness::{EpochScore, Size, Subject};
use super::random::{Purpose, Stream};
use super::training::adam;
use meromorph::optim::{Schedule, ScheduleShape};
use meromorph::train::{Examples, TrainerConfig};

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
struct Sizes {
    filters: [usize; 3],
    points: usize,
    grid: usize,
}

fn sizes(mode: Size) -> Sizes {
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
fn features(w: f64, Filter { w0, q }: Filter) -> [f32; 3] {
    [w, w0, q].map(|value| value.log10() as f32)
}

/// Frequencies that resolve a filter's peak: `count` evenly over w0 (1 ± 10/Q), and an eighth of that, at least 256, over all
/// frequencies, evenly in the logarithm; sorted.
pub fn peak_grid(Filter { w0, q }: Filter, count: usize) -> Vec<f64> {
    let [lowest, highest] = FREQUENCIES;
    let span = 10.0 / q;
    let (low, high) = (lowest.max(w0 * (1.0 - span)), highest.min(w0 * (1.0 + span)));
    let local = (0..count).map(|at| low + (high - low) * at as f64 / (count - 1) as f64);
    let global = super::log_space(lowest.log10(), highest.log10(), (count / 8).max(256));
    let mut all: Vec<f64> = local.chain(global).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

fn config(mode: Size) -> TrainerConfig {
    let (epochs, batch) = match mode {
        Size::Contract => (1, 128),
        Size::Smoke => (20, 256),
        Size::Paper => (20, 1024),
    };
    // From lr down to 1e-7 over the epochs.
    let schedule = Schedule { warmup_steps: 0, shape: ScheduleShape::Cosine { floor: 5e-5 } };
    adam(epochs, batch, 2e-3, schedule)
}

const NOTATION: Notation<Data, measure::Responses> = Notation {
    inputs: &["log10_w", "log10_w0", "log10_q"],
    targets: &["re", "im"],
    predictions: &["re", "im"],
    validation: Some(|data| &data.validation),
    read: |values| Ok(measure::direct(&[vec![values.into()]])),
};

/// The domain.
pub(super) fn subject() -> Subject<Data, measure::Responses> {
    Subject {
        facts: &measure::FACTS,
        methods: methods::all(),
        sizes: |mode| {
            let Sizes { filters: [train, validation, test], points, .. } = sizes(mode);
            vec![
                ("training filters", train),
                ("validation filters", validation),
                ("test filters", test),
                ("points per filter", points),
            ]
        },
        draw,
        train: |data| &data.train,
        notation: NOTATION,
        config,
        epoch_score: Some(EpochScore {
            x: |data| &data.validation.x,
            score: |data, found| measure::mean_square(&data.validation, found, |_| true).unwrap_or(f64::INFINITY),
        }),
        probes: |data| {
            let pairs = data.filters.iter().zip(&data.grids);
            let peaks = pairs.flat_map(|(&filter, grid)| grid.iter().flat_map(move |&w| features(w, filter)));
            vec![data.test.x.clone(), peaks.collect()]
        },
        measure: measure::measure,
        remarks: |_| Vec::new(),
    }
}
