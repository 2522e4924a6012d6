//! RMSprop (Tieleman and Hinton 2012) as in torch: g += wd p; v = α v + (1 - α) g²; m = momentum m + g / (√v + ε); p -= lr m.

use super::{Method, Motion};
use crate::program::constants::Constant;
use crate::program::expr::sqrt;

pub(super) static OPTIMIZER: Method = Method {
    name: "rmsprop",
    doc: "The gradient over the root of its running mean square (Tieleman and Hinton 2012)",
    constants: &[
        Constant::share("alpha", 0.99, "Decay of the running mean of squares"),
        Constant::share("momentum", 0.0, "Weight of the previous direction"),
        Constant::positive("epsilon", 1e-8, "Added to the root"),
        Constant::at_least_zero("weight_decay", 0.0, "Weight decay"),
    ],
    rates: |constants, lr, _| [lr, constants.get("weight_decay"), 0.0, 0.0],
    update: |state, constants| {
        let [alpha, momentum, epsilon] = ["alpha", "momentum", "epsilon"].map(|name| constants.get(name));
        let g = state.g + state.rates[1] * state.p;
        let v = alpha * state.v + (1.0 - alpha) * (g * g);
        let m = momentum * state.m + g / (sqrt(v) + epsilon);
        [state.p - state.rates[0] * m, m, v, state.a]
    },
    by_hand: None,
    motion: Motion::ByValue,
    usual_rate: 1e-3,
    has_own_decay: false,
    oracle: |state, constants| {
        let g = state.g + state.rates[1] * state.p;
        let v = state.v + (1.0 - constants.get("alpha")) * (g.powi(2) - state.v);
        let m = constants.get("momentum") * state.m + g / (v.sqrt() + constants.get("epsilon"));
        [state.p - state.rates[0] * m, m, v, state.a]
    },
};
