//! What a row of pairs adds to the sum that a step minimises.

use crate::kernels::mlp::params::Params;

/// A weighted sum of terms over predicted pairs (P, Q) and target pairs (Yn, Yd), each a mean over the pairs of a row; c = P·Yd - Q·Yn. A weight of 0
/// leaves a term out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairRule {
    /// Weight of c² / (S + gamma) with S = Q²·Yd² + P²·Yn².
    pub implicit: f32,
    /// Added to divisors.
    pub gamma: f32,
    /// Whether gradients treat S as a constant.
    pub is_detached: bool,
    /// Weight of c² / ((P² + Q²)(Yn² + Yd²) + gamma).
    pub chordal: f32,
    /// Weight of (P / (sgn(Q)·max(|Q|, τ)) - Yn)² where Yd ≠ 0; sgn(0) = 1.
    pub decoded: f32,
    /// Weight of max(τ - |Q|, 0)² where Yd ≠ 0.
    pub margin: f32,
    /// Weight of 1 - cos of the angle between (P, Q) and (Yn, Yd).
    pub sign: f32,
    /// The sign term applies where |Yd| is at most this.
    pub sign_within: f32,
    /// τ is drawn uniformly between these two for each step.
    pub tau: [f32; 2],
}

impl PairRule {
    /// Writes its numbers into the uniform.
    pub(crate) fn fill(&self, params: &mut Params) {
        let Self { implicit, gamma, chordal, decoded, margin, sign, sign_within, tau, .. } = *self;
        [params.implicit, params.chordal, params.decoded, params.margin] = [implicit, chordal, decoded, margin];
        [params.sign, params.sign_within, params.gamma] = [sign, sign_within, gamma];
        [params.tau_low, params.tau_high] = tau;
    }

    /// Whether τ is used and differs from step to step.
    pub(crate) fn is_drawn(&self) -> bool {
        let [low, high] = self.tau;
        low < high && (self.decoded != 0.0 || self.margin != 0.0)
    }
}
