//! How the learning rate changes over training.

use crate::host;
use crate::record;

/// A schedule: a linear warm-up over steps, then a shape over epochs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// Steps over which the rate rises linearly from 1/n of its value.
    pub warmup_steps: u64,
    /// The shape after the warm-up.
    pub shape: ScheduleShape,
}

record! { Schedule { warmup_steps, shape } }

/// Factor of the base rate, constant within an epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScheduleShape {
    /// 1 throughout.
    Constant,
    /// Times `factor` every `every` epochs.
    Step {
        /// Epochs between drops.
        every: usize,
        /// Factor of a drop.
        factor: f64,
    },
    /// (1 + cos(π e / E)) / 2 over E epochs (Loshchilov and Hutter 2017), down to `floor`.
    Cosine {
        /// Smallest factor.
        floor: f64,
    },
    /// Times `factor` after `patience` epochs without improvement.
    Plateau {
        /// Epochs without improvement before a drop.
        patience: usize,
        /// Factor of a drop.
        factor: f64,
    },
}

record! { enum ScheduleShape { Constant, Step { every, factor }, Cosine { floor }, Plateau { patience, factor } } }

impl Schedule {
    /// The base rate throughout.
    pub const CONSTANT: Self = Self { warmup_steps: 0, shape: ScheduleShape::Constant };
    /// A half cosine that ends at zero.
    pub const COSINE: Self = Self { warmup_steps: 0, shape: ScheduleShape::Cosine { floor: 0.0 } };

    /// The factor at `step` (0-based) in `epoch` (0-based) of `epochs`, after `drops` plateaus.
    pub fn factor(&self, step: u64, epoch: usize, epochs: usize, drops: u32) -> f64 {
        let shape = match self.shape {
            ScheduleShape::Constant => 1.0,
            ScheduleShape::Step { every, factor } => host::pow(factor, (epoch / every.max(1)) as f64),
            ScheduleShape::Cosine { floor } => {
                let angle = std::f64::consts::PI * epoch as f64 / epochs.max(1) as f64;
                floor + (1.0 - floor) * 0.5 * (1.0 + host::cos(angle))
            }
            ScheduleShape::Plateau { factor, .. } => host::pow(factor, f64::from(drops)),
        };
        let warmup = if step < self.warmup_steps { (step + 1) as f64 / self.warmup_steps as f64 } else { 1.0 };
        shape * warmup
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_follow_their_formulas() {
        let cosine = Schedule::COSINE;
        assert!((cosine.factor(0, 0, 200, 0) - 1.0).abs() < 1e-15);
        assert!((cosine.factor(0, 100, 200, 0) - 0.5).abs() < 1e-12);
        let step = Schedule { warmup_steps: 4, shape: ScheduleShape::Step { every: 10, factor: 0.1 } };
        assert!((step.factor(0, 0, 50, 0) - 0.25).abs() < 1e-15, "a quarter of the way up");
        assert!((step.factor(100, 25, 50, 0) - 0.01).abs() < 1e-15, "two drops");
        let plateau = Schedule { warmup_steps: 0, shape: ScheduleShape::Plateau { patience: 3, factor: 0.5 } };
        assert!((plateau.factor(9, 9, 50, 2) - 0.25).abs() < 1e-15);
    }
}
