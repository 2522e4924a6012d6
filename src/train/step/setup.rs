//! Everything that the plans of a run are made from, and the loss of its rows.

use crate::autograd::Var;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::loss::{self, Compared, Loss};
use crate::model::{Batch, Network};
use crate::tensor::Tensor;
use crate::train::config::TrainerConfig;
use crate::train::data::Data;
use crate::train::fits::check_outputs;
use crate::train::groups::Groups;

/// The random stream of the pair loss's thresholds, far from those of dropout layers.
pub(crate) const TAU_STREAM: u32 = 1 << 20;

/// Everything that the plans are made from.
pub(crate) struct Setup<'a> {
    pub device: &'a Device,
    pub network: &'a Network,
    pub settings: &'a TrainerConfig,
    pub data: &'a Data,
    pub groups: &'a Groups,
    pub steps: usize,
    /// The seed of the model that is recorded.
    pub seed: u64,
    /// Whether a hook sees the gradients, which then are sums over rows.
    pub has_hook: bool,
}

impl Setup<'_> {
    /// That of one of several models.
    pub(crate) fn of_member(&self, member: usize) -> Self {
        Self { seed: self.settings.seed_of(member), ..*self }
    }

    /// The weighted sum of row losses and the sum of weights, both of shape [1]. `tau` gives the threshold of the pair loss in a range.
    pub(crate) fn loss_sums(
        &self,
        loss: &Loss,
        outputs: &[Var],
        batch: &Batch,
        tau: &dyn Fn([f32; 2]) -> Var,
    ) -> Result<(Var, Var)> {
        if let Some(sums) = self.network.own_loss(outputs, batch, self.settings.accumulate == 1 && !self.has_hook) {
            return sums;
        }
        let [z] = outputs else {
            let (name, count) = (loss.text(), outputs.len());
            return Err(Error::new(format!(
                "train: loss \"{name}\" needs one output: got {count}, expected 1, or a loss of the model's own (with_loss)"
            )));
        };
        let columns = z.shape().sizes()[1];
        if self.network.spec().is_none() {
            check_outputs(columns, self.settings, self.data)?;
        }
        let weights = class_weights(self.settings, loss.values(columns));
        let classes = Var::constant(Tensor::from_f32(self.device, [1, weights.len()], &weights)?);
        Ok(loss::sums(loss, &Compared { z, y: &batch.y, rows: &batch.weight, classes: &classes }, tau))
    }
}

/// A weight for each class: those of the configuration, or 1.
pub(crate) fn class_weights(settings: &TrainerConfig, classes: usize) -> Vec<f32> {
    if settings.class_weights.is_empty() { vec![1.0; classes] } else { settings.class_weights.clone() }
}
