//! Cases of the fused step with every built-in pointwise loss.

use std::sync::Arc;

use super::{ALL, Loss, Target};
use crate::device::Case;
use crate::kernels::mlp::RowGoal;
use crate::kernels::mlp::cases::step_of_loss;
use crate::kernels::mlp::goals::Pointwise;
use crate::program::constants::Values;

/// Cases of `mlp_step`.
pub fn of_step() -> Vec<Case> {
    let case = |(at, built_in): (usize, &&'static super::BuiltIn)| {
        let Some(RowGoal::Pointwise(curve)) = Loss::built_in(built_in).objective() else {
            unreachable!("a built-in loss is pointwise")
        };
        let (constants, oracle) = (Values::new(built_in.constants), built_in.oracle);
        let oracle = Arc::new(move |p, y| oracle(p, y, &constants));
        step_of_loss(Pointwise { curve, oracle, takes_probabilities: built_in.target != Target::Numbers }, at)
    };
    ALL.iter().enumerate().flat_map(case).collect()
}
