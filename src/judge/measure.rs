//! How metrics are computed: in f64 and in the target's units, from outputs of a model and targets of its loss.

use super::class_metrics::ClassMetrics;
use super::metrics::Metrics;
use super::pairs;
use crate::loss::{Link, Loss, Pointwise, Target, gaussian, kl};
use crate::math::largest;
use crate::nn::Spec;
use crate::table;

impl Metrics {
    /// Metrics of a prediction that ignores the inputs: the training rows' mean, or the shares of their classes. `None` without
    /// rows, and for a model with poles.
    pub fn baseline(target: &table::Target, loss: &Loss, y: &[f32]) -> Option<Self> {
        if y.is_empty() {
            return None;
        }
        match (target, loss) {
            (table::Target::Regression { scale, .. }, Loss::Pointwise(loss)) => {
                let z = vec![0.0; y.len()];
                Some(Self::regression(loss.mean(&z, y), Link::Identity, &z, y, 1, *scale))
            }
            (table::Target::Counts { mean, .. }, Loss::Pointwise(loss)) => {
                let rate = mean.max(f64::from(f32::MIN_POSITIVE)).ln() as f32;
                let z = vec![rate; y.len()];
                Some(Self::regression(loss.mean(&z, y), Link::Exp, &z, y, 1, 1.0))
            }
            // Mean 0 and variance 1 in standard deviations of the target.
            (table::Target::Regression { scale, .. }, Loss::Gaussian) => {
                Some(Self::normal(&vec![0.0; 2 * y.len()], y, 2, *scale))
            }
            (table::Target::Shares { means, .. }, Loss::KullbackLeibler) => {
                let logit = |share: &f64| share.max(f64::from(f32::MIN_POSITIVE)).ln() as f32;
                let z = means.iter().map(logit).collect::<Vec<_>>().repeat(y.len() / means.len());
                Some(Self::shares(&z, y, means.len()))
            }
            (table::Target::Classification { counts, .. }, Loss::CrossEntropy { .. } | Loss::Pointwise(_)) => {
                let (classes, total) = (counts.len(), counts.iter().sum::<u32>().max(1));
                let shares: Vec<f64> = counts.iter().map(|&count| f64::from(count) / f64::from(total)).collect();
                let own: Vec<f32> = match loss {
                    Loss::CrossEntropy { .. } => y.to_vec(),
                    _ => y.chunks_exact(classes).map(|row| largest(row) as f32).collect(),
                };
                let metrics = Self::of_probabilities(&shares.repeat(own.len()), &own, classes);
                let loss = match loss {
                    Loss::Pointwise(loss) => {
                        let logit = |share: &f64| ((share / (1.0 - share)).ln() as f32).clamp(-30.0, 30.0);
                        loss.mean(&shares.iter().map(logit).collect::<Vec<_>>().repeat(own.len()), y)
                    }
                    _ => metrics.log_loss.unwrap_or_default(),
                };
                Some(Self { loss, ..metrics })
            }
            _ => None,
        }
    }

    /// Metrics of outputs `z` [rows, outputs] against the loss's targets `y`; `None` without rows. `scale` turns a scaled error into
    /// target units.
    pub fn of(spec: &Spec, loss: &Loss, z: &[f32], y: &[f32], scale: f64) -> Option<Self> {
        if y.is_empty() {
            return None;
        }
        if let (Some(head), Loss::Pairs(loss)) = (spec.head(), loss) {
            return Some(pairs::metrics(head, loss, z, y, scale));
        }
        let outputs = spec.outputs().ok()?;
        Some(match loss {
            Loss::Pointwise(loss) if loss.target() == Target::Classes && outputs > 1 => {
                Self::against_the_rest(loss, z, y, outputs)
            }
            Loss::Pointwise(loss) => Self::regression(loss.mean(z, y), loss.link(), z, y, outputs, scale),
            Loss::Gaussian => Self::normal(z, y, outputs, scale),
            Loss::CrossEntropy { .. } => Self::classification(z, y, outputs),
            Loss::KullbackLeibler => Self::shares(z, y, outputs),
            Loss::Pairs(_) => return None,
        })
    }

    /// Regression: outputs `z` and targets `y` [rows, outputs] in the loss's units.
    fn regression(loss: f64, link: Link, z: &[f32], y: &[f32], outputs: usize, scale: f64) -> Self {
        let count = z.len() as f64;
        let pairs = || z.iter().zip(y).map(|(&z, &y)| (link.number(z), f64::from(y)));
        let squares: f64 = pairs().map(|(z, y)| (z - y) * (z - y)).sum();
        let mean = y.iter().map(|&y| f64::from(y)).sum::<f64>() / count;
        let spread: f64 = y.iter().map(|&y| (f64::from(y) - mean).powi(2)).sum();
        Self {
            rows: z.len() / outputs.max(1),
            loss,
            mse: Some(squares / count * scale * scale),
            mae: Some(pairs().map(|(z, y)| (z - y).abs()).sum::<f64>() / count * scale),
            r2: (spread > 0.0).then(|| 1.0 - squares / spread),
            ..Self::default()
        }
    }

    /// Normal distributions: `z` [rows, 2 · targets] means and spreads, `y` [rows, targets], in scaled units.
    fn normal(z: &[f32], y: &[f32], outputs: usize, scale: f64) -> Self {
        let (targets, loss) = (outputs / 2, gaussian::mean(z, y, outputs / 2));
        let means: Vec<f32> = z.chunks_exact(outputs).flat_map(|row| &row[..targets]).copied().collect();
        let metrics = Self::regression(loss, Link::Normal, &means, y, targets, scale);
        let nll = loss + scale.ln() + 0.5 * std::f64::consts::TAU.ln();
        Self { rmse: metrics.mse.map(f64::sqrt), nll: Some(nll), ..metrics }
    }

    /// Classification: `z` [rows, classes] logits, `y` [rows] class indices.
    fn classification(z: &[f32], y: &[f32], classes: usize) -> Self {
        let (mut loss, mut probabilities) = (0.0, Vec::with_capacity(z.len()));
        for (logits, &class) in z.chunks_exact(classes).zip(y) {
            let top = logits.iter().copied().fold(f32::MIN, f32::max);
            let mass: f64 = logits.iter().map(|&z| f64::from(z - top).exp()).sum();
            loss += mass.ln() - f64::from(logits[class as usize] - top);
            probabilities.extend(logits.iter().map(|&z| f64::from(z - top).exp() / mass));
        }
        Self { loss: loss / y.len() as f64, ..Self::of_probabilities(&probabilities, y, classes) }
    }

    /// Shares of classes: logits `z` and targets `y` [rows, classes]. A row is right if its largest share is predicted as the largest.
    fn shares(z: &[f32], y: &[f32], classes: usize) -> Self {
        let (rows, mut right, mut apart) = (y.len() / classes, 0.0, 0.0);
        let mut shares = Vec::with_capacity(classes);
        for (z, y) in z.chunks_exact(classes).zip(y.chunks_exact(classes)) {
            shares.clear();
            Link::Softmax.push_probabilities(z, &mut shares);
            right += f64::from(u8::from(largest(z) == largest(y)));
            apart += shares.iter().zip(y).map(|(share, y)| (share - f64::from(*y)).abs()).sum::<f64>();
        }
        Self {
            rows,
            loss: kl::mean(z, y, classes),
            mae: Some(apart / y.len() as f64),
            accuracy: Some(right / rows as f64),
            ..Self::default()
        }
    }

    fn of_probabilities(probabilities: &[f64], y: &[f32], classes: usize) -> Self {
        let ClassMetrics { accuracy, balanced_accuracy, f1, auc, log_loss, calibration } =
            ClassMetrics::of(probabilities, y, classes);
        Self {
            rows: y.len(),
            accuracy: Some(accuracy),
            balanced_accuracy: Some(balanced_accuracy),
            f1: Some(f1),
            auc,
            log_loss: Some(log_loss),
            calibration: Some(calibration),
            ..Self::default()
        }
    }

    /// Classification of each class against the rest: `z` and `y` [rows, classes], 1 for a row's own class.
    fn against_the_rest(loss: &Pointwise, z: &[f32], y: &[f32], classes: usize) -> Self {
        let own: Vec<f32> = y.chunks_exact(classes).map(|row| largest(row) as f32).collect();
        let probabilities: Vec<f64> = z.iter().map(|&z| 1.0 / (1.0 + (-f64::from(z)).exp())).collect();
        Self { loss: loss.mean(z, y), ..Self::of_probabilities(&probabilities, &own, classes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::PairLoss;
    use crate::nn::{Activation, Decoding, Head};

    #[test]
    fn errors_are_in_target_units_and_loss_and_r2_have_none() {
        // Errors 0, -1 and 2; the targets are 1, 0 and 1 from their mean of 2.
        let (z, y) = ([1.0, 2.0, 4.0], [1.0, 3.0, 2.0]);
        let spec = Spec::mlp(1, &[], 1, Activation::identity());
        for scale in [1.0, 3.0, 0.5] {
            let metrics = Metrics::of(&spec, &Loss::mse(), &z, &y, scale).unwrap();
            assert_eq!((metrics.rows, metrics.loss), (3, 5.0 / 3.0), "scale {scale}");
            let near = |got: Option<f64>, wanted: f64| (got.unwrap() - wanted).abs() < 1e-12;
            assert!(near(metrics.mse, 5.0 / 3.0 * scale * scale), "scale {scale}: {metrics:?}");
            assert!(near(metrics.mae, scale), "scale {scale}: {metrics:?}");
            assert!(near(metrics.r2, 1.0 - 5.0 / 2.0), "scale {scale}: {metrics:?}");
        }
    }

    #[test]
    fn errors_of_decoded_pairs_are_in_target_units() {
        // Values 1, 2, 4 and ⊥ for the numbers 1, 3, 2 and 5: the errors are over the first three.
        let z = [2.0, 2.0, 1.0, 0.5, 4.0, 1.0, 1.0, 0.0];
        let y = [1.0, 1.0, 3.0, 1.0, 2.0, 1.0, 5.0, 1.0];
        let head = Head { decoding: Decoding::raw(0.1, None), ..Head::linear(1) };
        let spec = Spec::projective(1, &[], head, Activation::identity());
        let metrics = Metrics::of(&spec, &Loss::Pairs(PairLoss::default()), &z, &y, 3.0).unwrap();
        assert_eq!((metrics.rows, metrics.coverage, metrics.refused), (4, Some(0.75), Some(0.25)));
        let got = [metrics.mse, metrics.mae, metrics.median, metrics.r2].map(Option::unwrap);
        let is_near = got.iter().zip([15.0, 3.0, 3.0, -1.5]).all(|(got, wanted)| (got - wanted).abs() < 1e-12);
        assert!(is_near, "mse, mae, median and R²: got {got:?}, wanted 15, 3, 3 and -1.5");
    }

    #[test]
    fn classes_against_the_rest() {
        let (z, y) = ([2.0, -1.0, 0.0, -3.0, -1.0, -2.0], [1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
        let spec = Spec::mlp(1, &[], 3, Activation::identity());
        let metrics = Metrics::of(&spec, &Loss::bce(), &z, &y, 1.0).unwrap();
        assert_eq!((metrics.rows, metrics.accuracy, metrics.mse), (2, Some(0.5), None));
        assert_eq!(Metrics::of(&spec, &Loss::bce(), &[], &[], 1.0), None);
    }
}
