//! Piecewise linear encoding of a number (Gorishniy, Rubachev and Babenko 2022, "On Embeddings for Numerical Features in Tabular Deep
//! Learning"): one input per bin between quantiles of the training rows, 0 below the bin, 1 above it, linear within. A small network learns
//! steps and bends of a column from them which it would not find in the number alone.

use super::is_scale;
use crate::math::order::ascending_numbers;
use crate::record;

/// The bins of one column and the scale of their inputs: (clamp((x - from) / (to - from), 0, 1) - mean) / scale.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bins {
    /// Edges in ascending order, in the column's unit: one more than there are bins; empty without bins.
    pub edges: Vec<f64>,
    /// Mean of each bin's values over the training rows.
    pub means: Vec<f64>,
    /// Their standard deviations.
    pub scales: Vec<f64>,
}

record! { Bins { edges, means, scales } }

/// With fewer bins the number alone says as much.
const FEWEST: usize = 3;

impl Bins {
    /// Up to `most` bins with about equally many of some finite values in each; none if that leaves fewer than three.
    pub(crate) fn fit(values: &[f64], most: usize) -> Self {
        let order = ascending_numbers(values);
        let at = |k: usize| values[order[k * (values.len() - 1) / most] as usize];
        let mut edges: Vec<f64> = Vec::new();
        for k in 0..=most {
            if most > 0 && !values.is_empty() && edges.last().is_none_or(|last| *last < at(k)) {
                edges.push(at(k));
            }
        }
        if edges.len() <= FEWEST || !(edges[edges.len() - 1] - edges[0]).is_finite() {
            return Self::default();
        }
        let mut bins = Self { means: Vec::new(), scales: Vec::new(), edges };
        for bin in bins.edges.windows(2) {
            let n = values.len() as f64;
            let mean = values.iter().map(|x| ramp(bin, *x)).sum::<f64>() / n;
            let variance = values.iter().map(|x| (ramp(bin, *x) - mean).powi(2)).sum::<f64>() / n;
            bins.means.push(mean);
            bins.scales.push(variance.sqrt());
        }
        bins
    }

    /// Number of bins.
    pub fn len(&self) -> usize {
        self.means.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.means.is_empty()
    }

    /// The inputs of a value, one per bin.
    pub(crate) fn inputs(&self, value: f64) -> impl Iterator<Item = f32> {
        let scales = self.means.iter().zip(&self.scales);
        self.edges.windows(2).zip(scales).map(move |(bin, (mean, scale))| ((ramp(bin, value) - mean) / scale) as f32)
    }

    pub(crate) fn is_sound(&self) -> bool {
        let edges = &self.edges;
        let is_ascending = edges.windows(2).all(|bin| bin[0] < bin[1]) && edges.iter().all(|edge| edge.is_finite());
        let is_complete = self.means.len() == edges.len().saturating_sub(1) && self.scales.len() == self.means.len();
        is_ascending && is_complete && self.scales.iter().all(|scale| is_scale(*scale))
    }
}

fn ramp(bin: &[f64], x: f64) -> f64 {
    ((x - bin[0]) / (bin[1] - bin[0])).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_fills_the_bins_below_it() {
        let values: Vec<f64> = (0..=8).map(f64::from).collect();
        let bins = Bins::fit(&values, 4);
        assert_eq!(bins.edges, [0.0, 2.0, 4.0, 6.0, 8.0]);
        let filled = |x: f64| -> Vec<f64> {
            let scales = bins.means.iter().zip(&bins.scales);
            bins.inputs(x).zip(scales).map(|(input, (mean, scale))| f64::from(input) * scale + mean).collect()
        };
        let cases = [(5.0, [1.0, 1.0, 0.5, 0.0]), (-9.0, [0.0; 4]), (1e300, [1.0; 4])];
        for (x, expected) in cases {
            let got = filled(x);
            assert!(got.iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 1e-6), "{x}: {got:?}");
        }
        let inputs: Vec<Vec<f32>> = values.iter().map(|x| bins.inputs(*x).collect()).collect();
        for bin in 0..4 {
            let mean = |of: &dyn Fn(f32) -> f32| inputs.iter().map(|row| of(row[bin])).sum::<f32>() / 9.0;
            assert!(mean(&|x| x).abs() < 1e-6 && (mean(&|x| x * x) - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn equal_values_share_a_bin() {
        let few = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0];
        assert_eq!(Bins::fit(&few, 8).edges, [0.0, 1.0, 2.0, 3.0]);
        for (values, most) in
            [(&[0.0, 1.0, 2.0, 2.0][..], 16), (&few, 2), (&few, 0), (&[], 16), (&[-1e308, 0.0, 1.0, 2.0, 1e308], 16)]
        {
            assert_eq!(Bins::fit(values, most), Bins::default());
        }
    }
}
