//! What happens between the gradients of a step and its update: limits, groups of parameters with rates of their own, a mean of the weights, a look
//! at sharper places.

use crate::error::{Error, Result};
use crate::host::number;
use crate::kernels::optimise::{GradientBounds, Limit};
use crate::nn::Parameter;
use crate::record;

/// What happens between the gradients of a step and its update.
#[derive(Clone, Debug, PartialEq)]
pub struct GradientConfig {
    /// How the norm of the gradient is limited.
    pub clip: Option<Clip>,
    /// The largest size of each gradient, after that.
    pub clip_value: Option<f64>,
    /// Whether an update whose gradient is not finite is left out; otherwise it ends the run. The schedule does not see updates that were left out.
    pub skips_overflow: bool,
    /// Whether norms are computed although nothing needs them, for [`Trainer::gradient_flow`](crate::train::Trainer::gradient_flow).
    pub watches: bool,
    /// Parameters with rates of their own. The first group with a name of a parameter counts.
    pub groups: Vec<ParameterGroup>,
    /// Whether biases and scales of norms, which are vectors, decay as well.
    pub decays_vectors: bool,
    /// The decay in an update of an exponential mean of the weights, which is then evaluated and kept instead of the weights.
    pub mean_decay: Option<f64>,
    /// The distance from the weights, against the gradient, at which the gradient of the update is taken (sharpness-aware minimisation, Foret et al. 2021).
    pub sharpness: Option<f64>,
}

record! {
    GradientConfig {
        clip = None, clip_value = None, skips_overflow = false, watches = false, groups = Vec::new(), decays_vectors = true, mean_decay = None, sharpness = None,
    }
}

/// How the norm of the gradient is limited. A gradient that is too long keeps its direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clip {
    /// The norm of all gradients together is at most this (Pascanu, Mikolov and Bengio 2013).
    Norm {
        /// The most.
        most: f64,
    },
    /// The norm of each tensor's gradient is at most this.
    Tensor {
        /// The most.
        most: f64,
    },
    /// The norm of all is at most the mean of the norms of past updates and so many of their standard deviations; `most` for the first ten.
    Adaptive {
        /// Standard deviations.
        deviations: f64,
        /// The most for the first ten updates.
        most: f64,
    },
}

record! { enum Clip { Norm { most }, Tensor { most }, Adaptive { deviations, most } } }

/// Parameters with rates of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterGroup {
    /// Names of parameters, of layers, or ends of names: `layers.0.weight`, `layers.0`, `bias`.
    pub parameters: Vec<String>,
    /// Times the learning rate.
    pub rate: f64,
    /// Their weight decay, if it is not that of the optimiser.
    pub weight_decay: Option<f64>,
    /// Whether they stay as they are.
    pub is_frozen: bool,
}

record! { ParameterGroup { parameters, rate = 1.0, weight_decay = None, is_frozen = false } }

impl ParameterGroup {
    /// Parameters that stay as they are.
    pub fn frozen(parameters: &[&str]) -> Self {
        let parameters = parameters.iter().map(|&name| name.to_owned()).collect();
        Self { parameters, rate: 1.0, weight_decay: None, is_frozen: true }
    }

    pub(crate) fn has(&self, parameter: &Parameter) -> bool {
        self.parameters.iter().any(|name| is_meant(name, parameter))
    }
}

/// Whether a name is a parameter's, that of its layer, or the end of its name.
pub(crate) fn is_meant(name: &str, parameter: &Parameter) -> bool {
    let full = parameter.name.as_str();
    full == name
        || full.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
        || full.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'))
}

/// Nothing is limited, and every parameter decays.
impl Default for GradientConfig {
    fn default() -> Self {
        Self {
            clip: None,
            clip_value: None,
            skips_overflow: false,
            watches: false,
            groups: Vec::new(),
            decays_vectors: true,
            mean_decay: None,
            sharpness: None,
        }
    }
}

impl GradientConfig {
    /// Errors if a setting is out of range; messages use the user's names.
    pub(crate) fn check(&self, accumulate: usize) -> Result<()> {
        let is_positive = |value: f64| value.is_finite() && value > 0.0;
        let (most, deviations) = match self.clip {
            Some(Clip::Norm { most } | Clip::Tensor { most }) => (most, 1.0),
            Some(Clip::Adaptive { deviations, most }) => (most, deviations),
            None => (1.0, 1.0),
        };
        let positive = [
            ("clip", Some(most)),
            ("clip_adaptive", Some(deviations)),
            ("clip_value", self.clip_value),
            ("sharpness", self.sharpness),
        ];
        for (name, value) in positive {
            if let Some(value) = value.filter(|value| !is_positive(*value)) {
                let got = number(value);
                return Err(Error::usage(format!("train: {name}: got {got}, expected a finite number above 0")));
            }
        }
        if let Some(decay) = self.mean_decay.filter(|decay| !(0.0..1.0).contains(decay)) {
            let got = number(decay);
            return Err(Error::usage(format!("train: mean_decay: got {got}, expected a number from 0 to below 1")));
        }
        if self.sharpness.is_some() && accumulate > 1 {
            return Err(Error::usage(format!(
                "train: sharpness: got {accumulate} steps for an update (accumulate), expected 1"
            )));
        }
        let is_rate = |group: &ParameterGroup| {
            is_positive(group.rate) && group.weight_decay.is_none_or(|decay| decay.is_finite() && decay >= 0.0)
        };
        if let Some(group) = self.groups.iter().find(|group| !is_rate(group)) {
            let (names, rate) = (group.parameters.join(", "), number(group.rate));
            return Err(Error::usage(format!(
                "train: the group of {names}: got a rate of {rate}, expected finite numbers, the rate above 0 and the weight decay at least 0"
            )));
        }
        Ok(())
    }

    /// Whether `fold` sums gradients and takes their norms before the update.
    pub(crate) fn bounds(&self, accumulate: usize) -> GradientBounds {
        let limit = match self.clip {
            None => Limit::None,
            Some(Clip::Norm { most }) => Limit::Norm(most as f32),
            Some(Clip::Tensor { most }) => Limit::Tensor(most as f32),
            Some(Clip::Adaptive { deviations, most }) => {
                Limit::Adaptive { deviations: deviations as f32, most: most as f32 }
            }
        };
        let largest = self.clip_value.map(|value| value as f32);
        let is_summed = accumulate > 1 || self.watches;
        GradientBounds { limit, largest, skips: self.skips_overflow, is_summed, scale: None }
    }
}
