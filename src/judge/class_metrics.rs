//! Metrics of predicted classes, from probabilities.

use crate::math::largest;
use crate::math::order::{ascending_numbers, key};

/// Bins of the calibration error.
const BINS: usize = 10;

/// Metrics of the probabilities of classes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ClassMetrics {
    pub accuracy: f64,
    pub balanced_accuracy: f64,
    pub f1: f64,
    pub auc: Option<f64>,
    pub log_loss: f64,
    pub calibration: f64,
}

impl ClassMetrics {
    /// Of probabilities [rows, classes], which need not sum to 1, and class indices [rows], at least one.
    pub(crate) fn of(probabilities: &[f64], own: &[f32], classes: usize) -> Self {
        // Per class: its rows, those predicted as it, and those of its rows that are.
        let mut counts = vec![[0_u32; 3]; classes];
        let (mut loss, mut bins) = (0.0, [[0.0; 3]; BINS]);
        for (p, &own) in probabilities.chunks_exact(classes).zip(own) {
            let own = own as usize;
            let said = largest(p);
            counts[own][0] += 1;
            counts[said][1] += 1;
            counts[own][2] += u32::from(said == own);
            // A probability of 0 would make the loss infinite (as scikit-learn's log_loss clips).
            loss -= p[own].max(f64::from(f32::EPSILON)).ln();
            let bin = &mut bins[((p[said] * BINS as f64) as usize).min(BINS - 1)];
            bin.iter_mut().zip([1.0, p[said], f64::from(u8::from(said == own))]).for_each(|(sum, x)| *sum += x);
        }
        let rows = own.len() as f64;
        let present: Vec<[f64; 3]> =
            counts.iter().filter(|count| count[0] > 0).map(|count| count.map(f64::from)).collect();
        // As scikit-learn's macro average, also over classes that were only predicted.
        let named: Vec<[f64; 3]> =
            counts.iter().filter(|count| count[0] + count[1] > 0).map(|count| count.map(f64::from)).collect();
        let mean = |of: fn(&[f64; 3]) -> f64| present.iter().map(of).sum::<f64>() / present.len() as f64;
        Self {
            accuracy: present.iter().map(|[_, _, right]| right).sum::<f64>() / rows,
            balanced_accuracy: mean(|[own, _, right]| right / own),
            f1: named.iter().map(|[own, said, right]| 2.0 * right / (own + said)).sum::<f64>() / named.len() as f64,
            auc: auc(probabilities, own, classes),
            log_loss: loss / rows,
            calibration: bins.iter().map(|[_, p, right]| (p - right).abs()).sum::<f64>() / rows,
        }
    }
}

/// The area under the ROC curve: the probability that a row of a class has a higher score for it than a row of another (Hanley and
/// McNeil 1982), by ranks, equal scores counting half. Mean over the classes, each against the rest; `None` if no class has both.
fn auc(probabilities: &[f64], own: &[f32], classes: usize) -> Option<f64> {
    let of = |class: usize| {
        let scores: Vec<f64> = probabilities.chunks_exact(classes).map(|p| p[class]).collect();
        let order = ascending_numbers(&scores);
        let scores: Vec<(f64, bool)> =
            order.into_iter().map(|at| (scores[at as usize], own[at as usize] as usize == class)).collect();
        let positive = scores.iter().filter(|(_, is_own)| *is_own).count();
        let negative = scores.len() - positive;
        let mut ranks = 0.0;
        let mut at = 0;
        while at < scores.len() {
            let end = at + scores[at..].iter().take_while(|(score, _)| key(*score) == key(scores[at].0)).count();
            let rank = 0.5 * (at + 1 + end) as f64;
            ranks += rank * scores[at..end].iter().filter(|(_, is_own)| *is_own).count() as f64;
            at = end;
        }
        let [positive, negative] = [positive, negative].map(|count| count as f64);
        let least = 0.5 * positive * (positive + 1.0);
        (positive > 0.0 && negative > 0.0).then(|| (ranks - least) / (positive * negative))
    };
    // Of two classes, one against the rest is the other turned round.
    let each: Vec<f64> = (usize::from(classes == 2)..classes).filter_map(of).collect();
    (!each.is_empty()).then(|| each.iter().sum::<f64>() / each.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures by hand; scikit-learn gives the same.
    #[test]
    fn two_classes_by_hand() {
        let p = [0.9, 0.1, 0.6, 0.4, 0.35, 0.65, 0.6, 0.4, 0.2, 0.8];
        let own = [0.0, 0.0, 0.0, 1.0, 1.0];
        let got = ClassMetrics::of(&p, &own, 2);
        let near = |name: &str, got: f64, wanted: f64| {
            assert!((got - wanted).abs() < 1e-12, "{name}: got {got}, wanted {wanted}");
        };
        near("accuracy", got.accuracy, 0.6);
        near("balanced accuracy", got.balanced_accuracy, 0.5 * (2.0 / 3.0 + 0.5));
        near("f1", got.f1, 0.5 * (2.0 / 3.0 + 0.5));
        // Of the six pairs, 0.4 beats 0.1, ties with 0.4, loses to 0.65; 0.8 beats all.
        near("auc", got.auc.unwrap(), 4.5 / 6.0);
        let loss = -(0.9_f64.ln() + 0.6_f64.ln() + 0.35_f64.ln() + 0.4_f64.ln() + 0.8_f64.ln()) / 5.0;
        near("log loss", got.log_loss, loss);
        // Bins: .9 right; .6 twice, one right; .65 wrong, in the same bin; .8 right.
        near("calibration", got.calibration, (0.1 + (1.85 - 1.0) + 0.2) / 5.0);
    }

    #[test]
    fn three_classes_average_over_those_that_are_present() {
        let p = [0.7, 0.2, 0.1, 0.2, 0.7, 0.1, 0.6, 0.3, 0.1, 0.1, 0.8, 0.1];
        let got = ClassMetrics::of(&p, &[0.0, 1.0, 1.0, 1.0], 3);
        assert_eq!((got.accuracy, got.balanced_accuracy), (0.75, 0.5 * (1.0 + 2.0 / 3.0)));
        assert_eq!(got.auc, Some(1.0));
        assert_eq!(ClassMetrics::of(&p, &[0.0; 4], 3).auc, None);
    }
}
