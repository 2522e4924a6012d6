//! Backgrounds below peaks, which are subtracted from the observed values before a fit.

use super::{FitOptions, Formula};
use crate::error::{Error, Result};

/// How a background is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Background {
    /// There is none.
    #[default]
    None,
    /// Of electrons that lost energy (Shirley 1972): at each place it rises with the area of the peaks behind it, between the means of the first and of the
    /// last rows.
    Shirley,
    /// Asymmetric least squares (Eilers and Boelens 2005): a smooth curve z with Σ w (y - z)² + λ Σ (Δ²z)² as small as can be, where w is p above the
    /// curve and 1 - p below it. Rows are taken as evenly spaced.
    Als,
}

impl Background {
    /// Each with its name.
    pub const ALL: [(&'static str, Self); 3] = [("none", Self::None), ("shirley", Self::Shirley), ("als", Self::Als)];
}

/// The share of rows at each end whose mean is the end of Shirley's background.
const ENDS: usize = 50;
/// Rounds, at most.
const ROUNDS: usize = 100;

impl FitOptions {
    /// What is fitted, as a report names it: the observed values, less their background if the options name one.
    pub fn without_background(&self, target: String) -> String {
        match self.background {
            Background::None => target,
            Background::Shirley => format!("{target} less its Shirley background"),
            Background::Als => format!("{target} less its smooth background"),
        }
    }

    /// Subtracts the background from the observed values, if the options name one. Errors unless the model is one curve over one column.
    pub fn subtract_background(&self, formula: &Formula, columns: &[impl AsRef<[f64]>], y: &mut [f64]) -> Result<()> {
        if self.background == Background::None {
            return Ok(());
        }
        let [x] = columns else {
            let got = columns.len();
            return Err(Error::usage(format!("background: the model uses {got} columns, expected one")));
        };
        if let Some(column) = formula.level_columns().first() {
            return Err(Error::usage(format!("background: rows are in sets by \"{column}\", expected one curve")));
        }
        let x = x.as_ref();
        if y.len() < 4 {
            return Err(Error::usage(format!("background: got {} rows, expected at least 4", y.len())));
        }
        let mut order: Vec<usize> = (0..x.len()).collect();
        order.sort_by(|&a, &b| x[a].total_cmp(&x[b]));
        let [sorted_x, sorted_y] = [x, &*y].map(|values| order.iter().map(|&row| values[row]).collect::<Vec<f64>>());
        let background = match self.background {
            Background::Shirley => shirley(&sorted_x, &sorted_y),
            _ => als(&sorted_y, self.smoothness, self.asymmetry),
        };
        order.iter().zip(background).for_each(|(&row, below)| y[row] -= below);
        Ok(())
    }
}

/// Shirley's background of values over ascending places.
fn shirley(x: &[f64], y: &[f64]) -> Vec<f64> {
    let count = (y.len() / ENDS).max(1);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let [first, last] = [mean(&y[..count]), mean(&y[y.len() - count..])];
    let mut below = vec![last; y.len()];
    for _ in 0..ROUNDS {
        // The area above the background from each place to the last.
        let mut behind = vec![0.0; y.len()];
        for at in (0..y.len() - 1).rev() {
            let heights = y[at] - below[at] + y[at + 1] - below[at + 1];
            behind[at] = behind[at + 1] + 0.5 * (x[at + 1] - x[at]) * heights;
        }
        let whole = behind[0];
        if whole == 0.0 {
            break;
        }
        let next: Vec<f64> = behind.iter().map(|area| last + (first - last) * area / whole).collect();
        let change = next.iter().zip(&below).map(|(next, now)| (next - now).abs()).fold(0.0, f64::max);
        below = next;
        if change <= 1e-12 * (first - last).abs() {
            break;
        }
    }
    below
}

/// The curve of asymmetric least squares.
fn als(y: &[f64], smoothness: f64, asymmetry: f64) -> Vec<f64> {
    let mut weights = vec![1.0; y.len()];
    let mut curve = y.to_vec();
    for _ in 0..ROUNDS {
        curve = smoothed(y, &weights, smoothness);
        let next: Vec<f64> =
            y.iter().zip(&curve).map(|(y, z)| if y > z { asymmetry } else { 1.0 - asymmetry }).collect();
        if next == weights {
            break;
        }
        weights = next;
    }
    curve
}

/// Solves (W + λ DᵀD) z = W y, where D takes second differences, by the LDLᵀ decomposition of five diagonals.
fn smoothed(y: &[f64], weights: &[f64], smoothness: f64) -> Vec<f64> {
    let count = y.len();
    let mut diagonals = [weights.to_vec(), vec![0.0; count], vec![0.0; count]];
    for row in 0..count - 2 {
        let difference = [1.0, -2.0, 1.0];
        for i in 0..3 {
            for j in i..3 {
                diagonals[j - i][row + i] += smoothness * difference[i] * difference[j];
            }
        }
    }
    let [mut d, mut one, mut two] = diagonals;
    let mut z: Vec<f64> = y.iter().zip(weights).map(|(y, weight)| y * weight).collect();
    for at in 0..count {
        // Column at of L below its diagonal, then what it changes.
        let (first, second) = (one[at] / d[at], two[at] / d[at]);
        if at + 1 < count {
            d[at + 1] -= first * one[at];
            one[at + 1] -= first * two[at];
            z[at + 1] -= first * z[at];
        }
        if at + 2 < count {
            d[at + 2] -= second * two[at];
            z[at + 2] -= second * z[at];
        }
        (one[at], two[at]) = (first, second);
    }
    for at in (0..count).rev() {
        z[at] /= d[at];
        if at + 1 < count {
            z[at] -= one[at] * z[at + 1];
        }
        if at + 2 < count {
            z[at] -= two[at] * z[at + 2];
        }
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Between the ends 1 and 0 the middle has half of the area behind it: its background is ½, and that of four even rows with one peak between 1 and 0
    /// is 1 up to the peak but for the share of the area that is behind.
    #[test]
    fn the_background_of_shirley_rises_with_the_area_behind() {
        let below = shirley(&[0.0, 1.0, 2.0], &[1.0, 3.0, 0.0]);
        assert!((below[1] - 0.5).abs() < 1e-12 && below[0] == 1.0 && below[2] == 0.0, "{below:?}");
    }

    /// By `scipy.sparse.linalg.spsolve` with the weights iterated until they stay.
    #[test]
    fn the_background_of_least_squares_is_that_of_scipy() {
        let y = [1.0, 1.2, 1.1, 4.0, 6.0, 3.5, 1.6, 1.5, 1.8, 1.7];
        let expected = [
            1.001_845_988_048,
            1.079_933_630_200,
            1.158_002_997_071,
            1.236_047_820_015,
            1.313_487_600_718,
            1.390_018_236_080,
            1.465_804_274_246,
            1.541_221_261_532,
            1.616_658_163_830,
            1.692_095_856_543,
        ];
        for (z, expected) in als(&y, 100.0, 0.01).into_iter().zip(expected) {
            assert!((z - expected).abs() < 1e-9, "{z}, expected {expected}");
        }
    }
}
