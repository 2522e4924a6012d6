//! Mixed precision by the guide's names. A trainer has it on the device ([`MixedPrecision`]); the calls of [`AMPPolicy`] are for loops of one's own.

use super::arithmetic::update;
use super::value::AsVar;
use meromorph::autograd::Var;
use meromorph::error::{Error, Result};
use meromorph::ops;
use meromorph::tensor::{self, Tensor};
use meromorph::train::{Half, LossScaling, MixedPrecision};
use pollster::block_on;

/// The type that results are stored in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DType {
    /// 16 bits with 5 of exponent.
    Float16,
    /// 16 bits with 8 of exponent.
    BFloat16,
}

/// Configuration of mixed precision; the default is the guide's.
#[derive(Clone, Debug, PartialEq)]
pub struct AMPConfig {
    /// Whether anything is stored in 16 bits.
    pub enabled: bool,
    /// The first loss scale.
    pub initial_scale: f64,
    /// The smallest.
    pub min_scale: f64,
    /// The largest.
    pub max_scale: f64,
    /// Updates in a row after which it grows.
    pub growth_interval: u64,
    /// By this factor.
    pub growth_factor: f64,
    /// Its factor after an overflow.
    pub backoff_factor: f64,
    /// The type.
    pub target_dtype: DType,
    /// The most overflows in a row; one more is an error of [`AMPPolicy::scale_loss`]. A trainer goes on until the scale is at its smallest.
    pub max_consecutive_overflows: u64,
    /// Layers, kinds of layers and ops that stay in f32.
    pub fp32_operations: Vec<String>,
}

impl Default for AMPConfig {
    fn default() -> Self {
        let LossScaling { initial, growth, backoff, interval, least, most, .. } = LossScaling::default();
        Self {
            enabled: false,
            initial_scale: initial,
            min_scale: least,
            max_scale: most,
            growth_interval: interval,
            growth_factor: growth,
            backoff_factor: backoff,
            target_dtype: DType::Float16,
            max_consecutive_overflows: 5,
            fp32_operations: Vec::new(),
        }
    }
}

impl AMPConfig {
    /// The configuration for [`TrainerConfig::precision`](meromorph::train::TrainerConfig); `None` if it is not enabled.
    pub fn mixed_precision(&self) -> Option<MixedPrecision> {
        let (format, is_scaled) = match self.target_dtype {
            DType::Float16 => (Half::F16, true),
            DType::BFloat16 => (Half::Bf16, false),
        };
        let scale = LossScaling {
            initial: self.initial_scale,
            growth: self.growth_factor,
            backoff: self.backoff_factor,
            interval: self.growth_interval,
            least: self.min_scale,
            most: self.max_scale,
            ..LossScaling::default()
        };
        let mixed = MixedPrecision::new(format);
        self.enabled.then(|| MixedPrecision {
            keep_f32: self.fp32_operations.clone(),
            scale: is_scaled.then_some(scale),
            ..mixed
        })
    }
}

/// The state of a loss scale.
///
/// ```
/// use meromorph_tenflowers::{AMPConfig, AMPPolicy, GradientTape, TensorOps};
///
/// let config = AMPConfig { enabled: true, initial_scale: 1024.0, growth_interval: 1, ..AMPConfig::default() };
/// let mut policy = AMPPolicy::new(config);
/// let tape = GradientTape::new();
/// let w = tape.watch([1.0, 2.0]);
/// let loss = w.mul(&w)?;
/// let mut gradients = tape.gradient(&[policy.scale_loss(&loss)?], &[w])?;
/// if policy.unscale_and_check(&mut gradients)? {
///     assert_eq!(gradients[0].as_ref().unwrap().to_vec()?, [2.0, 4.0]);
///     policy.update_scale(false);
/// }
/// assert_eq!(policy.scale(), 2048.0);
/// # Ok::<(), meromorph::Error>(())
/// ```
pub struct AMPPolicy {
    config: AMPConfig,
    scale: f64,
    clean: u64,
    overflows: u64,
    /// Whether the last check found an overflow and has already lowered the scale.
    has_backed_off: bool,
}

impl AMPPolicy {
    /// With the first scale of a configuration.
    pub fn new(config: AMPConfig) -> Self {
        Self { scale: config.initial_scale, clean: 0, overflows: 0, has_backed_off: false, config }
    }

    /// The scale now; 1 if the configuration is not enabled, or stores bf16, whose range needs none.
    pub fn scale(&self) -> f64 {
        let is_scaled = self.config.enabled && self.config.target_dtype == DType::Float16;
        if is_scaled { self.scale } else { 1.0 }
    }

    /// The loss times the scale; its gradient can be taken. Errors after too many overflows in a row.
    pub fn scale_loss(&self, loss: &impl AsVar) -> Result<Var> {
        let most = self.config.max_consecutive_overflows;
        if self.overflows > most {
            let count = self.overflows;
            return Err(Error::new(format!("scale_loss: got {count} overflows in a row, expected at most {most}")));
        }
        let scale = self.scale() as f32;
        Ok(ops::fused(&[loss.var()], |v| v[0] * scale))
    }

    /// Divides gradients by the scale in place, and waits to know whether all are finite. If not, the scale is lowered at once, as the guide calls
    /// nothing then, and the step is to be left out.
    pub fn unscale_and_check<G>(&mut self, gradients: &mut [Option<G>]) -> Result<bool>
    where
        G: AsVar + From<Var>,
    {
        let share = self.scale().recip() as f32;
        let mut is_finite = true;
        for gradient in gradients.iter_mut().flatten() {
            let mut var = gradient.var().detach();
            // Its other handle goes, so that the numbers can be divided where they are.
            *gradient = Var::constant(Tensor::empty(var.value().device(), [0], tensor::DType::F32)).into();
            update("unscale_and_check", &mut var, &[], |v| v[0] * share)?;
            is_finite &= block_on(var.value().to_f32())?.iter().all(|value| value.is_finite());
            *gradient = var.into();
        }
        self.has_backed_off = false;
        if !is_finite {
            self.update_scale(true);
            self.has_backed_off = true;
        }
        Ok(is_finite)
    }

    /// Moves the scale after a step, or after an overflow that was not found by [`AMPPolicy::unscale_and_check`].
    pub fn update_scale(&mut self, found_inf: bool) {
        let AMPConfig { min_scale, max_scale, growth_interval, growth_factor, backoff_factor, .. } = self.config;
        if !self.config.enabled {
            return;
        }
        if found_inf {
            if !std::mem::take(&mut self.has_backed_off) {
                (self.scale, self.clean) = ((self.scale * backoff_factor).max(min_scale), 0);
                self.overflows += 1;
            }
            return;
        }
        (self.clean, self.overflows) = (self.clean + 1, 0);
        if self.clean >= growth_interval {
            (self.scale, self.clean) = ((self.scale * growth_factor).min(max_scale), 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GradientTape, TensorOps};

    #[test]
    fn an_overflow_lowers_the_scale_once_and_too_many_are_an_error() {
        let config =
            AMPConfig { enabled: true, initial_scale: 1024.0, max_consecutive_overflows: 1, ..AMPConfig::default() };
        let mut policy = AMPPolicy::new(config);
        let tape = GradientTape::new();
        let w = tape.watch([1e30]);
        let loss = w.mul(&w).unwrap();
        for (scale, is_last) in [(512.0, false), (256.0, true)] {
            let mut gradients = tape.gradient(&[policy.scale_loss(&loss).unwrap()], &[w]).unwrap();
            let infinite = tape.constant([1], &[f32::INFINITY]).unwrap();
            gradients[0] = Some(infinite.into());
            assert!(!policy.unscale_and_check(&mut gradients).unwrap());
            policy.update_scale(true);
            assert_eq!(policy.scale(), scale, "once for both calls");
            assert_eq!(policy.scale_loss(&loss).is_err(), is_last);
        }
    }
}
