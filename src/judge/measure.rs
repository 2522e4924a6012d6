//! How metrics are computed: in f64 and in the target's units, from outputs of a model and targets of its loss.

use super::metrics::{Classes, Metrics, Numbers, Predicted, Scored, Shares};
use super::pairs;
use crate::loss::{Loss, OutputLoss, TargetForm};
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
                let shares: Vec<f64> = counts.iter().map(|&count| f64::from(count) / f64::from(total)).collect();
                return Some(Self::of_shares(loss, &shares, y));
            }
        };
        let (row, rows) = ((loss.link().inverse)(&means), y.len() / means.len());
        Some(Self::of_outputs(loss, &row.repeat(rows), y, row.len(), target.scale()))
    }

    /// Metrics of a prediction that is the shares of the training rows' classes.
    fn of_shares(loss: &OutputLoss, shares: &[f64], y: &[f32]) -> Self {
        let classes = shares.len();
        let own: Vec<f32> = match loss.target().form {
            TargetForm::EachClass => y.chunks_exact(classes).map(|row| largest(row) as f32).collect(),
            _ => y.to_vec(),
        };
        let probabilities = shares.repeat(own.len());
        let predicted = Predicted::Classes(Classes::new(&probabilities, &own, classes));
        let metrics = Self::of_scored(&Scored { rows: own.len(), loss: 0.0, scale: 1.0, predicted });
        let outputs = (loss.link().inverse)(shares);
        let mean = match loss.target().form {
            TargetForm::EachClass => loss.mean(&outputs.repeat(own.len()), y, outputs.len()),
            // A loss of class indices is the likelihood of the classes.
            _ => metrics.log_loss.unwrap_or_default(),
        };
        Self { loss: mean, ..metrics }
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
        let (link, values) = (loss.link(), (loss.link().values)(outputs));
        let (rows, mean) = (z.len() / outputs.max(1), loss.mean(z, y, outputs));
        let (probabilities, own): (Vec<f64>, Vec<f32>);
        let predicted = match loss.target().form {
            TargetForm::EachClass if outputs > 1 => {
                probabilities = link.each_probability(z, outputs);
                own = y.chunks_exact(outputs).map(|row| largest(row) as f32).collect();
                Predicted::Classes(Classes::new(&probabilities, &own, values))
            }
            TargetForm::Class => {
                probabilities = link.each_probability(z, outputs);
                Predicted::Classes(Classes::new(&probabilities, y, values))
            }
            TargetForm::Shares => {
                probabilities = link.each_probability(z, outputs);
                Predicted::Shares(Shares { shares: &probabilities, targets: y, classes: values })
            }
            TargetForm::Scaled | TargetForm::AsItIs | TargetForm::EachClass => {
                let numbers = z.chunks_exact(outputs).flat_map(|row| &row[..values]);
                let pairs = numbers.zip(y).map(|(z, y)| [link.number(*z), f64::from(*y)]).collect();
                Predicted::Numbers(Numbers { pairs, has_deviation: link.deviation.is_some() })
            }
        };
        Self::of_scored(&Scored { rows, loss: mean, scale, predicted })
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
            let near = |got: Option<f64>, expected: f64| (got.unwrap() - expected).abs() < 1e-12;
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
        let is_near = got.iter().zip([15.0, 3.0, 3.0, -1.5]).all(|(got, expected)| (got - expected).abs() < 1e-12);
        assert!(is_near, "mse, mae, median and R²: got {got:?}, expected 15, 3, 3 and -1.5");
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
