//! The measures of the domain: the response at random frequencies, and whether the peak of a sharp filter is preserved.

use serde_json::json;

use super::data::{Data, QUALITIES, peak, response};
use crate::description::{Axes, Chart, Description, Direction, Gathering, Metric};
use crate::statistics::{mean, quantile};
use crate::subject::{Curve, MethodResult};
use meromorph::train::Examples;

/// (Re, Im) per row; absent where a method predicts ⊥.
pub(super) type Responses = Vec<Option<[f64; 2]>>;

/// A peak of at least this share of the true one is preserved; one above the inverse share is spurious.
const KEPT: f64 = 0.9;

pub(super) static FACTS: Description = Description {
    name: "rf",
    title: "Peaks of sharp resonators",
    about: "A second-order filter H(s) = w0² / (s² + (w0/Q) s + w0²) is learnt from filters with Q up to 30 and tested on \
            filters with Q up to 500. Its poles then lie so close to the axis that the peak is hundreds of times the rest of \
            the curve. What counts is the peak's height on a fine grid around the resonance.",
    claim: "A model that gives a numerator and a denominator keeps the peaks of filters sharper than any it has seen, where \
            perceptrons cut them off (published: 1.75 times the yield of a perceptron).",
    published: "transfer",
    ours: "log-transfer",
    rival: ("mlp", &["retention"]),
    metrics: &[
        Metric::headline("retention", "peaks kept (≥ 0.9)", Direction::More),
        Metric::headline("hallucination", "peaks made up (> 1.11)", Direction::Less),
        Metric::headline("ratio_error", "median |log2 peak ratio|", Direction::Less),
        Metric::headline("mse_extrapolation", "MSE, Q > 30", Direction::Less),
        Metric::headline("mse_in_band", "MSE, Q ≤ 30", Direction::Less),
        Metric::detail("ratio_p50", "median peak ratio", Direction::Neither),
        Metric::detail("ratio_mean", "mean peak ratio", Direction::Neither),
        Metric::detail("under_p95", "underestimate, p95", Direction::Less),
        Metric::detail("retention_sharp", "peaks kept, Q > 30", Direction::More),
        Metric::detail("coverage", "not ⊥", Direction::Neither),
    ],
    charts: &[
        Chart {
            title: "The sharpest filter of the test",
            note: "|H| near the resonance of the first seed's test filter with the highest Q.",
            x: "w / w0",
            y: "|H(jw)|",
            shape: Axes::LOG_Y,
            gathering: Gathering::First,
        },
        Chart {
            title: "A filter as trained on",
            note: "|H| near the resonance of the first seed's test filter with Q nearest to 20.",
            x: "w / w0",
            y: "|H(jw)|",
            shape: Axes::LOG_Y,
            gathering: Gathering::First,
        },
    ],
};

/// The formula, from the features.
pub(super) fn known(x: &[f32]) -> Responses {
    let row = |x: &[f32]| {
        let [w, w0, q] = [x[0], x[1], x[2]].map(|log| 10_f64.powf(f64::from(log)));
        Some(response(w, w0, q))
    };
    x.chunks_exact(3).map(row).collect()
}

/// Two columns as they are; not a response where a value is not finite.
pub(super) fn direct(nets: &[Vec<Vec<f32>>]) -> Responses {
    let row = |pair: &[f32]| {
        let pair = [f64::from(pair[0]), f64::from(pair[1])];
        pair.iter().all(|part| part.is_finite()).then_some(pair)
    };
    nets[0][0].chunks_exact(2).map(row).collect()
}

/// The same, absent where the second output marks ⊥.
pub(super) fn masked(nets: &[Vec<Vec<f32>>]) -> Responses {
    direct(nets).into_iter().zip(&nets[0][1]).map(|(pair, &bottom)| pair.filter(|_| bottom == 0.0)).collect()
}

/// Mean squared error over both parts of the selected rows; a row without a response counts as 0 + 0j.
pub(super) fn mean_square(rows: &Examples, found: &Responses, is_wanted: impl Fn(usize) -> bool) -> Option<f64> {
    let expected = (0..found.len()).filter(|&row| is_wanted(row));
    let squares: Vec<f64> = expected
        .flat_map(|row| {
            let part = move |at: usize| found[row].unwrap_or_default()[at] - f64::from(rows.y[2 * row + at]);
            [part(0).powi(2), part(1).powi(2)]
        })
        .collect();
    (!squares.is_empty()).then(|| mean(&squares))
}

fn magnitude(found: Option<[f64; 2]>) -> f64 {
    found.map_or(0.0, |[real, imaginary]| real.hypot(imaginary))
}

pub(super) fn measure(data: &Data, found: &[Responses]) -> MethodResult {
    let (points, peaks) = (&found[0], &found[1]);
    let per_filter = points.len() / data.filters.len();
    let is_sharp = |filter: usize| data.filters[filter].q > QUALITIES[1];
    let ratios = ratios(data, peaks);
    let share = |is: &dyn Fn(usize) -> bool, among: &dyn Fn(usize) -> bool| {
        let all: Vec<f64> = (0..ratios.len()).filter(|&at| among(at)).map(|at| f64::from(u8::from(is(at)))).collect();
        (!all.is_empty()).then(|| mean(&all))
    };
    let errors: Vec<f64> = ratios.iter().map(|ratio| ratio.max(1e-12).log2().abs()).collect();
    let under: Vec<f64> = ratios.iter().map(|ratio| (1.0 - ratio).max(0.0)).collect();
    let valid = points.iter().filter(|point| point.is_some()).count() as f64 / points.len() as f64;
    let values = vec![
        share(&|at| ratios[at] >= KEPT, &|_| true),
        share(&|at| ratios[at] > 1.0 / KEPT, &|_| true),
        quantile(&errors, 0.5),
        mean_square(&data.test, points, |row| is_sharp(row / per_filter)),
        mean_square(&data.test, points, |row| !is_sharp(row / per_filter)),
        quantile(&ratios, 0.5),
        Some(mean(&ratios)),
        quantile(&under, 0.95),
        share(&|at| ratios[at] >= KEPT, &is_sharp),
        Some(valid),
    ];
    let analytic: Vec<f64> = data.filters.iter().map(|filter| peak(filter.w0, filter.q)[0]).collect();
    let more = json!({ "peak_ratios": ratios, "analytic_peaks": analytic });
    MethodResult { values, curves: curves(data, peaks), more }
}

/// The highest |H| found over the highest true one, by filter, both on the filter's grid.
fn ratios(data: &Data, peaks: &Responses) -> Vec<f64> {
    let mut first = 0;
    let filters = data.filters.iter().zip(&data.grids);
    let ratio = filters.map(|(filter, grid)| {
        let top = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0_f64, f64::max);
        let truth = top(&mut grid.iter().map(|&w| magnitude(Some(response(w, filter.w0, filter.q)))));
        let found = top(&mut peaks[first..first + grid.len()].iter().map(|&found| magnitude(found)));
        first += grid.len();
        found / truth
    });
    ratio.collect()
}

/// |H| of two filters over w / w0, at the resolution of a picture.
fn curves(data: &Data, peaks: &Responses) -> Vec<Curve> {
    let nearest = |distance: &dyn Fn(f64) -> f64| {
        let far = |&a: &usize, &b: &usize| distance(data.filters[a].q).total_cmp(&distance(data.filters[b].q));
        (0..data.filters.len()).min_by(far)
    };
    let chosen = [nearest(&|q| -q), nearest(&|q| (q - 20.0).abs())];
    let curve = |(chart, filter): (usize, Option<usize>)| {
        let filter = filter?;
        let first: usize = data.grids[..filter].iter().map(Vec::len).sum();
        let (w0, q) = (data.filters[filter].w0, data.filters[filter].q);
        let rows = data.grids[filter].iter().enumerate().filter(|(_, w)| (**w / w0 - 1.0).abs() <= 10.0 / q);
        let all: Vec<[f64; 2]> = rows.map(|(at, w)| [w / w0, magnitude(peaks[first + at])]).collect();
        // The peak itself is always kept.
        let top = all.iter().map(|point| point[1]).fold(0.0, f64::max);
        let step = (all.len() / 240).max(1);
        let kept = all.into_iter().enumerate().filter(|(at, point)| at % step == 0 || point[1] == top);
        let points = kept.map(|(_, point)| [point[0], point[1].max(1e-3)]).collect();
        Some(Curve { chart, points })
    };
    chosen.into_iter().enumerate().filter_map(curve).collect()
}
