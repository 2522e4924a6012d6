//! Everything that the plans of a run are made from, and what it allows.

use std::rc::Rc;

use super::config::{StepKind, TrainerConfig};
use super::data::Data;
use super::gradients::Groups;
use super::layers::Layers;
use super::step::State;
use crate::autograd::Var;
use crate::device::{Choice, Device, Label, Passes, View};
use crate::error::{Error, Result};
use crate::kernels::mlp::{self, Mlp};
use crate::kernels::optimise::SCALE_AT;
use crate::loss::{self, Loss};
use crate::model::{Batch, Network};
use crate::ops;
use crate::tensor::Tensor;

/// Everything that the plans are made from.
pub(crate) struct Setup<'a> {
    pub device: &'a Device,
    pub network: &'a Network,
    pub settings: &'a TrainerConfig,
    pub data: &'a Data,
    pub groups: &'a Groups,
    pub steps: usize,
}

impl Setup<'_> {
    /// The model in the form of the fused step, if that takes model and loss. Errors if it does not but the configuration demands it.
    pub(crate) fn fused(&self) -> Result<Option<Mlp>> {
        let settings = self.settings;
        if settings.step == Some(StepKind::Fused) && self.needs_own_norms() {
            return Err(Error::usage(
                "train: freeze: the fused step takes norms over frozen parameters as well: expected the recorded step",
            ));
        }
        let info = self.device.info();
        let mlp =
            self.network.spec().and_then(|spec| Mlp::of(spec, self.network.layout())).filter(|mlp| mlp.fits(info));
        let is_model_fine = mlp.is_some();
        let widest = settings.curriculum.widest(&settings.loss).objective();
        let is_taken = |mlp: &Mlp| widest.as_ref().is_some_and(|widest| mlp.takes(widest));
        let taken = mlp.filter(|mlp| !self.network.has_own_loss() && is_taken(mlp));
        if settings.step != Some(StepKind::Fused) || taken.is_some() {
            return Ok(taken);
        }
        if widest.is_none() && !matches!(settings.loss, Loss::Pairs(_)) {
            let name = settings.loss.text();
            return Err(Error::usage(format!(
                "train: step: the fused step does not take loss \"{name}\": expected the recorded step"
            )));
        }
        Err(Error::new(if is_model_fine {
            "train: the fused step takes losses of pairs row by row; the terms bottom, finite and coverage are over groups of rows and need the recorded step".to_owned()
        } else {
            let widest = mlp::max_width(info);
            format!(
                "train: the fused step takes linear layers up to {widest} wide with one activation between them and maybe a projective head on top; this model needs the recorded step"
            )
        }))
    }

    /// The passes over a recorded step.
    pub(crate) fn passes(&self) -> Result<Passes> {
        let layers = Layers::of(self.network);
        let names = layers.named(&self.settings.recompute_layers, "recompute_layers")?;
        let drops: Option<Choice> = match &names[..] {
            [] => None,
            _ => Some(Rc::new(move |label: &Label, _| layers.has(&names, label))),
        };
        let halves = match &self.settings.precision {
            None => None,
            Some(precision) => {
                precision.storage(self.device.info())?;
                Some(precision.halves(self.network)?)
            }
        };
        Ok(Passes { recompute: self.settings.recompute, drops, halves, ..Passes::default() })
    }

    /// The loss times its scale, which the update divides by again.
    pub(crate) fn scaled(&self, loss: &Var, state: &State) -> Result<Var> {
        let Some(scale) = self.settings.loss_scale() else { return Ok(loss.clone()) };
        let offset = self.settings.update_state_at(self.network.layout());
        let words = View { buffer: state.moments.clone(), offset, words: 2 * SCALE_AT };
        let words = Var::constant(Tensor::over(self.device, words, [2 * SCALE_AT, 1]));
        let at = Tensor::from_u32(self.device, [1], &[SCALE_AT as u32])?;
        let factor = ops::reshape(&ops::take_rows(&words, &at), [1]);
        Ok(ops::fused(&[loss, &factor], |v| v[0] * v[1] * scale.rows.recip()))
    }

    /// Whether norms are taken of some of the gradients only: the fused step computes those of frozen parameters, too.
    pub(crate) fn needs_own_norms(&self) -> bool {
        let gradients = &self.settings.gradients;
        let has_norms = gradients.bounds(1).needs_fold() || gradients.sharpness.is_some();
        has_norms && self.groups.frozen.contains(&true)
    }

    /// The weighted sum of row losses and the sum of weights, both of shape [1]. `tau` gives the threshold of the pair loss in a range.
    pub(crate) fn loss_sums(
        &self,
        loss: &Loss,
        outputs: &[Var],
        batch: &Batch,
        tau: &dyn Fn([f32; 2]) -> Var,
    ) -> Result<(Var, Var)> {
        if let Some(sums) = self.network.own_loss(outputs, batch, self.settings.accumulate == 1) {
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
            self.data.fits_outputs(columns, self.settings)?;
        }
        let weights = class_weights(self.settings, columns);
        let classes = Var::constant(Tensor::from_f32(self.device, [1, columns], &weights)?);
        Ok(loss::sums(loss, z, &batch.y, &batch.weight, &classes, tau))
    }
}

/// A weight for each class: those of the configuration, or 1.
pub(crate) fn class_weights(settings: &TrainerConfig, classes: usize) -> Vec<f32> {
    if settings.class_weights.is_empty() { vec![1.0; classes] } else { settings.class_weights.clone() }
}
