//! The step of metric and angles in loops on the host, as Trainer2 does it: what the step on the device is compared with.

use std::f32::consts::PI;

use meromorph::Result;
use meromorph::contrast::Rotors;

use super::window::{COORDINATES as N, RATES};

/// The new logarithms of the metric and the new angles, from the gradient by A = diag(√g) Q [coordinates, coordinates], summed over the rows.
pub(super) fn step(log: &[f32], angles: &[f32], gradient: &[f32], rows: f32) -> Result<[Vec<f32>; 2]> {
    let rotors = Rotors::ring(N, angles.len())?;
    let [metric_rate, angle_rate] = RATES.map(|(_, rate)| rate / rows);
    let root: Vec<f32> = log.iter().map(|log| (0.5 * log).exp()).collect();
    let frame = turned(&rotors, angles, None);
    let new_log = (0..N).map(|i| {
        let by_log: f32 = (0..N).map(|j| 0.5 * gradient[i * N + j] * root[i] * frame[j][i]).sum();
        let weight = log[i].exp();
        (weight - metric_rate * by_log / weight).clamp(0.01, 100.0).ln()
    });
    let new_angles = (0..angles.len()).map(|angle| {
        let slope = turned(&rotors, angles, Some(angle));
        let by_angle: f32 = (0..N)
            .flat_map(|i| (0..N).map(move |j| (i, j)))
            .map(|(i, j)| gradient[i * N + j] * root[i] * slope[j][i])
            .sum();
        let moved = angles[angle] - angle_rate * by_angle;
        moved - ((moved + PI) / (2.0 * PI)).floor() * 2.0 * PI
    });
    Ok([new_log.collect(), new_angles.collect()])
}

/// The columns of Q, or of its derivative by one of the angles: the plane of that angle is then turned a quarter further, and all else is 0.
fn turned(rotors: &Rotors, angles: &[f32], by: Option<usize>) -> Vec<[f32; N]> {
    (0..N)
        .map(|column| {
            let mut x: [f32; N] = std::array::from_fn(|row| f32::from(u8::from(row == column)));
            for (at, &angle) in angles.iter().enumerate() {
                let (a, b) = rotors.plane(at);
                let is_slope = by == Some(at);
                let (sin, cos) = if is_slope { (angle + 0.5 * PI).sin_cos() } else { angle.sin_cos() };
                let pair = [cos * x[a] - sin * x[b], sin * x[a] + cos * x[b]];
                if is_slope {
                    x = [0.0; N];
                }
                [x[a], x[b]] = pair;
            }
            x
        })
        .collect()
}
