//! The tape of the guide: values are tracked from `watch` on, and `gradient` may be called any number of times.

use std::borrow::Borrow;

use meromorph::autograd::Var;
use meromorph::device::Device;
use meromorph::error::{Error, Result};
use meromorph::ops;
use meromorph::tensor::Tensor;

/// Tracks values on a device. Ops on constants are not recorded, and what nothing refers to is freed, so a tape needs no clearing.
///
/// ```
/// use meromorph_tenflowers::GradientTape;
/// use meromorph::prelude::*;
///
/// let tape = GradientTape::new();
/// let x = tape.watch(Tensor::from_f32(tape.device(), [3], &[1.0, 2.0, 3.0])?);
/// let loss = ops::sum(&ops::mul(&x, &x), 0..1);
/// let gradients = tape.gradient(&[&loss], &[&x])?;
/// assert_eq!(pollster::block_on(gradients[0].as_ref().unwrap().value().to_f32())?, [2.0, 4.0, 6.0]);
/// // `loss` and `x` can be used again, and so can the tape.
/// let again = tape.gradient(&[loss], &[x])?;
/// assert!(again[0].is_some());
/// # Ok::<(), Error>(())
/// ```
pub struct GradientTape {
    device: Device,
}

impl GradientTape {
    /// A tape on the CPU, with one thread.
    #[expect(clippy::new_without_default, reason = "opening a device is not a default")]
    pub fn new() -> Self {
        Self::on(&Device::cpu(1))
    }

    /// A tape on a device.
    pub fn on(device: &Device) -> Self {
        Self { device: device.clone() }
    }

    /// Its device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// A value whose gradient can be computed.
    pub fn watch(&self, value: Tensor) -> Var {
        Var::leaf(value)
    }

    /// Gradients of the sum of all targets with respect to each source; `None` where no path leads there. Errors if an op on the way has no
    /// gradient.
    pub fn gradient(&self, targets: &[impl Borrow<Var>], sources: &[impl Borrow<Var>]) -> Result<Vec<Option<Var>>> {
        let sums = targets.iter().map(|target| ops::sum_to(target.borrow(), &[1].into()));
        let total = sums.reduce(|total, sum| ops::add(&total, &sum));
        let total = total.ok_or_else(|| Error::usage("gradient: got no targets, expected at least one"))?;
        ops::grad(&total, &sources.iter().map(Borrow::borrow).collect::<Vec<&Var>>())
    }
}
