//! Stochastic gradient descent: g += wd p; m = momentum m + g; p -= lr m, or lr (g + momentum m) with Nesterov's look ahead (1983).

use super::{Method, Motion};
use crate::program::constants::Constant;

pub(super) static OPTIMIZER: Method = Method {
    name: "sgd",
    doc: "Stochastic gradient descent with momentum",
    constants: &[
        Constant::share("momentum", 0.9, "Weight of the previous direction"),
        Constant::flag("nesterov", "Use Nesterov's momentum"),
        Constant::at_least_zero("weight_decay", 0.0, "Weight decay"),
    ],
    rates: |constants, lr, _| [lr, constants.get("weight_decay"), 0.0, 0.0],
    update: |state, constants| {
        let momentum = constants.get("momentum");
        let g = state.g + state.rates[1] * state.p;
        let m = momentum * state.m + g;
        let direction = if constants.get("nesterov") == 1.0 { g + momentum * m } else { m };
        [state.p - state.rates[0] * direction, m, state.v, state.a]
    },
    by_hand: None,
    motion: Motion::ByValue,
    usual_rate: 1e-3,
    has_own_decay: false,
    oracle: |state, constants| {
        let momentum = constants.get("momentum");
        let g = state.g + state.rates[1] * state.p;
        let m = momentum * state.m + g;
        let ahead = constants.get("nesterov") * (g + momentum * m - m);
        [state.p - state.rates[0] * (m + ahead), m, state.v, state.a]
    },
};
