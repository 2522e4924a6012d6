//! The data of the domain, drawn from a seed, and the formulas behind them.

use std::f64::consts::PI;

use crate::description::Size;
use crate::random::{Purpose, Stream};
use meromorph::train::Examples;

/// Upper edges of the buckets of |det J|: (0 to 1e-5], (1e-5, 1e-4], …; the first holds 0 too, the last all above 1e-2.
pub const EDGES: [f64; 4] = [1e-5, 1e-4, 1e-3, 1e-2];
/// Buckets.
pub const BUCKETS: usize = 5;
/// Damping of the target.
pub(super) const DAMPING: f64 = 0.01;
/// Share of poses near a singularity, and the deviation of θ2 there.
const SINGULAR: (f64, f64) = (0.3, 1e-3);
/// Regular poses have |det J| of at least this.
const REGULAR: f64 = 2e-3;
/// Standard deviation of a requested step of the hand.
const STEP: f64 = 0.1;

/// The position of the hand for joint angles in radians.
pub fn hand([a, b]: [f64; 2]) -> [f64; 2] {
    [a.cos() + (a + b).cos(), a.sin() + (a + b).sin()]
}

/// det J = sin θ2.
pub fn determinant(theta2: f64) -> f64 {
    theta2.sin()
}

/// The joint step Jᵀ (J Jᵀ + λ² I)⁻¹ e of damped least squares, for a step `e` of the hand.
pub fn damped_least_squares([a, b]: [f64; 2], e: [f64; 2], damping: f64) -> [f64; 2] {
    let (s, c) = a.sin_cos();
    let (s2, c2) = (a + b).sin_cos();
    let j = [[-s - s2, -s2], [c + c2, c2]];
    let dot = |x: [f64; 2], y: [f64; 2]| x[0] * y[0] + x[1] * y[1];
    let (xx, xy, yy) = (dot(j[0], j[0]) + damping * damping, dot(j[0], j[1]), dot(j[1], j[1]) + damping * damping);
    let determinant = xx * yy - xy * xy;
    let u = [(yy * e[0] - xy * e[1]) / determinant, (xx * e[1] - xy * e[0]) / determinant];
    [j[0][0] * u[0] + j[1][0] * u[1], j[0][1] * u[0] + j[1][1] * u[1]]
}

/// The bucket of a |det J|: closed above, and the first closed below.
pub fn bucket(determinant: f64) -> usize {
    EDGES.iter().position(|edge| determinant.abs() <= *edge).unwrap_or(EDGES.len())
}

/// A pose and a requested step of the hand: θ1, θ2, dx, dy.
type Sample = [f64; 4];

/// Poses and steps: inputs (θ1, θ2, dx, dy), targets (Δθ1, Δθ2).
pub struct Data {
    /// Training rows.
    pub train: Examples,
    /// Test rows.
    pub test: Examples,
}

/// Number of samples.
pub(super) fn size(mode: Size) -> usize {
    match mode {
        Size::Contract => 512,
        Size::Smoke => 6000,
        Size::Paper => 200_000,
    }
}

/// The data of a seed: drawn, split four to one within every bucket, and filled up so that both parts have the first four buckets.
pub fn draw(mode: Size, seed: u64) -> Data {
    let mut stream = Stream::new(seed, Purpose::Data);
    let samples = samples(&mut stream, size(mode));
    let parts = stratified(&samples, 0.8);
    let [train, test] = parts.map(|part| encoded(&filled(part, &mut stream)));
    Data { train, test }
}

/// Draws poses, singular ones first (two exactly singular, then θ1, side, θ2 each), then regular ones (θ1 and θ2, again while too
/// near a singularity, a hundred times at most); then dx for all, then dy.
pub fn samples(stream: &mut Stream, count: usize) -> Vec<Sample> {
    let (share, deviation) = SINGULAR;
    let singular = (count as f64 * share) as usize;
    let mut poses: Vec<[f64; 2]> = Vec::with_capacity(count);
    if singular >= 2 {
        poses.extend([0.0, PI].map(|theta2| [stream.between(-PI, PI), theta2]));
    }
    while poses.len() < singular {
        let theta1 = stream.between(-PI, PI);
        let middle = if stream.uniform() < 0.5 { 0.0 } else { PI };
        poses.push([theta1, (middle + deviation * stream.normal()).clamp(-PI, PI)]);
    }
    while poses.len() < count {
        poses.push(regular(stream));
    }
    let dx: Vec<f64> = (0..count).map(|_| STEP * stream.normal()).collect();
    poses.into_iter().zip(dx).map(|([a, b], dx)| [a, b, dx, STEP * stream.normal()]).collect()
}

fn regular(stream: &mut Stream) -> [f64; 2] {
    let mut pose = [0.0; 2];
    for _ in 0..100 {
        pose = [stream.between(-PI, PI), stream.between(-PI, PI)];
        if determinant(pose[1]).abs() >= REGULAR {
            break;
        }
    }
    pose
}

/// The first `share` of every bucket, in order, and the rest.
pub fn stratified(samples: &[Sample], share: f64) -> [Vec<Sample>; 2] {
    let mut parts = [Vec::new(), Vec::new()];
    for expected in 0..BUCKETS {
        let all: Vec<Sample> =
            samples.iter().copied().filter(|sample| bucket(determinant(sample[1])) == expected).collect();
        let first = (share * all.len() as f64).round_ties_even() as usize;
        parts[0].extend(&all[..first]);
        parts[1].extend(&all[first..]);
    }
    parts
}

/// The samples with one more for each of the first four buckets that is empty.
fn filled(mut samples: Vec<Sample>, stream: &mut Stream) -> Vec<Sample> {
    for expected in 0..4 {
        if samples.iter().any(|sample| bucket(determinant(sample[1])) == expected) {
            continue;
        }
        let angle = if expected == 0 { 0.0 } else { stream.between(EDGES[expected - 1], EDGES[expected]) };
        let theta2 = if stream.uniform() < 0.5 { angle } else { PI - angle };
        samples.push([stream.between(-PI, PI), theta2, STEP * stream.normal(), STEP * stream.normal()]);
    }
    samples
}

fn encoded(samples: &[Sample]) -> Examples {
    let x = samples.iter().flatten().map(|&value| value as f32).collect();
    let target = |&[a, b, dx, dy]: &Sample| damped_least_squares([a, b], [dx, dy], DAMPING).map(|angle| angle as f32);
    Examples { x, y: samples.iter().flat_map(target).collect() }
}
