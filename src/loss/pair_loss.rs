//! The weights of a pair loss, which compares predicted pairs (P, Q) with target pairs (Yn, Yd). A finite target y is (y, 1), ⊥ is (±1, 0) or (1, 0).

use crate::error::{Error, Result};
use crate::host::number;
use crate::kernels::mlp::PairRule;
use crate::record;

/// A weighted sum of terms, each a mean over all pairs unless it says otherwise. A weight of 0 leaves a term out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairLoss {
    /// Weight of the implicit residual: c² / (S + gamma) with c = P·Yd - Q·Yn and S = Q²·Yd² + P²·Yn².
    pub implicit: f32,
    /// Floor under S.
    pub gamma: f32,
    /// Whether gradients treat S as a constant.
    pub is_detached: bool,
    /// Weight of the chordal residual: c² / ((P² + Q²)(Yn² + Yd²) + gamma), the squared sine of the angle between the pairs. Bounded, and
    /// the same formula for a value and for ⊥.
    pub chordal: f32,
    /// Weight of (P / (sgn(Q)·max(|Q|, τ)) - y)² over finite targets; sgn(0) = 1.
    pub decoded: f32,
    /// Weight of max(τ - |Q|, 0)² over finite targets.
    pub margin: f32,
    /// Weight of 1 - cos of the angle between (P, Q) and (Yn, Yd).
    pub sign: f32,
    /// The sign term applies where |Yd| is at most this: 1 or more for all targets, less for ⊥ only.
    pub sign_within: f32,
    /// Weight of max(|Q| - `tau_bottom`, 0)², a mean over ⊥ targets.
    pub bottom: f32,
    /// See `bottom`.
    pub tau_bottom: f32,
    /// Weight of max(`tau_finite` - |Q|, 0)², a mean over finite targets.
    pub finite: f32,
    /// See `finite`.
    pub tau_finite: f32,
    /// Weight of max(`target_coverage` - mean σ((|Q| - τ) / `temperature`), 0)².
    pub coverage: f32,
    /// See `coverage`.
    pub target_coverage: f32,
    /// See `coverage`.
    pub temperature: f32,
    /// τ of `decoded`, `margin` and `coverage` is drawn uniformly between these two for each step.
    pub tau: [f32; 2],
}

record! {
    PairLoss {
        implicit, gamma, is_detached, chordal, decoded, margin, sign, sign_within, bottom, tau_bottom, finite,
        tau_finite, coverage, target_coverage, temperature, tau,
    }
}

impl Default for PairLoss {
    /// The chordal residual alone. It has no mean of squared errors, because a few rows near poles would dominate such a mean. It has no
    /// direction of ⊥ targets either: where a function goes from -∞ to +∞, (P, Q) passes ⊥ smoothly as Q changes sign, and a direction
    /// would force it through (0, 0).
    fn default() -> Self {
        Self { chordal: 1.0, ..Self::none() }
    }
}

impl PairLoss {
    /// Every weight 0, everything else as in ZeroProofML: τ = 1e-4, gamma = 1e-9, separation at 0.01 and 0.05.
    pub fn none() -> Self {
        Self {
            implicit: 0.0,
            gamma: 1e-9,
            is_detached: false,
            chordal: 0.0,
            decoded: 0.0,
            margin: 0.0,
            sign: 0.0,
            sign_within: 1e-3,
            bottom: 0.0,
            tau_bottom: 1e-2,
            finite: 0.0,
            tau_finite: 5e-2,
            coverage: 0.0,
            target_coverage: 0.95,
            temperature: 1e-2,
            tau: [1e-4; 2],
        }
    }

    /// Errors on invalid weights and thresholds.
    pub fn check(&self) -> Result<()> {
        let weights = [
            self.implicit,
            self.chordal,
            self.decoded,
            self.margin,
            self.sign,
            self.bottom,
            self.finite,
            self.coverage,
        ];
        let refused = |what: String| Err(Error::new(format!("loss of pairs: {what}")));
        if let Some(weight) = weights.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
            return refused(format!("a weight is {}, expected a finite number of at least 0", number(*weight)));
        }
        if weights.iter().all(|weight| *weight == 0.0) {
            return refused("every weight is 0, expected at least one above 0".into());
        }
        let [low, high] = self.tau;
        if !(low > 0.0 && low <= high && high.is_finite()) {
            let [low, high] = [low, high].map(number);
            return refused(format!("τ is drawn from {low} to {high}, expected 0 < first <= second"));
        }
        let sizes = [("gamma", self.gamma), ("temperature", self.temperature)];
        if let Some((name, size)) = sizes.iter().find(|(_, size)| !(size.is_finite() && *size > 0.0)) {
            return refused(format!("{name} is {}, expected a finite number above 0", number(*size)));
        }
        if !(0.0..=1.0).contains(&self.target_coverage) {
            return refused(format!("target_coverage is {}, expected 0 to 1", number(self.target_coverage)));
        }
        Ok(())
    }

    /// The loss of a row for the fused step; `None` if there are terms over groups of rows.
    pub(super) fn rule(&self) -> Option<PairRule> {
        let Self { implicit, gamma, is_detached, chordal, decoded, margin, sign, sign_within, tau, .. } = *self;
        let rule = PairRule { implicit, gamma, is_detached, chordal, decoded, margin, sign, sign_within, tau };
        self.is_by_row().then_some(rule)
    }

    /// Whether the loss is computed per row; terms over groups of rows are not.
    pub fn is_by_row(&self) -> bool {
        self.bottom == 0.0 && self.finite == 0.0 && self.coverage == 0.0
    }
}
