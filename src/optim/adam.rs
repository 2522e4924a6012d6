//! Adam (Kingma and Ba 2015): g += wd p; m, v = running means of g, g²; p -= lr m̂ / (√v̂ + ε), where the hats divide by 1 - β^t. The step's
//! rates are lr, lr / (1 - β1^t), 1 / √(1 - β2^t) and wd, computed in f64, since 1 - β^t loses precision in f32.
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]

use pulp::Simd;

use super::{Method, Motion, State};
use crate::host;
use crate::kernels::optimise::{ByHandUpdate, RATES};
use crate::program::Expr;
use crate::program::constants::{Constant, Values};
use crate::program::expr::sqrt;
use crate::simd::fma;

/// The constants of Adam and AdamW.
pub(super) const MOMENTS: &[Constant] = &[
    Constant::share("beta1", 0.9, "Decay of the first moment"),
    Constant::share("beta2", 0.999, "Decay of the second moment"),
    Constant::positive("epsilon", 1e-8, "Added to the root of the second moment"),
    Constant::at_least_zero("weight_decay", 0.0, "Weight decay"),
];

pub(super) static OPTIMIZER: Method = Method {
    name: "adam",
    doc: "Running means of gradients and their squares (Kingma and Ba 2015)",
    constants: MOMENTS,
    rates: |constants, lr, step| {
        let correct = |beta: &str| 1.0 - host::pow(constants.get(beta), step as f64);
        [lr, lr / correct("beta1"), 1.0 / correct("beta2").sqrt(), constants.get("weight_decay")]
    },
    update: |state, constants| moved(state, state.g + state.rates[3] * state.p, state.p, constants),
    by_hand: Some(|constants, rates, piece| {
        piece.follow(Moments { weight_decay: rates[3], decay: 1.0, ..Moments::new(constants, rates) });
    }),
    motion: Motion::ByValue,
    usual_rate: 1e-3,
    has_own_decay: false,
    oracle: |state, constants| oracle(state, state.g + state.rates[3] * state.p, state.p, constants),
};

/// The new [p, m, v, a] for the gradient `g`.
pub(super) fn moved(state: &State<Expr>, g: Expr, p: Expr, constants: &Values) -> [Expr; 4] {
    let [beta1, beta2] = ["beta1", "beta2"].map(|name| constants.get(name));
    let m = beta1 * state.m + (1.0 - beta1) * g;
    let v = beta2 * state.v + (1.0 - beta2) * (g * g);
    let [_, scale, root, _] = state.rates;
    [p - scale * m / (sqrt(v) * root + constants.get("epsilon")), m, v, state.a]
}

/// The hand-written update, for Adam and AdamW.
#[derive(Clone, Copy)]
pub(super) struct Moments {
    scale: f32,
    root: f32,
    decay: f32,
    weight_decay: f32,
    beta1: f32,
    beta2: f32,
    epsilon: f32,
}

impl Moments {
    pub(super) fn new(constants: &Values, [_, scale, root, decay]: [f32; RATES]) -> Self {
        let [beta1, beta2, epsilon] = ["beta1", "beta2", "epsilon"].map(|name| constants.get(name) as f32);
        Self { scale, root, decay, weight_decay: 0.0, beta1, beta2, epsilon }
    }
}

impl ByHandUpdate for Moments {
    #[inline(always)]
    fn apply<S: Simd>(self, simd: S, g: S::f32s, [p, m, v]: [S::f32s; 3]) -> [S::f32s; 3] {
        let word = |x| simd.splat_f32s(x);
        let g = fma(simd, word(self.weight_decay), p, g);
        let m = fma(simd, word(self.beta1), m, simd.mul_f32s(word(1.0 - self.beta1), g));
        let v = fma(simd, word(self.beta2), v, simd.mul_f32s(word(1.0 - self.beta2), simd.mul_f32s(g, g)));
        let width = fma(simd, simd.sqrt_f32s(v), word(self.root), word(self.epsilon));
        let shift = simd.div_f32s(simd.mul_f32s(word(self.scale), m), width);
        [simd.sub_f32s(simd.mul_f32s(p, word(self.decay)), shift), m, v]
    }
}

/// The same in f64.
pub(super) fn oracle(state: &State<f64>, g: f64, p: f64, constants: &Values) -> [f64; 4] {
    let [beta1, beta2] = ["beta1", "beta2"].map(|name| constants.get(name));
    let (m, v) = (state.m + (1.0 - beta1) * (g - state.m), state.v + (1.0 - beta2) * (g.powi(2) - state.v));
    let width = v.sqrt() * state.rates[2] + constants.get("epsilon");
    [p - state.rates[1] * m / width, m, v, state.a]
}
