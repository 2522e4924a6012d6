//! Mixed precision by the guide's names. A trainer has it on the device ([`MixedPrecision`]); the calls of [`AMPPolicy`] are for loops of one's own.

use meromorph::autograd::Var;
use meromorph::error::{Error, Result};
use meromorph::ops;
use meromorph::train::{Half, LossScaling, MixedPrecision};

/// The type that results are stored in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetDtype {
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
    pub target_dtype: TargetDtype,
    /// The most overflows in a row; one more is an error of [`AMPPolicy::update_scale`]. A trainer goes on until the scale is at its smallest.
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
            target_dtype: TargetDtype::Float16,
            max_consecutive_overflows: 5,
            fp32_operations: Vec::new(),
        }
    }
}

impl AMPConfig {
    /// The configuration for [`TrainerConfig::precision`](meromorph::train::TrainerConfig); `None` if it is not enabled.
    pub fn mixed_precision(&self) -> Option<MixedPrecision> {
        let (format, is_scaled) = match self.target_dtype {
            TargetDtype::Float16 => (Half::F16, true),
            TargetDtype::BFloat16 => (Half::Bf16, false),
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
/// use meromorph_tenflowers::{AMPConfig, AMPPolicy, GradientTape};
/// use meromorph::prelude::*;
///
/// let config = AMPConfig { enabled: true, initial_scale: 1024.0, growth_interval: 1, ..AMPConfig::default() };
/// let mut policy = AMPPolicy::new(config);
/// let tape = GradientTape::new();
/// let w = tape.watch(Tensor::from_f32(tape.device(), [2], &[1.0, 2.0])?);
/// let loss = policy.scale_loss(&ops::sum(&ops::mul(&w, &w), 0..1));
/// let mut gradients = tape.gradient(&[loss], &[&w])?;
/// let found_inf = !pollster::block_on(policy.unscale_and_check(&mut gradients))?;
/// assert!(!found_inf);
/// assert_eq!(pollster::block_on(gradients[0].as_ref().unwrap().value().to_f32())?, [2.0, 4.0]);
/// policy.update_scale(found_inf)?;
/// assert_eq!(policy.scale(), 2048.0);
/// policy.update_scale(true)?;
/// assert_eq!(policy.scale(), 1024.0);
/// # Ok::<(), Error>(())
/// ```
pub struct AMPPolicy {
    config: AMPConfig,
    scale: f64,
    clean: u64,
    overflows: u64,
}

impl AMPPolicy {
    /// With the first scale of a configuration.
    pub fn new(config: AMPConfig) -> Self {
        Self { scale: config.initial_scale, clean: 0, overflows: 0, config }
    }

    /// The scale now; 1 if the configuration is not enabled.
    pub fn scale(&self) -> f64 {
        if self.config.enabled { self.scale } else { 1.0 }
    }

    /// The loss times the scale; its gradient can be taken.
    pub fn scale_loss(&self, loss: &Var) -> Var {
        let scale = self.scale() as f32;
        ops::fused(&[loss], |v| v[0] * scale)
    }

    /// Divides gradients by the scale, and waits to know whether all are finite.
    pub async fn unscale_and_check(&self, gradients: &mut [Option<Var>]) -> Result<bool> {
        let share = self.scale().recip() as f32;
        let mut is_finite = true;
        for gradient in gradients.iter_mut().flatten() {
            *gradient = ops::fused(&[&*gradient], |v| v[0] * share);
            is_finite &= gradient.value().to_f32().await?.iter().all(|value| value.is_finite());
        }
        Ok(is_finite)
    }

    /// Moves the scale after a step. Errors after too many overflows in a row.
    pub fn update_scale(&mut self, found_inf: bool) -> Result<()> {
        let AMPConfig {
            min_scale,
            max_scale,
            growth_interval,
            growth_factor,
            backoff_factor,
            max_consecutive_overflows,
            ..
        } = self.config;
        if !self.config.enabled {
            return Ok(());
        }
        if found_inf {
            (self.scale, self.clean) = ((self.scale * backoff_factor).max(min_scale), 0);
            self.overflows += 1;
            if self.overflows > max_consecutive_overflows {
                let count = self.overflows;
                return Err(Error::new(format!(
                    "update_scale: got {count} overflows in a row, expected at most {max_consecutive_overflows}"
                )));
            }
            return Ok(());
        }
        (self.clean, self.overflows) = (self.clean + 1, 0);
        if self.clean >= growth_interval {
            (self.scale, self.clean) = ((self.scale * growth_factor).min(max_scale), 0);
        }
        Ok(())
    }
}
