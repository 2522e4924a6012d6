//! Draws of parameters from ranges that fit the data, and the random numbers behind them.

use crate::error::Result;
use crate::fit::rows::Problem;
use crate::math::splitmix::{STEP, mixed};

/// Ranges of the data that draws are taken from.
pub(crate) struct Draws {
    /// Least and largest value of each column of the formula; of y if there is none.
    ranges: Vec<[f64; 2]>,
}

impl Draws {
    pub(crate) fn over(problem: &Problem<'_>) -> Result<Self> {
        let ends = |values: &[f64]| {
            [f64::min, f64::max].map(|pick: fn(f64, f64) -> f64| values.iter().copied().reduce(pick).unwrap_or(0.0))
        };
        let ranges = problem.data.with(0..problem.data.rows(), |part| {
            let columns: Vec<[f64; 2]> = part.columns.iter().map(|column| ends(column)).collect();
            if columns.is_empty() { vec![ends(part.y)] } else { columns }
        });
        Ok(Self { ranges: ranges? })
    }

    /// Least and largest value of each column of the formula; of y if there is none.
    pub(crate) fn ranges(&self) -> &[[f64; 2]] {
        &self.ranges
    }

    /// A value between the bounds; without two finite ones, one of the sizes that places, widths and rates have in the data.
    pub(crate) fn draw(&self, low: f64, high: f64, random: &mut Random) -> f64 {
        let is_closed = low.is_finite() && high.is_finite() && (high - low).is_finite();
        // Half of the draws between bounds are of the sizes in the data: bounds may be wide.
        if is_closed && random.unit() < 0.5 {
            let is_wide = low > 0.0 && high / low > 100.0;
            let share = random.unit();
            return if is_wide { low * (high / low).powf(share) } else { low + share * (high - low) };
        }
        let [least, most] = self.ranges[(random.unit() * self.ranges.len() as f64) as usize];
        let range = if most > least { most - least } else { 1.0 };
        let sign = if random.unit() < 0.75 { 1.0 } else { -1.0 };
        let power = |low: f64, high: f64, random: &mut Random| 10_f64.powf(low + random.unit() * (high - low));
        let value = match (random.unit() * 4.0) as usize {
            0 => least + random.unit() * range,
            1 => sign * range * power(-2.0, 0.5, random),
            2 => sign * power(-1.0, 2.0, random) / range,
            _ => sign * power(-1.0, 1.0, random),
        };
        // Mirrored at a bound, if that helps.
        let mirrored = match value {
            _ if value < low => low + (low - value),
            _ if value > high => high - (value - high),
            _ => value,
        };
        mirrored.clamp(low, high)
    }
}

/// Numbers from a seed.
pub(crate) struct Random(pub u64);

impl Random {
    /// A number from 0 up to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(STEP);
        (mixed(self.0) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number of the standard normal distribution (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}
