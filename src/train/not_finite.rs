//! Where numbers that are not finite come from: the first place on the way from the parameters to the gradients that has some. Rows are finite: a
//! trainer takes no others.

use std::fmt;

use super::flow::TensorGradient;
use crate::autograd::Var;
use crate::device::{Device, View};
use crate::error::Result;
use crate::model::Network;
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

impl NotFinite {
    fn new(stage: Stage, name: &str, share: f64) -> Self {
        Self { stage, name: name.to_owned(), share }
    }

    /// The first tensor of parameters that has some.
    pub(crate) fn in_parameters(layout: &Layout, parameters: &[f32]) -> Option<Self> {
        let mut tensors = layout.parameters.iter();
        tensors.find_map(|tensor| {
            share(layout.slice(tensor, parameters)).map(|share| Self::new(Stage::Parameters, &tensor.name, share))
        })
    }

    /// The first layer after which rows [rows, inputs] have some; `None` for a function model.
    pub(crate) async fn in_values(
        device: &Device,
        network: &Network,
        parameters: &View,
        x: &[f32],
    ) -> Result<Option<Self>> {
        let Some(spec) = network.spec() else { return Ok(None) };
        let leaves: Vec<Var> = network.layout().leaves(device, parameters).iter().map(Var::detach).collect();
        let mut counts = vec![[0_usize; 2]; spec.layers.len()];
        for part in x.chunks(ROWS * spec.inputs) {
            let x = Tensor::from_f32(device, [part.len() / spec.inputs, spec.inputs], part)?;
            for (count, values) in counts.iter_mut().zip(layer_outputs(spec, &leaves, &Var::constant(x))) {
                let values = values.value().to_f32().await?;
                count[0] += values.iter().filter(|value| !value.is_finite()).count();
                count[1] += values.len();
            }
        }
        let first = counts.iter().position(|[bad, _]| *bad > 0);
        let named = |at: usize| {
            let [bad, all] = counts[at];
            Self::new(Stage::Values, &format!("layers.{at}"), bad as f64 / all as f64)
        };
        Ok(first.map(named))
    }

    /// The gradient nearest to the loss that has some.
    pub(crate) fn in_gradients(layout: &Layout, gradients: &[TensorGradient]) -> Option<Self> {
        let last = gradients.iter().rfind(|gradient| gradient.not_finite > 0)?;
        let count = layout.parameters.iter().find(|known| known.name == last.name).map_or(1, |known| known.shape.len());
        Some(Self::new(Stage::Gradients, &last.name, last.not_finite as f64 / count as f64))
    }
}
