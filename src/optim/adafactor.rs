//! Adafactor (Shazeer and Stern 2018), as in torch.optim: of a matrix's squared gradients only the means R of the rows and C of the columns are kept, and
//! u = g / √(R C / mean R); of a vector's, all are. With w = t^-0.8, R += w (mean of g² - R), and C alike; then p *= 1 - lr wd and
//! p -= min(lr, 1/√t) max(ε₂, rms p) u / max(1, rms u / d). A tensor of more axes is several matrices, over its last two.

use super::{Method, Motion, Moving, State, TensorMotion};
use crate::autograd::Var;
use crate::host;
use crate::ops;
use crate::program::constants::Constant;
use crate::program::expr::{max, sqrt};

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
    motion: Motion::OfTensors(&FACTORED),
    usual_rate: 1e-2,
    has_own_decay: true,
    oracle: |&State { g, m, v, a, .. }, _| [g, m, v, a],
};

static FACTORED: TensorMotion = TensorMotion {
    is_of_matrices: false,
    kept: |sizes| {
        let [batch, rows, columns] = matrices(sizes);
        if sizes.len() > 1 { vec![vec![batch, rows, 1], vec![batch, 1, columns]] } else { vec![vec![1, 1, columns]] }
    },
    fresh: |moving| {
        let gradient = as_matrices(moving.direction);
        let square = ops::mul(&gradient, &gradient);
        if moving.kept.len() > 1 { vec![ops::mean(&square, 2..3), ops::mean(&square, 1..2)] } else { vec![square] }
    },
    mixed: |kept, square, [_, weight, _, _]| kept + weight * (square - kept),
    moved,
    step: |p, update, [_, _, rate, decay]| p * decay - rate * update,
};

/// The sizes of a parameter as a batch of matrices; a vector is a row.
fn matrices(sizes: &[usize]) -> [usize; 3] {
    match *sizes {
        [ref batch @ .., rows, columns] => [batch.iter().product(), rows, columns],
        _ => [1, 1, sizes.iter().product()],
    }
}

fn as_matrices(x: &Var) -> Var {
    ops::reshape(x, matrices(x.shape().sizes()))
}

/// The update before the rate, by the squares that are kept.
fn moved(moving: &Moving<'_>) -> Var {
    let [gradient, value] = [moving.direction, moving.value].map(as_matrices);
    let [epsilon, least, largest] =
        ["epsilon", "least_rms", "largest_rms"].map(|name| moving.constants.get(name));
    let update = match moving.kept {
        [rows, columns] => {
            let mean = ops::mean(rows, 1..2);
            ops::fused(&[&gradient, rows, columns, &mean], |v| {
                v[0] / sqrt(max(v[1] / max(v[3], epsilon) * v[2], epsilon * epsilon))
            })
        }
        kept => ops::fused(&[&gradient, &kept[0]], |v| v[0] / sqrt(max(v[1], epsilon * epsilon))),
    };
    let [of_values, of_update] = [&value, &update].map(|x| ops::mean(&ops::mul(x, x), 0..3));
    ops::fused(&[&update, &of_values, &of_update], |v| v[0] * (max(sqrt(v[1]), least) / max(sqrt(v[2]) / largest, 1.0)))
}
