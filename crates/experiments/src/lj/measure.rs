//! The measures of the domain: V in every bucket of distance, and the error of the wall beyond the training range.

use serde_json::json;

use super::data::{Data, EDGES, SCALE, bucket, potential, slope};
use crate::description::{Axes, Chart, Description, Direction, Gathering, Metric};
use crate::log_space;
use crate::statistics::{mean, quantile};
use crate::subject::{Curve, MethodResult};
use meromorph::train::Examples;

/// V / scale per row; absent where a method predicts ⊥ or a value that is not finite.
pub(super) type Potentials = Vec<Option<f64>>;

/// |Q| of a pair of unit norm below this is ⊥.
const TAU_INFER: f32 = 1e-6;
/// Points of the chart's line.
const POINTS: usize = 121;

pub(super) static FACTS: Description = Description {
    name: "lj",
    title: "The wall of the Lennard-Jones potential",
    about: "Two atoms repel each other as the inverse twelfth power of their distance. A model sees distances from 0.8 to 3 σ, \
            where the potential stays below 43 ε, and is tested on 0.2 to 0.8 σ, where it reaches 10⁹ ε. It must continue a \
            pole of which it has seen the foot.",
    claim: "A rational model extrapolates into the wall with a small fraction of a perceptron's error (published: 3,240 times \
            lower below 0.9 σ, later toned down to a stress test in one dimension).",
    published: "improper",
    ours: "powers",
    rival: ("mlp", &["relative_below_05", "relative_05_08", "decades_below_05", "decades_05_08"]),
    metrics: &[
        Metric::headline("relative_below_05", "relative error, r < 0.5", Direction::Less),
        Metric::headline("relative_05_08", "relative error, 0.5 to 0.8", Direction::Less),
        Metric::headline("mae_08_12", "MAE, 0.8 to 1.2 (seen)", Direction::Less),
        Metric::headline("mae_12_20", "MAE, 1.2 to 2 (seen)", Direction::Less),
        Metric::headline("mae_above_20", "MAE, above 2 (seen)", Direction::Less),
        Metric::headline("decades_below_05", "decades off, r < 0.5", Direction::Less),
        Metric::headline("decades_05_08", "decades off, 0.5 to 0.8", Direction::Less),
        Metric::detail("slope_seen", "MAE of dV/dr, above 0.9 (seen)", Direction::Less),
        Metric::detail("coverage", "not ⊥", Direction::Neither),
    ],
    charts: &[
        Chart {
            title: "The wall",
            note: "V against r, first seed; both axes logarithmic. Models see r ≥ 0.8. A curve that breaks off falls below 0.",
            x: "r / σ",
            y: "V / ε",
            shape: Axes { is_log_x: true, is_log_y: true },
            gathering: Gathering::First,
        },
        Chart {
            title: "The well",
            note: "V against r where models were trained, first seed.",
            x: "r / σ",
            y: "V / ε",
            shape: Axes::PLAIN,
            gathering: Gathering::First,
        },
    ],
};

/// Distances of the charts.
pub(super) fn line() -> Vec<f64> {
    log_space(0.2_f64.log10(), 3.0_f64.log10(), POINTS)
}

/// Distances at which slopes are compared, and the step of the central difference.
fn inner(distances: &[f64]) -> impl Iterator<Item = f64> {
    distances.iter().copied().filter(|r| *r > 0.9)
}
const STEP: f64 = 1e-2;

/// The two neighbours of each inner distance.
pub(super) fn neighbours(distances: &[f64]) -> Vec<f64> {
    inner(distances).flat_map(|r| [r - STEP, r + STEP]).collect()
}

/// |central difference of V - dV/dr| of each inner distance that has both values.
fn slope_errors(distances: &[f64], found: &Potentials) -> Vec<f64> {
    let pairs = inner(distances).zip(found.chunks_exact(2));
    let error =
        |(r, pair): (f64, &[Option<f64>])| Some(((pair[1]? - pair[0]?) * SCALE / (2.0 * STEP) - slope(r)).abs());
    pairs.filter_map(error).collect()
}

/// The potential, from the features.
pub(super) fn known(x: &[f32]) -> Potentials {
    x.chunks_exact(2).map(|x| Some(potential(super::data::DISTANCES[0] / f64::from(x[0])) / SCALE)).collect()
}

/// A column as it is.
pub(super) fn direct(nets: &[Vec<Vec<f32>>]) -> Potentials {
    nets[0][0].iter().map(|&value| value.is_finite().then_some(f64::from(value))).collect()
}

/// P / Q; absent where |Q| < τ.
pub(super) fn strict(nets: &[Vec<Vec<f32>>]) -> Potentials {
    let pairs = nets[0][0].iter().zip(&nets[0][1]);
    let decoded = |(p, q): (&f32, &f32)| {
        let value = f64::from(*p) / f64::from(*q);
        (q.abs() >= TAU_INFER && value.is_finite()).then_some(value)
    };
    pairs.map(decoded).collect()
}

/// Mean squared error over the rows that have a value; infinite without any.
pub(super) fn mean_square(rows: &Examples, found: &Potentials) -> f64 {
    let pairs = found.iter().zip(&rows.y).filter_map(|(found, &truth)| Some(found.as_ref()? - f64::from(truth)));
    let squares: Vec<f64> = pairs.map(|error| error * error).collect();
    if squares.is_empty() { f64::INFINITY } else { mean(&squares) }
}

pub(super) fn measure(data: &Data, found: &[Potentials]) -> MethodResult {
    let mut errors: [Vec<f64>; EDGES.len() + 1] = std::array::from_fn(|_| Vec::new());
    let mut decades = [Vec::new(), Vec::new()];
    let mut valid = 0;
    for (&r, value) in data.test.iter().zip(&found[0]) {
        let Some(value) = value.map(|value| value * SCALE) else { continue };
        let (truth, at) = (potential(r), bucket(r));
        valid += 1;
        // Relative errors where V spans decades; elsewhere absolute ones in ε.
        errors[at].push((value - truth).abs() / if at < 2 { truth } else { 1.0 });
        // A prediction that is too small has a relative error of at most 1; in decades the error has no limit. 1e-3 is the smallest value.
        if at < 2 {
            decades[at].push((value.max(1e-3) / truth).log10().abs());
        }
    }
    let middle = |values: &Vec<f64>| quantile(values, 0.5);
    let known = |values: &Vec<f64>| (!values.is_empty()).then(|| mean(values));
    let values = vec![
        middle(&errors[0]),
        middle(&errors[1]),
        known(&errors[2]),
        known(&errors[3]),
        known(&errors[4]),
        middle(&decades[0]),
        middle(&decades[1]),
        known(&slope_errors(&data.test, &found[2])),
        Some(f64::from(valid) / data.test.len() as f64),
    ];
    let counts = errors.each_ref().map(Vec::len);
    MethodResult { values, curves: curves(&found[1]), more: json!({ "bucket_counts": counts }) }
}

fn curves(found: &Potentials) -> Vec<Curve> {
    let all = || line().into_iter().zip(found).map(|(r, value)| [r, value.map_or(f64::NAN, |value| value * SCALE)]);
    let wall = all().filter(|point| point[0] <= 1.0).map(|[r, v]| [r, if v > 0.1 { v } else { f64::NAN }]);
    let well = all().filter(|point| point[0] >= 0.9).map(|[r, v]| [r, v.clamp(-2.0, 6.0)]);
    vec![Curve { chart: 0, points: wall.collect() }, Curve { chart: 1, points: well.collect() }]
}
