//! Where gradients vanish, explode or are not numbers: the gradient of each parameter tensor at the last update, against those of the others.

use std::fmt;

use crate::kernels::fold::{Figure, LINE};
use crate::kernels::optimise::TAIL;
use crate::nn::Layout;

/// The gradient of one parameter tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorGradient {
    /// The tensor's name, such as `layers.0.weight`.
    pub name: String,
    /// Root mean square of its entries.
    pub rms: f64,
    /// Largest size.
    pub largest: f64,
    /// Share of entries that are 0.
    pub zeros: f64,
    /// Entries that are not finite.
    pub not_finite: u64,
    /// What is wrong with it, if anything.
    pub issue: Option<GradientIssue>,
}

/// What may be wrong with a gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GradientIssue {
    /// Some entries are not finite.
    NotFinite,
    /// The root mean square is above 10, or above a thousand times the median of all tensors.
    Exploding,
    /// More than 95 % of the entries are 0.
    Dead,
    /// The root mean square is below 1e-7, or below a thousandth of the median.
    Vanishing,
}

impl fmt::Display for GradientIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFinite => "not finite",
            Self::Exploding => "exploding",
            Self::Dead => "dead",
            Self::Vanishing => "vanishing",
        })
    }
}

/// Below and above these root mean squares gradients vanish and explode, whatever the others are.
const RANGE: [f64; 2] = [1e-7, 10.0];
/// The same as a ratio to the median.
const RATIO: f64 = 1e3;
/// A larger share of zeros is dead.
const DEAD: f64 = 0.95;

impl TensorGradient {
    /// Of the parameters that learn, from the sums of their gradients with their norms, as `fold` writes them; `share` turns a sum into the gradient.
    pub(crate) fn of_sums(layout: &Layout, frozen: &[bool], words: &[f32], share: f64) -> Vec<Self> {
        let figures: Vec<Figure> = Figure::read(&words[layout.total + TAIL..][..4 * (layout.total / LINE)]).collect();
        let of = layout
            .parameters
            .iter()
            .zip(frozen)
            .filter(|(parameter, is_frozen)| !**is_frozen && !parameter.is_statistic)
            .map(|(parameter, _)| {
                let count = parameter.shape.len();
                let lines = parameter.offset / LINE..(parameter.offset + count).div_ceil(LINE);
                // The padding of the last line is 0.
                let padding = (lines.len() * LINE - count) as f64;
                let figure = Figure::union(figures[lines].iter().copied());
                let [not_finite, zeros] = figure.odd();
                Self {
                    name: parameter.name.clone(),
                    rms: figure.rms(count) * share,
                    largest: f64::from(figure.largest()) * share,
                    zeros: (f64::from(zeros) - padding) / count as f64,
                    not_finite: not_finite as u64,
                    issue: None,
                }
            });
        let mut gradients: Vec<Self> = of.collect();
        judge(&mut gradients);
        gradients
    }

    /// Of named gradients that are at hand.
    pub fn of_all(named: &[(String, Vec<f32>)]) -> Vec<Self> {
        let one = |(name, values): &(String, Vec<f32>)| {
            let finite = || values.iter().filter(|value| value.is_finite()).map(|value| f64::from(*value));
            let count = values.len().max(1) as f64;
            Self {
                name: name.clone(),
                rms: (finite().map(|value| value * value).sum::<f64>() / count).sqrt(),
                largest: finite().map(f64::abs).fold(0.0, f64::max),
                zeros: finite().filter(|value| *value == 0.0).count() as f64 / count,
                not_finite: (values.len() - finite().count()) as u64,
                issue: None,
            }
        };
        let mut gradients: Vec<Self> = named.iter().map(one).collect();
        judge(&mut gradients);
        gradients
    }
}

/// Finds what is wrong with each.
fn judge(gradients: &mut [TensorGradient]) {
    let mut sizes: Vec<f64> = gradients.iter().map(|one| one.rms).filter(|rms| *rms > 0.0).collect();
    sizes.sort_by(f64::total_cmp);
    let median = sizes.get(sizes.len() / 2).copied().unwrap_or_default();
    for one in gradients {
        one.issue = match one.rms {
            _ if one.not_finite > 0 => Some(GradientIssue::NotFinite),
            rms if rms > RANGE[1] || rms > RATIO * median => Some(GradientIssue::Exploding),
            _ if one.zeros > DEAD => Some(GradientIssue::Dead),
            rms if rms < RANGE[0] || rms * RATIO < median => Some(GradientIssue::Vanishing),
            _ => None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rms: f64, zeros: f64, not_finite: u64) -> TensorGradient {
        TensorGradient { name: String::new(), rms, largest: rms, zeros, not_finite, issue: None }
    }

    #[test]
    fn each_issue_is_found_and_nothing_else() {
        let mut gradients = vec![
            of(1e-2, 0.0, 0),
            of(2e-2, 0.3, 0),
            of(3e-2, 0.0, 0),
            of(1e-6, 0.0, 0),
            of(40.0, 0.0, 0),
            of(1e-2, 0.97, 0),
            of(1e-2, 0.0, 2),
        ];
        judge(&mut gradients);
        let issues: Vec<Option<GradientIssue>> = gradients.iter().map(|one| one.issue).collect();
        let [vanishing, exploding, dead, not_finite] =
            [GradientIssue::Vanishing, GradientIssue::Exploding, GradientIssue::Dead, GradientIssue::NotFinite]
                .map(Some);
        assert_eq!(issues, [None, None, None, vanishing, exploding, dead, not_finite]);
    }
}
