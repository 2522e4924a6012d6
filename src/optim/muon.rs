//! Muon (Jordan et al. 2024): a hidden weight matrix moves along its momentum M made orthogonal, U Vᵀ for M = U Σ Vᵀ, so that every direction of the
//! matrix learns at the same speed. U Vᵀ comes approximately from a few Newton–Schulz steps X ← a X + (b X Xᵀ + c (X Xᵀ)²) X, which start from M over
//! its norm. Other parameters follow AdamW: those of the output layer, biases, gains, matrices with one row or column. Weight decay is decoupled.

use super::newton_schulz::orthogonal;
use super::{Method, Motion, TensorMotion};
use crate::program::constants::Constant;
use crate::program::expr::{eq, select, sqrt};

static ORTHOGONAL: TensorMotion = TensorMotion {
    is_of_matrices: true,
    kept: |_| Vec::new(),
    fresh: |_| Vec::new(),
    mixed: |kept, _, _| kept,
    moved: |moving| orthogonal(moving.direction, moving.constants),
    step: |p, direction, [rate, _, _, decay]| p * decay - rate * direction,
};

pub(super) static OPTIMIZER: Method = Method {
    name: "muon",
    doc: "Orthogonal steps for hidden weight matrices, AdamW for other parameters (Jordan et al. 2024)",
    constants: &[
        Constant::share("momentum", 0.95, "Decay of the momentum of matrices"),
        Constant { default: 1.0, ..Constant::flag("nesterov", "Use Nesterov's momentum for matrices") },
        Constant {
            name: "newton_schulz_steps",
            doc: "Newton-Schulz steps that make a matrix orthogonal",
            default: 5.0,
            is_valid: |x| x.fract() == 0.0 && (1.0..100.0).contains(&x),
            expected: "a whole number from 1 to 99",
        },
        Constant::positive("newton_schulz_epsilon", 1e-7, "The least norm that a matrix is divided by"),
        Constant::flag("match_rms", "Scale matrices like AdamW's steps, 0.2 sqrt(max(rows, columns)) (Liu et al. 2025)"),
        Constant::share("beta1", 0.9, "Decay of the first moment of other parameters"),
        Constant::share("beta2", 0.999, "Decay of the second moment of other parameters"),
        Constant::positive("epsilon", 1e-8, "Added to the root of the second moment of other parameters"),
        Constant::at_least_zero("weight_decay", 0.1, "Weight decay"),
    ],
    rates: |constants, lr, step| {
        // Of a rate of 1: the learning rate applies to all directions alike.
        let [_, scale, root, _] = (super::adam::OPTIMIZER.rates)(constants, 1.0, step);
        [lr, scale, root, 1.0 - lr * constants.get("weight_decay")]
    },
    update: |state, constants| {
        let [momentum, beta1, beta2, epsilon] =
            ["momentum", "beta1", "beta2", "epsilon"].map(|name| constants.get(name));
        let [_, scale, root, _] = state.rates;
        let is_matrix = eq(scale, 0.0);
        let mean = |decay: f64| decay * state.m + (1.0 - decay) * state.g;
        let square = beta2 * state.v + (1.0 - beta2) * (state.g * state.g);
        let ahead = if constants.get("nesterov") == 1.0 {
            (1.0 - momentum) * state.g + momentum * mean(momentum)
        } else {
            mean(momentum)
        };
        let other = scale * mean(beta1) / (sqrt(square) * root + epsilon);
        [
            select(is_matrix, ahead, other),
            select(is_matrix, mean(momentum), mean(beta1)),
            select(is_matrix, state.v, square),
            state.a,
        ]
    },
    by_hand: None,
    motion: Motion::OfTensors(&ORTHOGONAL),
    usual_rate: 1e-3,
    has_own_decay: true,
    oracle: |state, constants| {
        let [momentum, beta2, epsilon] = ["momentum", "beta2", "epsilon"].map(|name| constants.get(name));
        let [_, scale, root, _] = state.rates;
        if scale == 0.0 {
            let m = state.m + (1.0 - momentum) * (state.g - state.m);
            let ahead = if constants.get("nesterov") == 1.0 { state.g + momentum * (m - state.g) } else { m };
            return [ahead, m, state.v, state.a];
        }
        let m = state.m + (1.0 - constants.get("beta1")) * (state.g - state.m);
        let v = state.v + (1.0 - beta2) * (state.g.powi(2) - state.v);
        [scale * m / (v.sqrt() * root + epsilon), m, v, state.a]
    },
};
