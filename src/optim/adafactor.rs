//! Adafactor (Shazeer and Stern 2018), as in torch.optim: of a matrix's squared gradients only the means R of the rows and C of the columns are kept, and
//! u = g / √(R C / mean R); of a vector's, all are. With w = t^-0.8, R += w (mean of g² - R), and C alike; then p *= 1 - lr wd and
//! p -= min(lr, 1/√t) max(ε₂, rms p) u / max(1, rms u / d). A tensor of more axes is several matrices, over its last two.

use super::{Method, Motion, State};
use crate::host;
use crate::program::constants::Constant;

pub(super) static OPTIMIZER: Method = Method {
    name: "adafactor",
    doc: "Steps in proportion to the weights, with rows + columns words of state for a matrix (Shazeer and Stern 2018)",
    constants: &[
        Constant {
            name: "beta2_decay",
            doc: "The power of the step that is the weight of its squared gradients",
            default: -0.8,
            is_valid: |x| x.is_finite() && x < 0.0,
            expected: "a finite number below 0",
        },
        Constant::positive("epsilon", f32::EPSILON, "The least root of the second moment"),
        Constant::positive("least_rms", 1e-3, "The least root mean square of a parameter that steps are in proportion to"),
        Constant::positive("largest_rms", 1.0, "The largest root mean square of an update, before the rate"),
        Constant::at_least_zero("weight_decay", 0.0, "Weight decay"),
    ],
    rates: |constants, lr, step| {
        let step = step as f64;
        let weight = host::pow(step, constants.get("beta2_decay"));
        [lr, weight, lr.min(1.0 / step.sqrt()), 1.0 - lr * constants.get("weight_decay")]
    },
    update: |&State { g, m, v, a, .. }, _| [g, m, v, a],
    by_hand: None,
    motion: Motion::Factored,
    oracle: |&State { g, m, v, a, .. }, _| [g, m, v, a],
};
