//! Curves that judge probabilities of classes: ROC, and reliability (how often the predicted class is right, by its probability).

use crate::math::largest;
use crate::math::order::{ascending_numbers, key};

/// The ROC curve of a class against the rest, from [0, 0] to [1, 1]: (false positive rate, true positive rate) for every threshold. `None` if
/// one of the two has no rows. Probabilities are [rows, classes], `own` are the classes of the rows.
pub fn roc(probabilities: &[f64], own: &[usize], class: usize) -> Option<Vec<[f64; 2]>> {
    let classes = probabilities.len() / own.len().max(1);
    let falling: Vec<f64> = probabilities.chunks_exact(classes.max(1)).map(|p| -p[class]).collect();
    let positive = own.iter().filter(|own| **own == class).count() as f64;
    let negative = own.len() as f64 - positive;
    if positive == 0.0 || negative == 0.0 {
        return None;
    }
    let (mut points, mut found, mut wrong) = (vec![[0.0, 0.0]], 0.0, 0.0);
    let order = ascending_numbers(&falling);
    for (at, &row) in order.iter().enumerate() {
        let is_own = own[row as usize] == class;
        if is_own {
            found += 1.0;
        } else {
            wrong += 1.0;
        }
        // Equal probabilities are above a threshold together.
        let is_last = order.get(at + 1).is_none_or(|next| key(falling[*next as usize]) != key(falling[row as usize]));
        if is_last {
            points.push([wrong / negative, found / positive]);
        }
    }
    Some(points)
}

/// Some rows whose predicted classes have similar probabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reliability {
    /// Number of rows.
    pub rows: usize,
    /// Mean probability of the predicted class.
    pub probability: f64,
    /// Share of the rows whose class was predicted.
    pub right: f64,
}

/// The reliability in so many bins of equal width; empty bins are left out.
pub fn reliability(probabilities: &[f64], own: &[usize], bins: usize) -> Vec<Reliability> {
    let classes = probabilities.len() / own.len().max(1);
    let mut all = vec![Reliability::default(); bins];
    for (p, own) in probabilities.chunks_exact(classes.max(1)).zip(own) {
        let class = largest(p);
        let bin = &mut all[((p[class] * bins as f64) as usize).min(bins - 1)];
        bin.rows += 1;
        bin.probability += p[class];
        bin.right += f64::from(u8::from(class == *own));
    }
    let mean = |bin: &Reliability| {
        let rows = bin.rows as f64;
        Reliability { probability: bin.probability / rows, right: bin.right / rows, ..*bin }
    };
    all.iter().filter(|bin| bin.rows > 0).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: [f64; 10] = [0.9, 0.1, 0.6, 0.4, 0.35, 0.65, 0.6, 0.4, 0.2, 0.8];
    const OWN: [usize; 5] = [0, 0, 0, 1, 1];

    #[test]
    fn the_area_under_the_curve_is_the_auc() {
        let points = roc(&P, &OWN, 1).unwrap();
        // Thresholds 0.8, 0.65, 0.4 (one of each class) and 0.1.
        let third = 1.0 / 3.0;
        assert_eq!(points, [[0.0, 0.0], [0.0, 0.5], [third, 0.5], [2.0 * third, 1.0], [1.0, 1.0]]);
        let area: f64 = points.windows(2).map(|p| (p[1][0] - p[0][0]) * 0.5 * (p[0][1] + p[1][1])).sum();
        assert!((area - 4.5 / 6.0).abs() < 1e-12, "{area}");
        assert_eq!(roc(&P, &[0; 5], 1), None);
    }

    #[test]
    fn bins_hold_mean_probability_and_share_of_right_rows() {
        let got = reliability(&P, &OWN, 10);
        assert_eq!(got.iter().map(|bin| bin.rows).collect::<Vec<_>>(), [3, 1, 1]);
        assert!((got[0].probability - 1.85 / 3.0).abs() < 1e-12 && got[0].right == 1.0 / 3.0, "{got:?}");
        assert_eq!((got[1].right, got[2].right), (1.0, 1.0));
    }
}
