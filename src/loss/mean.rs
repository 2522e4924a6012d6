//! The mean of the predictions of several models, as outputs of one, so that whatever takes the outputs of a model takes it.

use crate::autograd::Var;
use crate::ops;
use crate::program::Expr;
use crate::program::expr::{exp, ln, max, softplus};

/// The mean of numbers.
pub(super) fn of_numbers(models: &[Var]) -> Var {
    of(models, |z| z)
}

/// The mean of a number that is made of each output.
pub(super) fn of(models: &[Var], number: impl Fn(Expr) -> Expr) -> Var {
    let share = 1.0 / models.len() as f32;
    let first = ops::fused(&[&models[0]], |v| number(v[0]) * share);
    models[1..].iter().fold(first, |sum, z| ops::fused(&[&sum, z], |v| v[0] + number(v[1]) * share))
}

/// The logarithm of the mean of e^z. The largest z is taken out, so that nothing overflows.
pub(super) fn of_logarithms(models: &[Var]) -> Var {
    let largest = models[1..].iter().fold(models[0].clone(), |most, z| ops::fused(&[&most, z], |v| max(v[0], v[1])));
    let above: Vec<Var> = models.iter().map(|z| ops::sub(z, &largest)).collect();
    ops::fused(&[&of(&above, exp), &largest], |v| ln(v[0]) + v[1])
}

/// The x of softplus(x) = d, which is d + ln(1 - e^-d), for a d of at least `least`.
pub(super) fn of_softplus(d: Expr, least: f64) -> Expr {
    let d = max(d, least);
    d + ln(1.0 - exp(-d))
}

/// The logit of the mean of the probabilities σ(z): ln mean σ(z) - ln mean σ(-z).
pub(super) fn of_logits(models: &[Var]) -> Var {
    let logarithm = |sign: f32| {
        let each = |z| ops::fused(&[z], |v| -softplus(v[0] * -sign));
        of_logarithms(&models.iter().map(each).collect::<Vec<_>>())
    };
    ops::sub(&logarithm(1.0), &logarithm(-1.0))
}

#[cfg(test)]
mod tests {
    use pollster::block_on;

    use super::super::Loss;
    use crate::autograd::Var;
    use crate::device::Device;
    use crate::tensor::Tensor;

    /// The outputs of the mean of models with these outputs, each of one row.
    fn mean<const N: usize>(loss: &Loss, models: &[[f32; N]]) -> Vec<f32> {
        let device = Device::cpu(1);
        let one = |z: &[f32; N]| Var::constant(Tensor::from_f32(&device, [1, N], z).unwrap());
        let outputs = loss.mean(matches!(loss, Loss::Pairs(_)))(&models.iter().map(one).collect::<Vec<_>>());
        block_on(outputs.value().to_f32()).unwrap()
    }

    fn assert_near(got: &[f32], expected: &[f64]) {
        let is_near = got.iter().zip(expected).all(|(got, expected)| (f64::from(*got) - expected).abs() < 1e-5);
        assert!(got.len() == expected.len() && is_near, "got {got:?}, expected {expected:?}");
    }

    #[test]
    fn numbers_amounts_and_pairs_by_hand() {
        assert_near(&mean(&Loss::mse(), &[[1.0, -2.0], [3.0, 0.0], [5.0, 5.0]]), &[3.0, 1.0]);
        // The mean of 2 and 4; of two amounts that overflow.
        let poisson = Loss::parse("poisson").unwrap();
        assert_near(&mean(&poisson, &[[2.0_f32.ln()], [4.0_f32.ln()]]), &[3.0_f64.ln()]);
        assert_near(&mean(&poisson, &[[200.0], [200.0]]), &[200.0]);
        // The mean of 1/2 and 3 is 7/4, over 1/2 · 2; a pole stays one.
        let pairs = Loss::Pairs(crate::loss::PairLoss::default());
        assert_near(&mean(&pairs, &[[1.0, 2.0], [-3.0, -1.0]]), &[-1.75, -1.0]);
        assert_near(&mean(&pairs, &[[1.0, 2.0], [3.0, 0.0]]), &[1.5, 0.0]);
    }

    #[test]
    fn disagreement_adds_to_the_deviation() {
        // Means 0 and 2 with variances e^0 = 1: mean 1, variance 1 + 1.
        let loss = Loss::parse("gaussian_nll").unwrap();
        assert_near(&mean(&loss, &[[0.0, 0.0], [2.0, 0.0]]), &[1.0, 2.0_f64.ln()]);
        assert_near(&mean(&loss, &[[1.0, 0.5]; 3]), &[1.0, 0.5]);
    }

    #[test]
    fn chances_of_classes_are_the_means_of_those_of_the_models() {
        // 1/2 and 9/10 against the rest: 7/10.
        assert_near(&mean(&Loss::parse("bce").unwrap(), &[[0.0], [9.0_f32.ln()]]), &[(7.0_f64 / 3.0).ln()]);
        let models = [[0.5, -1.0, 2.0], [-3.0, 0.25, 1.0], [4.0, 1.5, -2.0_f32]];
        for (name, _) in super::super::names() {
            let (loss, link) = Loss::parse(name).map(|loss| (loss.clone(), loss.link())).unwrap();
            if link.probabilities.is_none() {
                continue;
            }
            let chances = |z: &[f32]| link.each_probability(z, 3);
            let all: Vec<Vec<f64>> = models.iter().map(|z| chances(z)).collect();
            let count = all[0].len();
            let expected: Vec<f64> = (0..count).map(|at| all.iter().map(|one| one[at] / 3.0).sum()).collect();
            let got: Vec<f32> = chances(&mean(&loss, &models)).iter().map(|chance| *chance as f32).collect();
            assert_near(&got, &expected);
        }
    }
}
