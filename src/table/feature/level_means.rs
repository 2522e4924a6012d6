//! Mean targets of the levels of a category (Micci-Barreca 2001, "A preprocessing scheme for high-cardinality categorical attributes"): with
//! many levels, one input per output of the model instead of one per level. The mean of a level with few rows is drawn towards that of all
//! rows, by the weight of a credibility estimate (Bühlmann 1967, "Experience rating and credibility").

use super::is_scale;
use crate::record;

/// Mean targets per level, drawn towards the mean of all: (sum + weight · prior) / (rows + weight), as inputs (mean - prior) / scale.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LevelMeans {
    /// Mean of all training rows, per input: of the scaled target, or the share of a class. Empty if there is an input per level instead.
    pub priors: Vec<f64>,
    /// Standard deviation of the levels' means over the training rows, per input.
    pub scales: Vec<f64>,
    /// So many rows at the prior are added to each level.
    pub weight: f64,
    /// The sum of the targets of each level, row-major [levels, inputs].
    pub sums: Vec<f64>,
}

record! { LevelMeans { priors, scales, weight, sums } }

/// A training row is encoded by the rows of the other folds, so that the model cannot learn a row's own target from its input.
const FOLDS: usize = 5;
/// Of more classes only the first ones have an input.
const MOST_CLASSES: usize = 16;

/// Targets of some rows.
pub(crate) struct Targets<'a> {
    /// Numbers, or indices of classes.
    pub values: &'a [f32],
    /// Number of classes; 0 for numbers.
    pub classes: usize,
}

impl Targets<'_> {
    /// Inputs that they are encoded as. Of two classes the share of one says all.
    fn inputs(&self) -> usize {
        match self.classes {
            0 | 2 => 1,
            classes => classes.min(MOST_CLASSES),
        }
    }

    fn get(&self, row: usize, input: usize) -> f64 {
        let value = f64::from(self.values[row]);
        if self.classes == 0 { value } else { f64::from(u8::from(value == input as f64)) }
    }
}

impl LevelMeans {
    /// Fits it to the level of each training row, if it has one, and its target. `levels` is the number of levels.
    pub(crate) fn fit(codes: &[Option<u32>], levels: usize, targets: &Targets<'_>) -> Self {
        let inputs = targets.inputs();
        let (sums, counts) = totals(codes, levels, targets, |_| true);
        let n = counts.iter().sum::<f64>().max(1.0);
        let prior = |input: usize| (0..levels).map(|level| sums[level * inputs + input]).sum::<f64>() / n;
        let priors: Vec<f64> = (0..inputs).map(prior).collect();
        let mut means = Self { weight: 0.0, scales: vec![1.0; inputs], priors, sums };
        means.weight = means.credibility(codes, &counts, targets);
        for input in 0..inputs {
            let sum = |level: usize| means.sums[level * inputs + input];
            let square = |level: usize| counts[level] * means.shift(input, sum(level), counts[level]).powi(2);
            let deviation = ((0..levels).map(square).sum::<f64>() / n).sqrt();
            means.scales[input] = if is_scale(deviation) { deviation } else { 1.0 };
        }
        means
    }

    /// The ratio of the variance within levels to that between them, by the analysis of variance of one factor, of all inputs together.
    fn credibility(&self, codes: &[Option<u32>], counts: &[f64], targets: &Targets<'_>) -> f64 {
        /// With this weight every level's mean is the prior.
        const NO_DIFFERENCE: f64 = 1e9;
        let inputs = self.inputs();
        let level_mean = |level: usize, input: usize| self.sums[level * inputs + input] / counts[level];
        let used = || (0..counts.len()).filter(|&level| counts[level] > 0.0);
        let (mut within, mut between) = (0.0, 0.0);
        for input in 0..inputs {
            for (row, code) in codes.iter().enumerate() {
                if let Some(level) = *code {
                    within += (targets.get(row, input) - level_mean(level as usize, input)).powi(2);
                }
            }
            between += used()
                .map(|level| counts[level] * (level_mean(level, input) - self.priors[input]).powi(2))
                .sum::<f64>();
        }
        let (n, groups) = (counts.iter().sum::<f64>(), used().count() as f64);
        if groups < 2.0 || n <= groups {
            return NO_DIFFERENCE;
        }
        within /= n - groups;
        let squares = counts.iter().map(|count| count * count).sum::<f64>();
        let rows = (n - squares / n) / (groups - 1.0);
        let variance = (between / (groups - 1.0) - within) / rows;
        if variance > 0.0 { (within / variance).clamp(1.0, NO_DIFFERENCE) } else { NO_DIFFERENCE }
    }

    /// The difference from the prior of the mean of some rows with this sum, drawn towards it.
    fn shift(&self, input: usize, sum: f64, rows: f64) -> f64 {
        (sum - rows * self.priors[input]) / (rows + self.weight)
    }

    /// Writes the inputs of a level with these sums and so many rows.
    fn write_sums(&self, sums: &[f64], rows: f64, x: &mut [f32]) {
        for (input, (sum, x)) in sums.iter().zip(x).enumerate() {
            *x = (self.shift(input, *sum, rows) / self.scales[input]) as f32;
        }
    }

    /// The sums of a level, one per input, from those of all levels.
    fn of_level<'a>(&self, sums: &'a [f64], level: usize) -> &'a [f64] {
        &sums[level * self.inputs()..][..self.inputs()]
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.priors.len()
    }

    /// Whether the category has an input per level instead.
    pub fn is_empty(&self) -> bool {
        self.priors.is_empty()
    }

    /// Writes the inputs of a level with so many training rows.
    pub(crate) fn write(&self, level: usize, rows: u32, x: &mut [f32]) {
        self.write_sums(self.of_level(&self.sums, level), f64::from(rows), x);
    }

    /// Writes the inputs of training rows, each from the rows of other folds. `fold` is a number of each row.
    pub(crate) fn write_training<'x>(
        &self,
        codes: &[Option<u32>],
        levels: usize,
        targets: &Targets<'_>,
        fold: impl Fn(usize) -> u64,
        x: impl Iterator<Item = &'x mut [f32]>,
    ) {
        let of: Vec<usize> = (0..codes.len()).map(|row| (fold(row) % FOLDS as u64) as usize).collect();
        let others: Vec<_> = (0..FOLDS).map(|fold| totals(codes, levels, targets, |row| of[row] != fold)).collect();
        for ((x, code), fold) in x.zip(codes).zip(of) {
            let Some(level) = *code else { continue };
            let (sums, counts) = &others[fold];
            self.write_sums(self.of_level(sums, level as usize), counts[level as usize], x);
        }
    }

    /// Whether it fits so many levels.
    pub(crate) fn is_sound(&self, levels: usize) -> bool {
        let are_finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
        let inputs = self.inputs();
        self.scales.len() == inputs
            && self.scales.iter().all(|scale| is_scale(*scale))
            && self.sums.len() == inputs * levels
            && self.weight >= 0.0
            && are_finite(&self.sums)
            && are_finite(&self.priors)
    }
}

/// Sums of the targets of each level, row-major [levels, inputs], and its number of rows, over some rows.
fn totals(
    codes: &[Option<u32>],
    levels: usize,
    targets: &Targets<'_>,
    is_used: impl Fn(usize) -> bool,
) -> (Vec<f64>, Vec<f64>) {
    let inputs = targets.inputs();
    let (mut sums, mut counts) = (vec![0.0; levels * inputs], vec![0.0; levels]);
    for (row, code) in codes.iter().enumerate() {
        if let Some(level) = code.map(|level| level as usize).filter(|_| is_used(row)) {
            counts[level] += 1.0;
            (0..inputs).for_each(|input| sums[level * inputs + input] += targets.get(row, input));
        }
    }
    (sums, counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(codes: &[u32], values: &[f32], classes: usize) -> LevelMeans {
        let codes: Vec<Option<u32>> = codes.iter().copied().map(Some).collect();
        let levels = codes.iter().flatten().max().map_or(0, |most| *most as usize + 1);
        LevelMeans::fit(&codes, levels, &Targets { values, classes })
    }

    #[test]
    fn means_are_drawn_towards_the_mean_of_all_by_their_credibility() {
        // Of three levels of four rows, by hand: means 1, 5 and 9, variance within 8/3, between 16, so 16 - 2/3 and 4 of a level.
        let values = [-1.0, 1.0, 1.0, 3.0, 3.0, 5.0, 5.0, 7.0, 7.0, 9.0, 9.0, 11.0];
        let codes = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2];
        let means = of(&codes, &values, 0);
        let weight = (8.0 / 3.0) / (16.0 - 2.0 / 3.0);
        assert_eq!((means.priors.clone(), means.sums.clone()), (vec![5.0], vec![4.0, 20.0, 36.0]));
        // Less than one row is never added.
        assert!(weight < 1.0 && means.weight == 1.0, "{}", means.weight);
        let mut x = [0.0];
        means.write(2, 4, &mut x);
        // The deviation of the levels' means is that of -4, 0 and 4, drawn towards 0 as they are.
        assert!((x[0] - 1.5_f32.sqrt()).abs() < 1e-6, "{}", x[0]);
        means.write(1, 4, &mut x);
        assert_eq!(x, [0.0]);
        assert!(means.is_sound(3) && !means.is_sound(2));
    }

    #[test]
    fn noise_has_no_credibility() {
        let means = of(&[0, 0, 1, 1, 2, 2], &[1.0, -1.0, 1.0, -1.0, 1.0, -1.0], 0);
        assert_eq!((means.weight, means.scales.as_slice()), (1e9, &[1.0][..]));
        assert!(of(&[0, 1, 2], &[1.0, 5.0, 9.0], 0).weight == 1e9, "one row each");
        assert!(of(&[0, 0], &[1.0, 5.0], 0).weight == 1e9, "one level");
    }

    #[test]
    fn classes_have_a_share_each() {
        let two = of(&[0, 0, 1, 1], &[0.0, 0.0, 1.0, 0.0], 2);
        assert_eq!((two.inputs(), two.priors.as_slice(), two.sums.as_slice()), (1, &[0.75][..], &[2.0, 1.0][..]));
        let three = of(&[0, 0, 1, 1], &[0.0, 1.0, 2.0, 2.0], 3);
        assert_eq!((three.priors, three.sums), (vec![0.25, 0.25, 0.5], vec![1.0, 1.0, 0.0, 0.0, 0.0, 2.0]));
        assert_eq!(of(&[0, 1], &[0.0, 1.0], 40).inputs(), 16);
    }

    #[test]
    fn a_training_row_is_encoded_by_other_folds() {
        let codes = vec![Some(0); 10];
        let values: Vec<f32> = (0..10).map(|row| row as f32).collect();
        let targets = Targets { values: &values, classes: 0 };
        let means = LevelMeans { priors: vec![0.0], scales: vec![1.0], weight: 0.0, sums: vec![45.0] };
        let mut x = [0.0; 10];
        means.write_training(&codes, 1, &targets, |row| row as u64, x.chunks_mut(1));
        let expected = |row: usize| (45 - row - (row + 5) % 10) as f32 / 8.0;
        (0..10).for_each(|row| assert_eq!(x[row], expected(row), "row {row}"));
    }

    #[test]
    fn the_variance_within_levels_is_divided_by_rows_less_levels() {
        // Means 2 and 6, squares within 8 + 8, of 4 - 2 degrees of freedom: 8. Between 16, so (16 - 8) / 2 rows of a level: 4.
        let means = of(&[0, 0, 1, 1], &[0.0, 4.0, 4.0, 8.0], 0);
        assert_eq!((means.priors.as_slice(), means.weight), (&[4.0][..], 2.0));
        // Of level 1: (12 + 2 · 4) / (2 + 2) = 5, one above the prior, which is also the deviation of both levels.
        let mut x = [0.0];
        means.write(1, 2, &mut x);
        assert_eq!((x, means.scales), ([1.0], vec![1.0]));
    }
}
