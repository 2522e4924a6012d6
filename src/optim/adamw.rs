//! Adam with decoupled weight decay (Loshchilov and Hutter 2019): p *= 1 - lr wd; m, v = running means of g, g²;
//! p -= lr m̂ / (√v̂ + ε), where the hats divide by 1 - β^t.

use super::adam::{MOMENTS, Moments, moved};
use super::{Method, Motion};

pub(super) static OPTIMIZER: Method = Method {
    name: "adamw",
    doc: "Adam with decoupled weight decay (Loshchilov and Hutter 2019)",
    constants: MOMENTS,
    rates: |constants, lr, step| {
        let [_, scale, root, _] = (super::adam::OPTIMIZER.rates)(constants, lr, step);
        [lr, scale, root, 1.0 - lr * constants.get("weight_decay")]
    },
    update: |state, constants| moved(state, state.g, state.p * state.rates[3], constants),
    // With passes of its formula an update takes four times as long, a tenth of a small step (`docs/PERFORMANCE.md`).
    by_hand: Some(|constants, rates, piece| piece.follow(Moments::new(constants, rates))),
    motion: Motion::ByValue,
    usual_rate: 1e-3,
    has_own_decay: false,
    oracle: |state, constants| super::adam::oracle(state, state.g, state.p * state.rates[3], constants),
};
