//! NovoGrad (Ginsburg et al. 2019): each tensor keeps one mean v of the squared norms of its gradients, v ← β₂ v + (1 - β₂) |g|², which begins with the first
//! of them, and the momentum m ← β₁ m + g / (√v + ε) of its normalised gradients. Then p -= lr m. Weight decay is decoupled here, p *= 1 - lr wd.

use super::{Method, Motion, Moving, State, TensorMotion};
use crate::autograd::Var;
use crate::ops;
use crate::program::constants::Constant;
use crate::program::expr::{eq, select, sqrt};

pub(super) static OPTIMIZER: Method = Method {
    name: "novograd",
    doc: "Momentum of gradients over the norm of their tensor, with one word of state for the norm (Ginsburg et al. 2019)",
    constants: &[
        Constant::share("beta1", 0.95, "Decay of the momentum"),
        Constant::share("beta2", 0.98, "Decay of the mean squared norm"),
        Constant::positive("epsilon", 1e-8, "Added to the root of the mean squared norm"),
        Constant::at_least_zero("weight_decay", 0.0, "Weight decay"),
    ],
    rates: |constants, lr, _| [lr, 0.0, 0.0, 1.0 - lr * constants.get("weight_decay")],
    update: |&State { g, m, v, a, .. }, _| [g, m, v, a],
    by_hand: None,
    motion: Motion::OfTensors(&NORMALISED),
    usual_rate: 1e-2,
    has_own_decay: true,
    oracle: |&State { g, m, v, a, .. }, _| [g, m, v, a],
};

static NORMALISED: TensorMotion = TensorMotion {
    is_of_matrices: false,
    kept: |sizes| vec![vec![1], vec![sizes.iter().product()]],
    fresh: |moving| {
        let [beta1, epsilon] = ["beta1", "epsilon"].map(|name| moving.constants.get(name));
        let (square, momentum) = (mean_square(moving), &moving.kept[1]);
        let gradient = flat(moving.direction);
        let momentum =
            ops::fused(&[momentum, &gradient, &square], |v| beta1 * v[0] + v[1] / (sqrt(v[2]) + epsilon));
        vec![square, momentum]
    },
    mixed: |_, fresh, _| fresh,
    moved: |moving| moving.kept[1].clone(),
    step: |p, momentum, [rate, _, _, decay]| p * decay - rate * momentum,
};

/// The new mean of squared norms, [1].
fn mean_square(moving: &Moving<'_>) -> Var {
    let beta2 = moving.constants.get("beta2");
    let gradient = flat(moving.direction);
    let own = ops::reshape(&ops::sum(&ops::mul(&gradient, &gradient), 0..1), [1]);
    ops::fused(&[&moving.kept[0], &own], |v| select(eq(v[0], 0.0), v[1], beta2 * v[0] + (1.0 - beta2) * v[1]))
}

fn flat(x: &Var) -> Var {
    ops::reshape(x, [x.shape().len()])
}
