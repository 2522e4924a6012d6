//! How metrics are computed: in f64 and in the target's units, from outputs of a model and targets of its loss.

use super::class_metrics::ClassMetrics;
use super::metrics::Metrics;
use super::pairs;
use crate::loss::{Link, Loss, OutputLoss, TargetForm};
use crate::math::largest;
use crate::nn::Spec;
use crate::table;

impl Metrics {
    /// Metrics of a prediction that ignores the inputs: the training rows' mean, or the shares of their classes. `None` without
    /// rows, and for a model with poles.
    pub fn baseline(target: &table::Target, loss: &Loss, y: &[f32]) -> Option<Self> {
        let loss = loss.as_output_loss().filter(|_| !y.is_empty())?;
        let means = match target {
            // In standard deviations from the mean.
            table::Target::Regression { .. } => vec![0.0],
            table::Target::Counts { mean, .. } => vec![*mean],
            table::Target::Shares { means, .. } => means.clone(),
            table::Target::Classification { counts, .. } => {
                let total = counts.iter().sum::<u32>().max(1);
                counts.iter().map(|&count| f64::from(count) / f64::from(total)).collect()
            }
        };
        let (row, rows) = ((loss.link().inverse)(&means), y.len() / loss.target().width(means.len()));
        Some(Self::of_outputs(loss, &row.repeat(rows), y, row.len(), target.scale()))
    }

    /// Metrics of outputs `z` [rows, outputs] against the loss's targets `y`; `None` without rows. `scale` turns a scaled error into
    /// target units.
    pub fn of(spec: &Spec, loss: &Loss, z: &[f32], y: &[f32], scale: f64) -> Option<Self> {
        if y.is_empty() {
            return None;
        }
        match loss {
            Loss::Pairs(loss) => Some(pairs::metrics(spec.head()?, loss, z, y, scale)),
            Loss::Outputs(loss) => Some(Self::of_outputs(loss, z, y, spec.outputs().ok()?, scale)),
        }
    }

    fn of_outputs(loss: &OutputLoss, z: &[f32], y: &[f32], outputs: usize, scale: f64) -> Self {
        let (mean, link) = (loss.mean(z, y, outputs), loss.link());
        let metrics = match loss.target().form {
            TargetForm::Class => Self::classification(link, z, y, outputs),
            TargetForm::EachClass if outputs > 1 => {
                let own: Vec<f32> = y.chunks_exact(outputs).map(|row| largest(row) as f32).collect();
                Self::classification(link, z, &own, outputs)
            }
            TargetForm::Shares => Self::shares(link, z, y, outputs),
            TargetForm::Scaled | TargetForm::AsItIs | TargetForm::EachClass => {
                let values = (link.values)(outputs);
                let numbers: Vec<f32> = z.chunks_exact(outputs).flat_map(|row| &row[..values]).copied().collect();
                let metrics = Self::regression(link, &numbers, y, values, scale);
                if link.deviation.is_some() { metrics.with_likelihood(mean, scale) } else { metrics }
            }
        };
        Self { loss: mean, ..metrics }
    }

    /// Regression: outputs `z` and targets `y` [rows, values] in the loss's units.
    fn regression(link: &Link, z: &[f32], y: &[f32], values: usize, scale: f64) -> Self {
        let count = z.len() as f64;
        let pairs = || z.iter().zip(y).map(|(&z, &y)| (link.number(z), f64::from(y)));
        let squares: f64 = pairs().map(|(z, y)| (z - y) * (z - y)).sum();
        let mean = y.iter().map(|&y| f64::from(y)).sum::<f64>() / count;
        let spread: f64 = y.iter().map(|&y| (f64::from(y) - mean).powi(2)).sum();
        Self {
            rows: z.len() / values.max(1),
            mse: Some(squares / count * scale * scale),
            mae: Some(pairs().map(|(z, y)| (z - y).abs()).sum::<f64>() / count * scale),
            r2: (spread > 0.0).then(|| 1.0 - squares / spread),
            ..Self::default()
        }
    }

    /// With the metrics of normal distributions, whose mean loss, without its constant, is in scaled units.
    fn with_likelihood(self, loss: f64, scale: f64) -> Self {
        let nll = loss + scale.ln() + 0.5 * std::f64::consts::TAU.ln();
        Self { rmse: self.mse.map(f64::sqrt), nll: Some(nll), ..self }
    }

    /// Classification: outputs `z` [rows, outputs], `y` [rows] class indices.
    fn classification(link: &Link, z: &[f32], y: &[f32], outputs: usize) -> Self {
        let mut probabilities = Vec::with_capacity(z.len());
        z.chunks_exact(outputs).for_each(|row| link.push_probabilities(row, &mut probabilities));
        Self::of_probabilities(&probabilities, y, (link.values)(outputs))
    }

    /// Shares of classes: logits `z` and targets `y` [rows, classes]. A row is right if its largest share is predicted as the largest.
    fn shares(link: &Link, z: &[f32], y: &[f32], classes: usize) -> Self {
        let (rows, mut right, mut apart) = (y.len() / classes, 0.0, 0.0);
        let mut shares = Vec::with_capacity(classes);
        for (z, y) in z.chunks_exact(classes).zip(y.chunks_exact(classes)) {
            shares.clear();
            link.push_probabilities(z, &mut shares);
            right += f64::from(u8::from(largest(z) == largest(y)));
            apart += shares.iter().zip(y).map(|(share, y)| (share - f64::from(*y)).abs()).sum::<f64>();
        }
        Self { rows, mae: Some(apart / y.len() as f64), accuracy: Some(right / rows as f64), ..Self::default() }
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
