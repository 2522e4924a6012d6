//! Schedule-free AdamW (Defazio et al. 2024): gradients are taken at y = (1 - β1) z + β1 x, z takes the steps of AdamW without its first moment, and x is the
//! mean of all z, which is what is evaluated and kept. The parameter is y; m and a hold z - y and x - y, so that both begin at 0.

use super::{Method, Motion};
use crate::host;
use crate::program::constants::Constant;
use crate::program::expr::sqrt;

pub(super) static OPTIMIZER: Method = Method {
    name: "schedule-free",
    doc: "AdamW with a mean of its steps instead of a schedule, which is constant then (Defazio et al. 2024)",
    constants: &[
        Constant::share("beta1", 0.9, "Weight of the mean where gradients are taken"),
        Constant::share("beta2", 0.999, "Decay of the second moment"),
        Constant::positive("epsilon", 1e-8, "Added to the root of the second moment"),
        Constant::at_least_zero("weight_decay", 0.0, "Weight decay"),
    ],
    rates: |constants, lr, step| {
        let root = 1.0 / (1.0 - host::pow(constants.get("beta2"), step as f64)).sqrt();
        [lr, root, 1.0 / step as f64, constants.get("weight_decay")]
    },
    update: |state, constants| {
        let [beta1, beta2, epsilon] = ["beta1", "beta2", "epsilon"].map(|name| constants.get(name));
        let [lr, root, share, decay] = state.rates;
        let (y, z, x) = (state.p, state.m + state.p, state.a + state.p);
        let v = beta2 * state.v + (1.0 - beta2) * (state.g * state.g);
        let z = z - lr * (state.g / (sqrt(v) * root + epsilon) + decay * y);
        let x = x + share * (z - x);
        let y = z + beta1 * (x - z);
        [y, z - y, v, x - y]
    },
    by_hand: None,
    motion: Motion::ByValue,
    usual_rate: 1e-3,
    has_own_decay: false,
    oracle: |state, constants| {
        let [beta1, beta2, epsilon] = ["beta1", "beta2", "epsilon"].map(|name| constants.get(name));
        let [lr, root, share, decay] = state.rates;
        let v = state.v + (1.0 - beta2) * (state.g.powi(2) - state.v);
        let direction = state.g / (v.sqrt() * root + epsilon) + decay * state.p;
        let z = state.m + state.p - lr * direction;
        let x = (1.0 - share) * (state.a + state.p) + share * z;
        let y = (1.0 - beta1) * z + beta1 * x;
        [y, z - y, v, x - y]
    },
};
