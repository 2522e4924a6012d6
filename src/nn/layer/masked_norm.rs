//! Batch norm that ignores ⊥ (after Ioffe and Szegedy 2015).

use crate::autograd::Var;
use crate::error::Result;
use crate::graph::Init;
use crate::host::number;
use crate::nn::activation::Activation;
use crate::nn::kind::{LayerKind, NamedNorm, NewParameter, wrong};
use crate::nn::pass::{Forward, Pass, RunningStats};
use crate::ops;
use crate::program::expr::{eq, gt, le, select};
use crate::record;
use crate::scm::policy::Policy;
use crate::scm::{self, Masked, Moments};

/// (x - mean) / √(variance + epsilon) of each column, ignoring ⊥ (Ioffe and Szegedy 2015). Training uses mean and variance of the batch;
/// prediction uses running statistics of the training batches, the latest weighted most, so it does not depend on the other rows.
/// A column of variance 0, or without any value in training, is ⊥: without an epsilon the model must end in a projective head.
/// If ⊥ occurs in a model without one, because a value overflows, its prediction is infinite.
/// It has no gain and no bias; the bias of the layer before it is removed together with the mean.
#[derive(Clone, Debug, PartialEq)]
pub struct MaskedNorm {
    /// Added to the variance; at least 0.
    pub epsilon: f32,
    /// Gradient policy at ⊥; if absent, that of the scope or of the run's registry (`scm::policy`).
    pub policy: Option<Policy>,
}

record! { MaskedNorm { epsilon, policy } }

/// Decay of the running statistics per batch: the usual value.
const KEPT: f32 = 0.9;
/// Lower bound that keeps the weight of old statistics above the subnormal numbers, which some devices flush to 0. Negligible next to any other weight.
const LEAST: f32 = 1e-30;

impl NamedNorm for MaskedNorm {
    const NAME: &str = "batch";
    const DOC: &str = "Each column, without ⊥";

    fn standard() -> Self {
        Self { epsilon: 1e-5, policy: None }
    }
}

impl LayerKind for MaskedNorm {
    fn kind(&self) -> &'static str {
        "masked_norm"
    }

    fn text(&self) -> String {
        "masked norm".into()
    }

    fn check(&self, _width: usize, path: &str) -> Result<()> {
        // Some devices flush a subnormal number to 0.
        if self.epsilon == 0.0 || (self.epsilon.is_normal() && self.epsilon > 0.0) {
            return Ok(());
        }
        let got = number(self.epsilon);
        Err(wrong(path, &format!("a masked norm's epsilon: got {got}, expected 0 or a positive normal number")))
    }

    fn parameters(&self, width: usize) -> Vec<NewParameter> {
        [("mean", Init::Zero), ("variance", Init::One), ("seen", Init::Zero)]
            .map(|(name, init)| {
                let parameter = NewParameter::new(name, [width], init, (width, width));
                NewParameter { is_statistic: true, ..parameter }
            })
            .into()
    }

    /// Columns standardised: in training by the statistics of the batch, which also update the running ones; in prediction by the running ones.
    fn forward(&self, pass: &mut Forward<'_>, x: Var, path: &str, _activation: Option<&Activation>) -> Var {
        let policy = pass.policy(self, path);
        let [mean, variance, seen] = [(); 3].map(|()| pass.numbered());
        let x = pass.masked(&x);
        let moments = if let Pass::Train { present, .. } = pass.mode {
            let batch = x.except(&ops::fused(&[present], |v| eq(v[0], 0.0)));
            let moments = Moments::of(&batch);
            remember(pass, &batch, &moments, [mean, variance, seen]);
            moments
        } else {
            let unseen = ops::fused(&[&seen.1], |v| le(v[0], 0.0));
            Moments { mean: Masked::from(&mean.1), variance: Masked::from(&variance.1).except(&unseen) }
        };
        let y = scm::with_gradient_policy(&scm::standardize(&x, &moments, self.epsilon), policy);
        pass.mask = Some(y.bottoms());
        y.value().clone()
    }

    fn bottoms(&self) -> Option<&'static str> {
        let reason = "a masked norm is ⊥ in a column of variance 0; end the model in a projective head, which can predict ⊥, or set its epsilon";
        (self.epsilon == 0.0).then_some(reason)
    }

    fn gradient_policy(&self) -> Option<(&'static str, Option<Policy>)> {
        Some(("scm_norm", self.policy))
    }
}

/// Updates the running statistics with a batch. The weight of a batch is its share of values that are not ⊥, and decays by `KEPT` with
/// each further batch; a column without a variance has weight 0.
fn remember(pass: &mut Forward<'_>, batch: &Masked, moments: &Moments, [mean, variance, seen]: [(usize, Var); 3]) {
    let rows = batch.shape().sizes()[0] as f32;
    let missing = ops::sum(&batch.bottoms(), 0..1);
    let share = ops::fused(&[&missing, &moments.variance.bottoms()], |v| (1.0 - v[0] / rows) * (1.0 - v[1]));
    let total =
        ops::fused(&[&seen.1, &share], |v| v[0] * KEPT + v[1] * (1.0 - KEPT) + select(gt(v[0], 0.0), LEAST, 0.0));
    let weight = ops::fused(&[&share, &total], |v| v[0] * (1.0 - KEPT) / select(gt(v[1], 0.0), v[1], 1.0));
    let mut note = |(parameter, before): (usize, Var), latest: &Var| {
        let value = ops::fused(&[&before, latest, &weight], |v| v[0] * (1.0 - v[2]) + v[1] * v[2]);
        pass.seen.push(RunningStats { parameter, value: ops::reshape(&value, before.shape()) });
    };
    note(mean, moments.mean.value());
    note(variance, moments.variance.value());
    pass.seen.push(RunningStats { parameter: seen.0, value: ops::reshape(&total, seen.1.shape()) });
}
