//! LAMB (You et al. 2020): the direction u = m̂ / (√v̂ + ε) + wd p, whose moments are Adam's; each tensor then moves by lr |p| / |u| u, or by lr u where one
//! of the norms is 0. For large batches.

use super::adam::MOMENTS;
use super::{Method, Motion};
use crate::program::expr::sqrt;

pub(super) static OPTIMIZER: Method = Method {
    name: "lamb",
    doc: "Adam with steps in proportion to the norm of each weight matrix, for large batches (You et al. 2020)",
    constants: MOMENTS,
    rates: |constants, lr, step| {
        // Of a rate of 1: the learning rate applies to the direction as a whole.
        let [_, scale, root, decay] = (super::adam::OPTIMIZER.rates)(constants, 1.0, step);
        [lr, scale, root, decay]
    },
    update: |state, constants| {
        let [beta1, beta2, epsilon] = ["beta1", "beta2", "epsilon"].map(|name| constants.get(name));
        let m = beta1 * state.m + (1.0 - beta1) * state.g;
        let v = beta2 * state.v + (1.0 - beta2) * (state.g * state.g);
        let [_, scale, root, decay] = state.rates;
        [scale * m / (sqrt(v) * root + epsilon) + decay * state.p, m, v, state.a]
    },
    by_hand: None,
    motion: Motion::ByTensor,
    usual_rate: 1e-3,
    has_own_decay: false,
    oracle: |state, constants| {
        let [beta1, beta2, epsilon] = ["beta1", "beta2", "epsilon"].map(|name| constants.get(name));
        let (m, v) = (state.m + (1.0 - beta1) * (state.g - state.m), state.v + (1.0 - beta2) * (state.g.powi(2) - state.v));
        let [_, scale, root, decay] = state.rates;
        [scale * m / (v.sqrt() * root + epsilon) + decay * state.p, m, v, state.a]
    },
};
