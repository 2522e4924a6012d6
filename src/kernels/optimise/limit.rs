//! How the gradient of an update is limited, on the CPU and as WGSL; the formulas are the same.

use crate::program::wgsl_constant;

/// How the gradient of an update is limited. Norms are those of the mean gradient, from `fold`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Limit {
    /// Not at all.
    #[default]
    None,
    /// The norm of all gradients together is at most this (Pascanu, Mikolov and Bengio 2013).
    Norm(f32),
    /// The norm of each tensor's gradient is at most this.
    Tensor(f32),
    /// The norm of all is at most the mean of past norms plus so many of their standard deviations, at least 5 % of the mean each; until there
    /// are ten past norms, at most `most`.
    Adaptive {
        /// Standard deviations.
        deviations: f32,
        /// The most until there are enough past norms.
        most: f32,
    },
    /// The norm of all is this, whatever it was.
    Length(f32),
    /// The norm of each tensor's gradient is that of the tensor, whose words come after those of the gradients in the sums.
    Trust,
}

/// No limit. The largest number has a shortest text above it, which Chromium refuses.
const UNLIMITED: f32 = 3e38;
/// Sizes from 2^62 on are made smaller by 2^64 before a quotient is taken.
const LARGE: f32 = 4_611_686_018_427_387_904.0;
/// 2^-64.
const SMALLER: f32 = 1.0 / 18_446_744_073_709_551_616.0;
/// Past norms that an adaptive limit needs.
const LEAST_PAST: f32 = 10.0;
/// Past norms over which means are taken.
const WINDOW: f32 = 100.0;
/// A standard deviation is at least this share of the mean.
const LEAST_SPREAD: f32 = 0.05;

/// Words of a copy of the state.
pub const STATE: usize = 16;
/// Words of both copies, padded to the binding alignment.
pub const UPDATE_WORDS: usize = 64;
/// Where the loss scale of the next step is, after both copies.
pub const SCALE_AT: usize = 2 * STATE;

/// A factor of the loss, so that small gradients are not lost in 16 bits. It falls where a gradient was not finite, and grows after many that were
/// (Micikevicius et al. 2018).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossScale {
    /// Of the first step.
    pub initial: f32,
    /// Its factor after `interval` updates in a row.
    pub growth: f32,
    /// Its factor after an update that was left out.
    pub backoff: f32,
    /// Updates in a row after which it grows.
    pub interval: f32,
    /// The smallest.
    pub least: f32,
    /// The largest.
    pub most: f32,
    /// What the sum of the losses of a step is divided by besides; a power of two.
    pub rows: f32,
}

impl LossScale {
    /// After an update, or after one that was left out.
    fn next(&self, is_finite: bool, memory: &mut UpdateState) {
        memory.clean = if is_finite { memory.clean + 1.0 } else { 0.0 };
        if !is_finite {
            memory.scale = (memory.scale * self.backoff).max(self.least);
        } else if memory.clean >= self.interval {
            (memory.scale, memory.clean) = ((memory.scale * self.growth).min(self.most), 0.0);
        }
    }

    /// WGSL of `unscaled` and `next_scale`; the state is the scale and the updates since it changed.
    pub(super) fn wgsl(scale: Option<Self>) -> String {
        let Some(Self { growth, backoff, interval, least, most, rows, .. }) = scale else {
            return crate::wgsl!("optimise/unscaled").to_owned();
        };
        let named = [
            ("GROWTH", growth),
            ("BACKOFF", backoff),
            ("INTERVAL", interval),
            ("LEAST_SCALE", least),
            ("MOST_SCALE", most),
            ("SCALED_ROWS", rows),
        ];
        let constant =
            |(name, value): (&str, f32)| format!("const {name}: f32 = {};\n", wgsl_constant(f64::from(value)));
        named.into_iter().map(constant).collect::<String>() + crate::wgsl!("optimise/scaled")
    }
}

/// What an update remembers of those before: a copy of the state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UpdateState {
    /// Updates of this epoch.
    pub applied: f32,
    /// Updates of this epoch that were left out since a gradient was not finite.
    pub skipped: f32,
    /// Updates of this epoch whose gradient was limited.
    pub limited: f32,
    /// The largest norm of this epoch.
    pub largest: f32,
    /// Mean, variance and number of past norms, each as far as it was admitted.
    past: [f32; 3],
    /// The loss scale.
    pub scale: f32,
    /// Updates since it changed.
    clean: f32,
}

impl UpdateState {
    /// From its words.
    pub fn read(words: &[f32]) -> Self {
        let [applied, skipped, limited, largest, mean, variance, count, _, scale, clean] =
            std::array::from_fn(|at| words[at]);
        Self { applied, skipped, limited, largest, past: [mean, variance, count], scale, clean }
    }

    /// Into its words.
    pub fn write(&self, words: &mut [f32]) {
        let Self { applied, skipped, limited, largest, past: [mean, variance, count], scale, clean } = *self;
        let all = [applied, skipped, limited, largest, mean, variance, count, 0.0, scale, clean];
        words[..all.len()].copy_from_slice(&all);
    }

    /// What nothing was remembered before.
    pub fn initial(scale: Option<LossScale>) -> Self {
        Self { scale: scale.map_or(0.0, |scale| scale.initial), ..Self::default() }
    }

    /// The reciprocal of what gradients were multiplied by.
    pub(crate) fn unscaled(&self, share: f32, scale: Option<LossScale>) -> f32 {
        scale.map_or(share, |scale| share * (scale.rows / self.scale))
    }

    /// Moves the loss scale.
    pub(crate) fn rescale(&mut self, scale: Option<LossScale>, is_finite: bool) {
        if let Some(scale) = scale {
            scale.next(is_finite, self);
        }
    }

    /// Begins an epoch.
    pub(crate) fn begin(&mut self) {
        (self.applied, self.skipped, self.limited, self.largest) = (0.0, 0.0, 0.0, 0.0);
    }
}

/// A norm of finite numbers: the largest size, and the root of the sum of squares relative to it. The product may be larger than any f32.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Norm {
    pub largest: f32,
    pub root: f32,
}

impl Norm {
    /// The norm, at most [`UNLIMITED`].
    pub(crate) fn value(self) -> f32 {
        (self.largest * self.root).min(UNLIMITED)
    }

    /// The factor that makes the norm `most`.
    fn factor_to(self, most: f32) -> f32 {
        // As the shader does it: a device may take a quotient by more than 2^126 for 0, as it may a factor below 2^-126.
        if self.largest >= LARGE {
            return most / (self.largest * SMALLER * self.root) * SMALLER;
        }
        most / (self.largest * self.root)
    }
}

impl Limit {
    /// The factor of all gradients at an update with this norm, which the memory keeps.
    pub(crate) fn factor(self, whole: Norm, memory: &mut UpdateState) -> f32 {
        let norm = whole.value();
        let most = match self {
            Self::None | Self::Tensor(_) | Self::Trust => UNLIMITED,
            Self::Norm(most) | Self::Length(most) => most,
            Self::Adaptive { deviations, most } => {
                let [mean, variance, count] = memory.past;
                let spread = variance.sqrt().max(LEAST_SPREAD * mean);
                if count < LEAST_PAST { most } else { mean + deviations * spread }
            }
        };
        let is_long = norm > most || (matches!(self, Self::Length(_)) && norm > 0.0);
        let factor = if is_long { whole.factor_to(most) } else { 1.0 };
        if matches!(self, Self::Adaptive { .. }) {
            let [mean, variance, count] = memory.past;
            let weight = 1.0 / (count + 1.0).min(WINDOW);
            let apart = norm.min(most) - mean;
            memory.past = [mean + weight * apart, (1.0 - weight) * (variance + weight * apart * apart), count + 1.0];
        }
        memory.applied += 1.0;
        memory.limited += f32::from(u8::from(factor < 1.0));
        memory.largest = memory.largest.max(norm);
        factor
    }

    /// Whether it differs from tensor to tensor.
    pub fn is_by_tensor(self) -> bool {
        matches!(self, Self::Tensor(_) | Self::Trust)
    }

    /// The factor of a tensor's gradients with this norm; `size` is that of the tensor.
    pub(crate) fn factor_of_tensor(self, norm: Norm, size: impl Fn() -> Norm) -> f32 {
        match self {
            Self::Tensor(most) if norm.value() > most => norm.factor_to(most),
            Self::Trust if norm.value() > 0.0 && size().value() > 0.0 => norm.factor_to(size().value()),
            _ => 1.0,
        }
    }

    /// WGSL of `norm_of`, `factor_to`, `most_allowed`, `factor_for` and `remembered`.
    pub(super) fn wgsl(self) -> String {
        let text = |value: f32| wgsl_constant(f64::from(value));
        let most = match self {
            Self::None | Self::Tensor(_) | Self::Trust => text(UNLIMITED),
            Self::Norm(most) | Self::Length(most) => text(most),
            Self::Adaptive { deviations, most } => format!(
                "select({}, past.x + {} * max(sqrt(past.y), {} * past.x), past.z >= {})",
                text(most),
                text(deviations),
                text(LEAST_SPREAD),
                text(LEAST_PAST)
            ),
        };
        let is_long = if matches!(self, Self::Length(_)) { "norm > 0.0" } else { "norm > most" };
        let remembered = if matches!(self, Self::Adaptive { .. }) {
            format!(
                "    let weight = 1.0 / min(past.z + 1.0, {});\n    let apart = min(norm, most) - past.x;\n    return vec4<f32>(past.x + weight * apart, (1.0 - weight) * (past.y + weight * apart * apart), past.z + 1.0, 0.0);\n",
                text(WINDOW)
            )
        } else {
            "    return past;\n".to_owned()
        };
        format!(
            "fn norm_of(largest: f32, root: f32) -> f32 {{ return min(largest * root, {}); }}\nfn factor_to(largest: f32, root: f32, most: f32) -> f32 {{\n    // Smaller by 2^64 in the bits, where no compiler joins it with the quotient.\n    let word = bitcast<u32>(largest);\n    if (word >= 0x5e800000u) {{ return most / (bitcast<f32>(word - 0x20000000u) * root) * 0x1p-64f; }}\n    return most / (largest * root);\n}}\nfn most_allowed(past: vec4<f32>) -> f32 {{ return {most}; }}\nfn factor_for(largest: f32, root: f32, most: f32) -> f32 {{\n    let norm = norm_of(largest, root);\n    if ({is_long}) {{ return factor_to(largest, root, most); }}\n    return 1.0;\n}}\nfn remembered(past: vec4<f32>, norm: f32, most: f32) -> vec4<f32> {{\n{remembered}}}\n",
            text(UNLIMITED)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn norm_of(norm: f32) -> Norm {
        Norm { largest: norm, root: 1.0 }
    }

    #[test]
    fn a_norm_above_every_number_is_limited_and_not_lost() {
        let norm = Norm { largest: 3e38, root: 2.0 };
        let factor = Limit::Norm(6.0).factor(norm, &mut UpdateState::default());
        assert!((factor / 1e-38 - 1.0).abs() < 1e-5, "{factor:e}");
        let mut memory = UpdateState::default();
        assert_eq!(Limit::None.factor(norm, &mut memory), 1.0);
        assert!(memory.largest.is_finite());
    }

    #[test]
    fn factors_are_right_on_both_sides_of_where_sizes_are_made_smaller() {
        for largest in [1.0_f32, 4e18, 5e18, 1e30, 1e38, 3e38] {
            let factor = Norm { largest, root: 1.5 }.factor_to(12.0);
            assert!(
                (f64::from(factor) * f64::from(largest) * 1.5 / 12.0 - 1.0).abs() < 1e-6,
                "{largest:e}: {factor:e}"
            );
        }
    }

    #[test]
    fn norms_near_the_mean_are_never_limited_and_a_spike_is() {
        let limit = Limit::Adaptive { deviations: 2.0, most: 1e9 };
        let mut memory = UpdateState::default();
        for at in 0..200 {
            let norm = if at % 2 == 0 { 1.0 } else { 1.04 };
            assert_eq!(limit.factor(norm_of(norm), &mut memory), 1.0, "norm {at}");
        }
        let [mean, variance, _] = memory.past;
        assert!((mean - 1.02).abs() < 0.01 && variance.sqrt() < 0.05, "{mean} {variance}");
        let factor = limit.factor(norm_of(10.0), &mut memory);
        assert!((10.0 * factor - (mean + 2.0 * 0.05 * mean)).abs() < 1e-5, "{factor}");
        assert_eq!((memory.limited, memory.largest, memory.applied), (1.0, 10.0, 201.0));
    }

    #[test]
    fn few_past_norms_have_a_limit_of_their_own() {
        let mut memory = UpdateState::default();
        let limit = Limit::Adaptive { deviations: 2.0, most: 3.0 };
        assert_eq!(limit.factor(norm_of(6.0), &mut memory), 0.5);
        assert_eq!(limit.factor(norm_of(1.0), &mut memory), 1.0);
    }
}
