//! Where numbers that are not finite come from: the first place on the way from the parameters to the gradients that has some. Rows are finite: a
//! trainer takes no others.

use std::fmt;

use super::trainer::Trainer;
use crate::autograd::Var;
use crate::error::Result;
use crate::nn::{Layout, layer_outputs};
use crate::tensor::Tensor;

/// Rows that are computed at a time.
const ROWS: usize = 4096;

/// The first place with numbers that are not finite.
#[derive(Clone, Debug, PartialEq)]
pub struct NotFinite {
    /// What kind of place it is.
    pub stage: Stage,
    /// Its name: a tensor such as `layers.0.weight`, or a layer such as `layers.2`.
    pub name: String,
    /// The share of its numbers that are not finite.
    pub share: f64,
}

/// A stage of a step, in the order in which they are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A tensor of parameters.
    Parameters,
    /// The values after a layer.
    Values,
    /// The gradient of a tensor: of those that are not finite, the one nearest to the loss.
    Gradients,
}

impl fmt::Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stage, name, share } = self;
        let percent = if *share < 1e-3 { "less than 0.1".to_owned() } else { format!("{:.1}", 100.0 * share) };
        match stage {
            Stage::Parameters => write!(f, "{name}: {percent} % of its numbers are not finite"),
            Stage::Values => {
                write!(f, "{name}: it is the first layer with values that are not finite, {percent} % of them")
            }
            Stage::Gradients => write!(f, "{name}: its gradient is the first that is not finite, {percent} % of it"),
        }
    }
}

fn share(values: &[f32]) -> Option<f64> {
    let bad = values.iter().filter(|value| !value.is_finite()).count();
    (bad > 0).then(|| bad as f64 / values.len() as f64)
}

impl Trainer {
    /// The first place with numbers that are not finite, for the weights that are evaluated (their mean if one is kept): parameters, values of training
    /// rows after a layer (of a `Spec`), or gradients of the last update, where they are watched. With
    /// [`GradientConfig::skips_overflow`](super::GradientConfig) the weights stay as they were before such an update, so that its cause is found.
    pub async fn first_not_finite(&self) -> Result<Option<NotFinite>> {
        let found = |stage, name: &str, share| Ok(Some(NotFinite { stage, name: name.to_owned(), share }));
        let parameters = self.parameters().await?;
        let layout = self.network.layout();
        for parameter in &layout.parameters {
            if let Some(share) = share(layout.slice(parameter, &parameters)) {
                return found(Stage::Parameters, &parameter.name, share);
            }
        }
        if let Some((at, share)) = self.first_layer(layout, &parameters).await? {
            return found(Stage::Values, &format!("layers.{at}"), share);
        }
        if self.state.sums.is_none() || self.steps_done() == 0 {
            return Ok(None);
        }
        let gradients = self.gradient_flow().await?;
        let Some(last) = gradients.iter().rfind(|gradient| gradient.not_finite > 0) else { return Ok(None) };
        let count = layout.parameters.iter().find(|known| known.name == last.name).map_or(1, |known| known.shape.len());
        found(Stage::Gradients, &last.name, last.not_finite as f64 / count as f64)
    }

    /// The first layer after which training rows have values that are not finite, and their share; `None` for a function model.
    async fn first_layer(&self, layout: &Layout, parameters: &[f32]) -> Result<Option<(usize, f64)>> {
        let Some(spec) = self.network.spec() else { return Ok(None) };
        let flat = self.device.upload(bytemuck::cast_slice(parameters))?;
        let leaves: Vec<Var> = layout.leaves(&self.device, &flat).iter().map(Var::detach).collect();
        let mut counts = vec![[0_usize; 2]; spec.layers.len()];
        for part in self.data.train.x.chunks(ROWS * spec.inputs) {
            let x = Tensor::from_f32(&self.device, [part.len() / spec.inputs, spec.inputs], part)?;
            for (count, values) in counts.iter_mut().zip(layer_outputs(spec, &leaves, &Var::constant(x))) {
                let values = values.value().to_f32().await?;
                count[0] += values.iter().filter(|value| !value.is_finite()).count();
                count[1] += values.len();
            }
        }
        let first = counts.iter().position(|[bad, _]| *bad > 0);
        Ok(first.map(|at| (at, counts[at][0] as f64 / counts[at][1] as f64)))
    }
}
