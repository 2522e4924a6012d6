//! The measures of the domain: the joint step in every bucket of |det J|, and how it behaves near the poles.

use std::f64::consts::PI;

use serde_json::json;

use super::data::{BUCKETS, Data, bucket, damped_least_squares, determinant, hand};
use crate::description::{Axes, Chart, Description, Direction, Gathering, Metric};
use crate::statistics::{mean, quantile};
use crate::subject::{Curve, MethodResult};

/// (Δθ1, Δθ2) per row; absent where a method predicts ⊥ or a value that is not finite.
pub(super) type Steps = Vec<Option<[f64; 2]>>;

/// |Q| of a pair of unit norm below this is ⊥.
const TAU_INFER: f32 = 1e-6;

pub(super) static FACTS: Description = Description {
    name: "ik",
    title: "An arm near its singular poses",
    about: "A planar arm with two links shall move its hand by a small step. Where the arm is stretched or folded (det J = \
            sin θ2 = 0) no joint step does that exactly, and close to it the joint step grows like 1 / det J until damped \
            least squares, which is learnt here, bends it back.",
    claim: "Projective models are more accurate than an ensemble of guarded divisions in the buckets nearest to the pole \
            (published: B0 .0022 against .0032, B1 .0013 against .0024), and vary less from seed to seed.",
    published: "projective-full",
    ours: "damped",
    rival: ("eps-ensemble", &["mse_b0", "mse_b1"]),
    metrics: &[
        Metric::headline("mse_b0", "MSE, |det J| ≤ 1e-5", Direction::Less),
        Metric::headline("mse_b1", "MSE, 1e-5 to 1e-4", Direction::Less),
        Metric::headline("mse_b2", "MSE, 1e-4 to 1e-3", Direction::Less),
        Metric::headline("mse_b3", "MSE, 1e-3 to 1e-2", Direction::Less),
        Metric::headline("mse_b4", "MSE, above 1e-2", Direction::Less),
        Metric::headline("mse", "MSE, all", Direction::Less),
        Metric::detail("mae", "MAE, all", Direction::Less),
        Metric::detail("success", "not ⊥", Direction::Neither),
        Metric::detail("ple", "top steps' distance to a pole, rad", Direction::Less),
        Metric::detail("sign_consistency", "sign flips across θ2 = 0", Direction::More),
        Metric::detail("slope_error", "slope error near the pole", Direction::Less),
        Metric::detail("residual", "hand's squared error", Direction::Less),
    ],
    charts: &[Chart {
        title: "Error by distance from the pole",
        note: "Median squared error of the joint step in bins of |det J|, mean over seeds; poses at |det J| ≤ 1e-5 lie in the \
               leftmost bin. Errors below 1e-7, which are rounding, are not drawn.",
        x: "|det J|",
        y: "squared error",
        shape: Axes { is_log_x: true, is_log_y: true },
        gathering: Gathering::Mean,
    }],
};

/// Damped least squares, from the inputs.
pub(super) fn known(x: &[f32], damping: f64) -> Steps {
    let row = |x: &[f32]| {
        let x: Vec<f64> = x.iter().copied().map(f64::from).collect();
        Some(damped_least_squares([x[0], x[1]], [x[2], x[3]], damping))
    };
    x.chunks_exact(4).map(row).collect()
}

/// The mean of the nets' outputs [rows, 2].
pub(super) fn direct(nets: &[Vec<Vec<f32>>]) -> Steps {
    let rows = nets[0][0].len() / 2;
    let row = |row: usize| {
        let pair = [0, 1].map(|at| mean(&nets.iter().map(|net| f64::from(net[0][2 * row + at])).collect::<Vec<_>>()));
        pair.iter().all(|step| step.is_finite()).then_some(pair)
    };
    (0..rows).map(row).collect()
}

/// P / Q of pairs; absent where any |Q| < τ.
pub(super) fn strict(nets: &[Vec<Vec<f32>>]) -> Steps {
    let (p, q) = (&nets[0][0], &nets[0][1]);
    let row = |(p, q): (&[f32], &[f32])| {
        let pair = [0, 1].map(|at| f64::from(p[at]) / f64::from(q[at]));
        (q.iter().all(|q| q.abs() >= TAU_INFER) && pair.iter().all(|step| step.is_finite())).then_some(pair)
    };
    p.chunks_exact(2).zip(q.chunks_exact(2)).map(row).collect()
}

pub(super) fn measure(data: &Data, found: &[Steps]) -> MethodResult {
    let inputs: Vec<[f64; 4]> = data.test.x.chunks_exact(4).map(|x| [0, 1, 2, 3].map(|at| f64::from(x[at]))).collect();
    let mut squares: [Vec<f64>; BUCKETS] = std::array::from_fn(|_| Vec::new());
    let (mut absolute, mut by_place, mut valid) = (Vec::new(), Vec::new(), Vec::new());
    for ((input, truth), found) in inputs.iter().zip(data.test.y.chunks_exact(2)).zip(&found[0]) {
        let Some(found) = found else { continue };
        let errors = [0, 1].map(|at| found[at] - f64::from(truth[at]));
        let square = mean(&errors.map(|error| error * error));
        let singular = determinant(input[1]).abs();
        squares[bucket(singular)].push(square);
        absolute.push(mean(&errors.map(f64::abs)));
        by_place.push((singular, square));
        valid.push((*input, *found));
    }
    let known = |values: &[f64]| (!values.is_empty()).then(|| mean(values));
    let buckets = squares.each_ref().map(|values| known(values));
    let poles = pole_metrics(&valid);
    let all: Vec<f64> = by_place.iter().map(|(_, square)| *square).collect();
    let mut values = buckets.to_vec();
    values.extend([known(&all), known(&absolute), Some(valid.len() as f64 / inputs.len() as f64)]);
    values.extend([poles.ple, poles.sign_consistency, poles.slope_error, poles.residual]);
    let counts = squares.each_ref().map(Vec::len);
    MethodResult { values, curves: vec![curve(&by_place)], more: json!({ "bucket_counts": counts }) }
}

/// The median error in bins of two per decade from 1e-5.5 to 1.
fn curve(by_place: &[(f64, f64)]) -> Curve {
    let bin = |place: f64| (2.0 * place.max(1e-5).log10()).round() as i32;
    let point = |at: i32| {
        let inside = by_place.iter().filter(|(place, _)| bin(*place) == at);
        let values: Vec<f64> = inside.map(|(_, square)| *square).collect();
        let median = quantile(&values, 0.5).filter(|median| *median > 1e-7);
        [10_f64.powf(f64::from(at) / 2.0), median.unwrap_or(f64::NAN)]
    };
    Curve { chart: 0, points: (-10..=0).map(point).collect() }
}

/// The behaviour of steps near the lines θ2 = 0 and π; absent for too few rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoleMetrics {
    /// Mean distance of the largest 5 % of steps to a line, in radians: where the model has its poles.
    pub ple: Option<f64>,
    /// Share of five anchors in θ1 whose majority sign of Δθ2 flips across θ2 = 0.
    pub sign_consistency: Option<f64>,
    /// |slope + 1| of log10 ‖Δθ‖ over log10 |sin θ2| up to 1e-2: a pole of first order has slope -1.
    pub slope_error: Option<f64>,
    /// Mean squared distance between the hand's step and the requested one.
    pub residual: Option<f64>,
}

/// The metrics of inputs (θ1, θ2, dx, dy) and steps.
pub fn pole_metrics(rows: &[([f64; 4], [f64; 2])]) -> PoleMetrics {
    PoleMetrics {
        ple: pole_distance(rows),
        sign_consistency: sign_consistency(rows),
        slope_error: slope_error(rows),
        residual: residual(rows),
    }
}

fn size(step: [f64; 2]) -> f64 {
    step[0].hypot(step[1])
}

fn pole_distance(rows: &[([f64; 4], [f64; 2])]) -> Option<f64> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| size(rows[b].1).total_cmp(&size(rows[a].1)));
    order.truncate((rows.len() / 20).max(1));
    let wrapped = |angle: f64| (angle + PI).rem_euclid(2.0 * PI) - PI;
    let distances: Vec<f64> =
        order.iter().map(|&row| wrapped(rows[row].0[1]).abs().min(wrapped(rows[row].0[1] - PI).abs())).collect();
    (!distances.is_empty()).then(|| mean(&distances))
}

/// Anchors lie evenly over θ1; a row belongs to one within 0.05 in θ1 and 0.2 in θ2; four rows and both sides are needed.
fn sign_consistency(rows: &[([f64; 4], [f64; 2])]) -> Option<f64> {
    let places = rows.iter().map(|row| row.0[0]);
    let (low, high) = places.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    let flips: Vec<f64> = (0..5)
        .filter_map(|at| {
            let anchor = low + (high - low) * f64::from(at) / 4.0;
            let near = |row: &&([f64; 4], [f64; 2])| (row.0[0] - anchor).abs() <= 0.05 && row.0[1].abs() <= 0.2;
            let near: Vec<_> = rows.iter().filter(near).collect();
            let majority = |is_side: &dyn Fn(f64) -> bool| {
                let steps = near.iter().filter(|row| is_side(row.0[1]) && row.1[1] != 0.0);
                let votes: Vec<f64> = steps.map(|row| row.1[1].signum()).collect();
                (!votes.is_empty()).then(|| votes.iter().sum::<f64>() >= 0.0)
            };
            let (before, after) = (majority(&|angle| angle < 0.0)?, majority(&|angle| angle > 0.0)?);
            (near.len() >= 4).then(|| f64::from(u8::from(before != after)))
        })
        .collect();
    (!flips.is_empty()).then(|| mean(&flips))
}

fn slope_error(rows: &[([f64; 4], [f64; 2])]) -> Option<f64> {
    let near = rows.iter().filter(|row| determinant(row.0[1]).abs() <= 1e-2);
    let point =
        |row: &([f64; 4], [f64; 2])| [determinant(row.0[1]).abs().max(1e-6).log10(), size(row.1).max(1e-12).log10()];
    let points: Vec<[f64; 2]> = near.map(point).collect();
    let middle = [0, 1].map(|at| mean(&points.iter().map(|point| point[at]).collect::<Vec<_>>()));
    let spread: f64 = points.iter().map(|point| (point[0] - middle[0]).powi(2)).sum();
    let joint: f64 = points.iter().map(|point| (point[0] - middle[0]) * (point[1] - middle[1])).sum();
    (points.len() >= 5 && spread > 0.0).then(|| (joint / spread + 1.0).abs())
}

fn residual(rows: &[([f64; 4], [f64; 2])]) -> Option<f64> {
    let error = |&([a, b, dx, dy], [da, db]): &([f64; 4], [f64; 2])| {
        let (from, to) = (hand([a, b]), hand([a + da, b + db]));
        (to[0] - from[0] - dx).powi(2) + (to[1] - from[1] - dy).powi(2)
    };
    let errors: Vec<f64> = rows.iter().map(error).collect();
    (!errors.is_empty()).then(|| mean(&errors))
}
