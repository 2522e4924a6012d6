//! The default model is a blend, z = a [(1 - w) network + w linear], as no table is then much worse than a linear model makes it. The linear
//! model is fitted to the training rows without their bins; the share w, and for classes the sharpness a = 1 / temperature (Guo et al. 2017),
//! come from the validation rows, which the weights of neither have seen. The blend is one perceptron ([`beside`]), so that whatever takes a model
//! takes it.

mod beside;
mod goal;
mod linear;

use crate::error::Result;
use crate::model::Model;
use crate::record;
use crate::table::Preparation;
use crate::train::Trainer;
use beside::beside;
use goal::Goal;
use linear::{Linear, MOST_VALUES};

/// How the outputs of a network and of a linear model become those of one model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blend {
    /// The share of the linear model, from 0 to 1.
    pub linear: f64,
    /// What the logits of classes are multiplied by, so that confidence is near accuracy; 1 for numbers.
    pub sharpness: f64,
}

record! { Blend { linear, sharpness } }

/// Keeps a few validation rows from saying much. A share of ½ and a sharpness of 1 cost nothing; another one costs this times the square of its
/// difference, in units of the loss of one row. By measurement on some forty tables (docs/PERFORMANCE.md).
const PRIOR: f64 = 10.0;
/// The largest sharpness, and the reciprocal of the smallest.
const SHARPEST: f64 = 4.0;
/// Halvings of the interval that a share or a sharpness is searched in.
const HALVINGS: u32 = 30;

/// The model of a trainer, and the blend that it is; `None` if the run asks for none, its loss is another one, there are no validation rows, or
/// the table is so large that a network does not need it.
pub(super) async fn blended(trainer: &Trainer, preparation: Option<Preparation>) -> Result<(Model, Option<Blend>)> {
    let (spec, settings, data) = (trainer.spec()?.clone(), trainer.settings(), trainer.data());
    let (loss, parameters) = (settings.loss.clone(), trainer.parameters().await?);
    let plain: Vec<usize> = preparation.as_ref().map(Preparation::plain_inputs).unwrap_or_default();
    let goal = Goal::of(&loss, spec.outputs()?, &settings.class_weights).filter(|_| settings.blends);
    let fits = |goal: &Goal<'_>| data.train.y.len() * plain.len() * goal.outputs() <= MOST_VALUES;
    let Some(goal) = goal.filter(|goal| !data.validation.y.is_empty() && !plain.is_empty() && fits(goal)) else {
        return Ok((Model::new(spec, loss, parameters, preparation), None));
    };
    let linear = Linear::fit(&data.train, data.inputs, plain, &goal).await?;
    let network: Vec<f64> = trainer.predict(&data.validation.x).await?.into_iter().map(f64::from).collect();
    let blend = goal.blend(&network, &linear.outputs(&data.validation.x), &data.validation.y);
    Ok(match beside(&spec, &parameters, &linear, blend) {
        Some((spec, parameters)) => (Model::new(spec, loss, parameters, preparation), Some(blend)),
        None => (Model::new(spec, loss, parameters, preparation), None),
    })
}

impl Goal<'_> {
    /// The blend that fits these rows best, from the outputs [rows, outputs] of both models for them.
    fn blend(&self, network: &[f64], linear: &[f64], y: &[f32]) -> Blend {
        let both = || network.chunks_exact(self.outputs()).zip(linear.chunks_exact(self.outputs())).zip(y);
        // A row of numbers counts as much as its squared error does beside the network's mean one.
        let unit = self.unit(network, y);
        let mut z = vec![0.0; self.outputs()];
        let share = root([0.0, 1.0], |share| {
            let slopes = both().map(|((network, linear), y)| {
                mix(&mut z, network, linear, share);
                self.residuals(&mut z, *y);
                let slope = |((r, linear), network): ((&f64, &f64), &f64)| r * (linear - network);
                z.iter().zip(linear).zip(network).map(slope).sum::<f64>()
            });
            slopes.sum::<f64>() / unit + 2.0 * PRIOR * (share - 0.5)
        });
        if self.is_numbers() {
            return Blend { linear: share, sharpness: 1.0 };
        }
        let mut logits = z.clone();
        let sharpness = root([1.0 / SHARPEST, SHARPEST], |sharpness| {
            let slopes = both().map(|((network, linear), y)| {
                mix(&mut logits, network, linear, share);
                z.iter_mut().zip(&logits).for_each(|(z, logit)| *z = sharpness * logit);
                self.residuals(&mut z, *y);
                z.iter().zip(&logits).map(|(r, logit)| r * logit).sum::<f64>()
            });
            slopes.sum::<f64>() + 2.0 * PRIOR * (sharpness - 1.0)
        });
        Blend { linear: share, sharpness }
    }
}

fn mix(z: &mut [f64], network: &[f64], linear: &[f64], share: f64) {
    let each = network.iter().zip(linear).map(|(network, linear)| (1.0 - share) * network + share * linear);
    z.iter_mut().zip(each).for_each(|(z, value)| *z = value);
}

/// Where an ascending function is 0 in an interval, or the end that is nearer.
fn root([mut low, mut high]: [f64; 2], mut slope: impl FnMut(f64) -> f64) -> f64 {
    if slope(low) >= 0.0 {
        return low;
    }
    if slope(high) <= 0.0 {
        return high;
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        *if slope(middle) < 0.0 { &mut low } else { &mut high } = middle;
    }
    0.5 * (low + high)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
