//! Adagrad (Duchi et al. 2011) as in torch: g += wd p; v += g²; p -= lr / (1 + (t - 1) decay) g / (√v + ε). The rate of a parameter only falls.

use super::{Method, Motion};
use crate::program::constants::Constant;
use crate::program::expr::sqrt;

pub(super) static OPTIMIZER: Method = Method {
    name: "adagrad",
    doc: "The gradient over the root of the sum of its squares; needs a learning rate about ten times larger (Duchi et al. 2011)",
    constants: &[
        Constant::at_least_zero("lr_decay", 0.0, "By which share of itself the rate falls with the first update"),
        Constant::positive("epsilon", 1e-10, "Added to the root"),
        Constant::at_least_zero("weight_decay", 0.0, "Weight decay"),
    ],
    rates: |constants, lr, step| {
        let fallen = lr / (1.0 + (step - 1) as f64 * constants.get("lr_decay"));
        [fallen, constants.get("weight_decay"), 0.0, 0.0]
    },
    update: |state, constants| {
        let g = state.g + state.rates[1] * state.p;
        let v = state.v + g * g;
        [state.p - state.rates[0] * g / (sqrt(v) + constants.get("epsilon")), state.m, v, state.a]
    },
    by_hand: None,
    motion: Motion::ByValue,
    usual_rate: 1e-3,
    has_own_decay: false,
    oracle: |state, constants| {
        let g = state.g + state.rates[1] * state.p;
        let v = g.mul_add(g, state.v);
        [state.p - state.rates[0] * (g / (v.sqrt() + constants.get("epsilon"))), state.m, v, state.a]
    },
};
