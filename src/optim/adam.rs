//! Adam (Kingma and Ba 2015): g += wd p; m, v = running means of g, g²; p -= lr m̂ / (√v̂ + ε), where the hats divide by 1 - β^t. The step's
//! rates are lr, lr / (1 - β1^t) and 1 / √(1 - β2^t), worked out in f64: near t = 1 the differences from 1 are too small for f32.

use super::{Method, State};
use crate::host;
use crate::program::Expr;
use crate::program::constants::{Constant, Values};
use crate::program::expr::sqrt;

/// The constants of Adam and AdamW.
pub(super) const MOMENTS: &[Constant] = &[
    Constant::share("beta1", 0.9, "Decay of the first moment"),
    Constant::share("beta2", 0.999, "Decay of the second moment"),
    Constant::positive("epsilon", 1e-8, "Added to the root of the second moment"),
    Constant::at_least_zero("weight_decay", 0.0, "Pull of the weights to zero"),
];

pub(super) static OPTIMIZER: Method = Method {
    name: "adam",
    doc: "Running means of gradients and their squares (Kingma and Ba 2015)",
    constants: MOMENTS,
    rates: |constants, lr, step| {
        let correct = |beta: &str| 1.0 - host::pow(constants.get(beta), step as f64);
        [lr, lr / correct("beta1"), 1.0 / correct("beta2").sqrt(), 1.0]
    },
    update: |state, constants| {
        moved(state, state.g + constants.get("weight_decay") * state.p, state.p, constants)
    },
    oracle: |state, constants| oracle(state, state.g + constants.get("weight_decay") * state.p, state.p, constants),
};

/// The step from `p` along the moments of `g`.
pub(super) fn moved(state: &State<Expr>, g: Expr, p: Expr, constants: &Values) -> [Expr; 3] {
    let [beta1, beta2] = ["beta1", "beta2"].map(|name| constants.get(name));
    let m = beta1 * state.m + (1.0 - beta1) * g;
    let v = beta2 * state.v + (1.0 - beta2) * (g * g);
    let [_, scale, root, _] = state.rates;
    [p - scale * m / (sqrt(v) * root + constants.get("epsilon")), m, v]
}

/// The same in f64.
pub(super) fn oracle(state: &State<f64>, g: f64, p: f64, constants: &Values) -> [f64; 3] {
    let [beta1, beta2] = ["beta1", "beta2"].map(|name| constants.get(name));
    let (m, v) = (state.m + (1.0 - beta1) * (g - state.m), state.v + (1.0 - beta2) * (g.powi(2) - state.v));
    let width = v.sqrt() * state.rates[2] + constants.get("epsilon");
    [p - state.rates[1] * m / width, m, v]
}
