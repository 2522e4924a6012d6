//! The values after each activation of a trained model, on training rows.

use super::flow_issues::ActivationFlow;
use super::trainer::Trainer;
use crate::autograd::Var;
use crate::error::Result;
use crate::nn::layer_outputs;
use crate::tensor::Tensor;

/// Rows that are looked at.
const ROWS: usize = 1024;

impl Trainer {
    /// How the values after each activation of a `Spec` lie, on the first training rows and for the weights that are evaluated; of several models, of the
    /// first. Empty for a function model.
    pub async fn activation_flow(&self) -> Result<Vec<ActivationFlow>> {
        let Some(spec) = self.network().spec() else { return Ok(Vec::new()) };
        let flat = self.learners[0].evaluated()?;
        let layout = self.network().layout();
        let leaves: Vec<Var> = layout.leaves(self.device(), flat).iter().map(Var::detach).collect();
        let train = &self.data().train.x;
        let x = &train[..train.len().min(ROWS * spec.inputs)];
        let x = Var::constant(Tensor::from_f32(self.device(), [x.len() / spec.inputs, spec.inputs], x)?);
        let mut flows = Vec::new();
        for (at, (layer, values)) in spec.layers.iter().zip(layer_outputs(spec, &leaves, &x)).enumerate() {
            let Some(activation) = layer.as_kind().activation() else { continue };
            let units = values.shape().sizes().last().copied().unwrap_or(1);
            let values = values.value().to_f32().await?;
            flows.push(ActivationFlow::of(format!("layers.{at}"), &activation.curve().value, &values, units));
        }
        Ok(flows)
    }
}
