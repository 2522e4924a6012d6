//! Lion (Chen et al. 2023): p *= 1 - lr wd; p -= lr sign(β1 m + (1 - β1) g); m = β2 m + (1 - β2) g. It keeps one moment per
//! parameter and changes all parameters by the same amount, so its learning rate should be about a tenth of Adam's.

use super::{Method, Motion};
use crate::program::constants::Constant;
use crate::program::expr::sign;

pub(super) static OPTIMIZER: Method = Method {
    name: "lion",
    doc: "The sign of a running mean of gradients; needs a learning rate about ten times smaller (Chen et al. 2023)",
    constants: &[
        Constant::share("beta1", 0.9, "Weight of the running mean in the direction"),
        Constant::share("beta2", 0.99, "Decay of the running mean"),
        Constant::at_least_zero("weight_decay", 0.0, "Weight decay"),
    ],
    rates: |constants, lr, _| [lr, 1.0 - lr * constants.get("weight_decay"), 0.0, 0.0],
    update: |state, constants| {
        let [beta1, beta2] = ["beta1", "beta2"].map(|name| constants.get(name));
        let direction = sign(beta1 * state.m + (1.0 - beta1) * state.g);
        let m = beta2 * state.m + (1.0 - beta2) * state.g;
        [state.p * state.rates[1] - state.rates[0] * direction, m, state.v, state.a]
    },
    by_hand: None,
    motion: Motion::ByValue,
    usual_rate: 1e-4,
    has_own_decay: false,
    oracle: |state, constants| {
        let [beta1, beta2] = ["beta1", "beta2"].map(|name| constants.get(name));
        let mean = state.m + (1.0 - beta1) * (state.g - state.m);
        let direction = if mean > 0.0 { 1.0 } else { -1.0 };
        let m = state.m + (1.0 - beta2) * (state.g - state.m);
        [state.rates[1] * state.p - state.rates[0] * direction, m, state.v, state.a]
    },
};
