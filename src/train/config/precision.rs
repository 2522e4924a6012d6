//! Mixed precision: what the layers of a recorded step keep for its backward pass, and their gradients, are stored in 16 bits. Each launch computes in
//! f32; weights, sums over rows and the optimiser stay in f32 (Micikevicius et al. 2018). Gradients that f16 cannot hold make a loss scale fall, and
//! their update is left out.

use crate::device::Info;
use crate::error::{Error, Result};
use crate::host::number;
use crate::kernels::halves::Half;
use crate::kernels::optimise;
use crate::optim::{Motion, Optimizer};
use crate::record;

/// What a step stores in 16 bits.
#[derive(Clone, Debug, PartialEq)]
pub struct MixedPrecision {
    /// The format.
    pub format: Half,
    /// Layers such as `layers.2`, kinds of layers such as `linear`, and ops such as `map` whose results stay in f32.
    pub keep_f32: Vec<String>,
    /// The same for results that are stored in 16 bits although others of their kind are not.
    pub keep_half: Vec<String>,
    /// How the loss is scaled; it need not be in bf16, which holds what f32 holds.
    pub scale: Option<LossScaling>,
    /// Whether a device without a type for the format is refused. Others pack two numbers in a word.
    pub is_strict: bool,
}

record! { MixedPrecision { format, keep_f32 = Vec::new(), keep_half = Vec::new(), scale, is_strict = false } }
record! { enum Half { F16, Bf16 } }

/// How the loss is scaled, relative to the mean over the rows of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossScaling {
    /// The first factor.
    pub initial: f64,
    /// What it is multiplied by after `interval` updates in a row.
    pub growth: f64,
    /// What it is multiplied by after an update that was left out.
    pub backoff: f64,
    /// Updates in a row after which it grows.
    pub interval: u64,
    /// The smallest factor.
    pub least: f64,
    /// The largest.
    pub most: f64,
    /// What a step's loss is divided by besides, a power of two: about the rows that it is a sum over. A trainer sets it.
    pub rows: f64,
}

// The rows are those of a step, which a resumed run counts again.
record! { LossScaling { initial, growth, backoff, interval, least, most } else { rows } }

/// The usual values.
impl Default for LossScaling {
    fn default() -> Self {
        let most = 4_294_967_296.0;
        Self { initial: 65_536.0, growth: 2.0, backoff: 0.5, interval: 2000, least: 1.0, most, rows: 1.0 }
    }
}

impl MixedPrecision {
    /// The usual settings for a format.
    pub fn new(format: Half) -> Self {
        let scale = (format == Half::F16).then(LossScaling::default);
        Self { format, keep_f32: Vec::new(), keep_half: Vec::new(), scale, is_strict: false }
    }

    /// Errors if the configuration contradicts itself; messages use the user's names.
    pub(crate) fn check(&self, optimizer: &Optimizer) -> Result<()> {
        let refused = |text: String| Err(Error::usage(format!("train: {text}")));
        let name = self.name();
        if let Some(both) = self.keep_f32.iter().find(|name| self.keep_half.contains(name)) {
            return refused(format!(
                "keep_half: got \"{both}\", which keep_f32 names as well, expected it in one of them"
            ));
        }
        if let Some(scale) = &self.scale {
            let positive = [
                ("loss_scale", scale.initial),
                ("the least loss scale", scale.least),
                ("the backoff", scale.backoff),
                ("the growth", scale.growth),
                ("the largest loss scale", scale.most),
            ];
            for (what, value) in positive {
                // Devices compute with it in f32.
                if !((value as f32).is_finite() && value > 0.0) {
                    return refused(format!("{what}: got {}, expected a finite number above 0", number(value)));
                }
            }
            if scale.interval == 0 {
                return refused("scale_interval: got 0, expected at least 1 update".into());
            }
            if scale.growth < 1.0 || scale.backoff >= 1.0 {
                let [growth, backoff] = [scale.growth, scale.backoff].map(number);
                return refused(format!(
                    "loss_scale: got a growth of {growth} and a backoff of {backoff}, expected a growth of at least 1 and a backoff below 1"
                ));
            }
            if !(scale.least..=scale.most).contains(&scale.initial) {
                let [initial, least, most] = [scale.initial, scale.least, scale.most].map(number);
                return refused(format!("loss_scale: got {initial}, expected a number from {least} to {most}"));
            }
            if optimizer.motion() == Motion::ByTensor {
                let optimizer = optimizer.name();
                return refused(format!(
                    "precision: got {name} with the optimizer {optimizer}, which cannot leave out an update; expected bf16, f32 or another optimizer"
                ));
            }
        }
        Ok(())
    }

    /// For a loss that is a sum over so many rows of a step.
    pub(crate) fn of_sums(mut self, rows: usize) -> Self {
        if let Some(scale) = &mut self.scale {
            scale.rows = rows.next_power_of_two() as f64;
        }
        self
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self.format {
            Half::F16 => "f16",
            Half::Bf16 => "bf16",
        }
    }

    /// How the device stores it, for people. Errors if it has no type for it and nothing else is accepted.
    pub fn storage(&self, info: &Info) -> Result<String> {
        let name = self.name();
        // Kernels read packed words on every device: see "Products of halves are exact" in docs/PERFORMANCE.md.
        let has_type = self.format == Half::F16 && info.features.iter().any(|feature| feature == "f16");
        if self.is_strict && !has_type {
            return Err(Error::usage(format!(
                "train: strict: got precision {name} on {}, which has no type for it: expected f32, or no strict, which packs two numbers in a word",
                info.device
            )));
        }
        let how = if has_type { "packed" } else { "packed, since the device has no type for it" };
        Ok(format!("{name}, {how}; arithmetic in f32"))
    }

    /// The factor of the loss, as the update has it.
    pub(crate) fn loss_scale(&self) -> Option<optimise::LossScale> {
        self.scale.map(|LossScaling { initial, growth, backoff, interval, least, most, rows }| {
            let [initial, growth, backoff, least, most, rows] =
                [initial, growth, backoff, least, most, rows].map(|value| value as f32);
            optimise::LossScale { initial, growth, backoff, interval: interval as f32, least, most, rows }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Tiles;
    use crate::kernels::evidence::device;

    #[test]
    fn strict_takes_a_device_with_the_type() {
        let strict = |format| MixedPrecision { is_strict: true, ..MixedPrecision::new(format) };
        let with_type = Info { features: vec!["f16".into()], ..device(Tiles::ManySmall) };
        assert!(strict(Half::F16).storage(&with_type).is_ok());
        assert!(strict(Half::F16).storage(&device(Tiles::ManySmall)).is_err());
        assert!(strict(Half::Bf16).storage(&with_type).is_err());
    }
}
