//! The rows of `mero bench seed`: y = 2 x0 + 0.5 x1 - 1.5 x2 + 0.8 x3 - 0.3 x4 + 0.1 ε with everything standard normal, scaled and split as the guide
//! does. They are the engine's own draws of that function, not the guide's numbers.

use pollster::block_on;

use meromorph::internal::math::splitmix::{STEP, mixed};
use meromorph::train::{Data, Examples};
use meromorph::{Device, Result, ops};

/// The weights of the inputs and of the noise.
const WEIGHTS: [f64; 5] = [2.0, 0.5, -1.5, 0.8, -0.3];
const NOISE: f64 = 0.1;
/// Shares of the rows for validation and for the test.
const HELD_PERCENT: usize = 15;
/// The guide adds it to every deviation, so that a constant column can be divided.
const LEAST_DEVIATION: f64 = 1e-8;
/// The order of the rows in which they are split.
const SPLIT_SEED: u64 = 123;

/// Rows of the function: x [rows, 5] and y.
pub(super) struct Rows {
    pub x: Vec<f32>,
    pub y: Vec<f32>,
}

impl Rows {
    /// Streams of draws: of the rows that are split, and of the new ones.
    pub(super) const TRAINING: u32 = 42;
    pub(super) const FRESH: u32 = 99;
}

/// Draws rows; those of a stream are always the same.
pub(super) fn linear(rows: usize, stream: u32) -> Result<Rows> {
    let normals = block_on(ops::normal(&Device::cpu(1), [6 * rows], 0, stream)?.to_f32())?;
    let (x, noise) = normals.split_at(5 * rows);
    let y = x.chunks_exact(5).zip(noise).map(|(x, noise)| value(x, *noise)).collect();
    Ok(Rows { x: x.to_vec(), y })
}

fn value(x: &[f32], noise: f32) -> f32 {
    let signal: f64 = WEIGHTS.iter().zip(x).map(|(weight, x)| weight * f64::from(*x)).sum();
    (signal + NOISE * f64::from(noise)) as f32
}

/// Data for training, and how they were scaled.
pub(super) struct Prepared {
    pub data: Data,
    pub scales: Scales,
}

/// Mean and population deviation of each input and of y, over all rows.
pub(super) struct Scales([[f64; 2]; 6]);

impl Prepared {
    /// Scales the rows and splits them, 70 % to train, 15 % for validation, 15 % for the test.
    pub(super) fn of(rows: &Rows) -> Self {
        let scales = Scales::of(rows);
        let (scaled, order) = (scales.scaled(rows), shuffled(rows.y.len()));
        let held = order.len() * HELD_PERCENT / 100;
        let (train, rest) = order.split_at(order.len() - 2 * held);
        let (validation, test) = rest.split_at(held);
        let part = |rows: &[usize]| Examples {
            x: rows.iter().flat_map(|row| &scaled.x[5 * row..5 * row + 5]).copied().collect(),
            y: rows.iter().map(|row| scaled.y[*row]).collect(),
        };
        let [train, validation, test] = [train, validation, test].map(part);
        Self { data: Data { inputs: 5, targets: 1, train, validation, test }, scales }
    }
}

impl Scales {
    fn of(rows: &Rows) -> Self {
        let column = |at: usize| -> Vec<f64> { rows.x.iter().skip(at).step_by(5).copied().map(f64::from).collect() };
        let y: Vec<f64> = rows.y.iter().copied().map(f64::from).collect();
        Self(std::array::from_fn(|at| if at < 5 { scale(&column(at)) } else { scale(&y) }))
    }

    pub(super) fn scaled(&self, rows: &Rows) -> Rows {
        let scaled = |at: usize, value: f32| ((f64::from(value) - self.0[at][0]) / self.0[at][1]) as f32;
        Rows {
            x: rows.x.iter().enumerate().map(|(at, x)| scaled(at % 5, *x)).collect(),
            y: rows.y.iter().map(|y| scaled(5, *y)).collect(),
        }
    }
}

fn scale(values: &[f64]) -> [f64; 2] {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    [mean, variance.sqrt() + LEAST_DEVIATION]
}

/// The rows in an order that is always the same (Fisher and Yates).
fn shuffled(rows: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    for at in (1..rows).rev() {
        let word = mixed(STEP.wrapping_mul(at as u64 + 1).wrapping_add(SPLIT_SEED));
        order.swap(at, (word % (at as u64 + 1)) as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_is_that_of_the_guide() {
        // 2 + 1 - 4.5 + 3.2 - 1.5 + 0.1 · 2
        assert!((value(&[1.0, 2.0, 3.0, 4.0, 5.0], 2.0) - 0.4).abs() < 1e-6);
        let rows = linear(4000, Rows::TRAINING).unwrap();
        let [mean, deviation] = scale(&rows.y.iter().copied().map(f64::from).collect::<Vec<_>>());
        // A variance of 7.24, known within 3 standard errors of a sample of 4,000.
        assert!(mean.abs() < 0.13 && (deviation.powi(2) - 7.24).abs() < 3.0 * 7.24 * (2.0_f64 / 4000.0).sqrt());
    }

    #[test]
    fn every_row_is_in_one_part_and_scaled() {
        let rows = Rows { x: (0..100).map(|at| at as f32).collect(), y: (0..20).map(|at| at as f32).collect() };
        let Prepared { data, .. } = Prepared::of(&rows);
        let sizes = [&data.train, &data.validation, &data.test].map(|part| part.y.len());
        assert_eq!(sizes, [14, 3, 3]);
        // 0 to 19: mean 9.5, variance (20² - 1) / 12.
        let mut all: Vec<f32> =
            [&data.train, &data.validation, &data.test].iter().flat_map(|part| part.y.clone()).collect();
        all.sort_by(f32::total_cmp);
        let deviation = (399.0_f32 / 12.0).sqrt();
        let expected = (0..20).map(|at| (at as f32 - 9.5) / deviation);
        assert!(all.iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 1e-5), "{all:?}");
    }
}
