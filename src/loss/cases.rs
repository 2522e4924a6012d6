//! Cases of the fused step with every pointwise loss.

use std::sync::Arc;

use super::{ALL, Loss, LossRecord, Rule, Target};
use crate::device::Case;
use crate::kernels::mlp::RowGoal;
use crate::kernels::mlp::cases::step_of_loss;
use crate::kernels::mlp::goals::Pointwise;
use crate::program::constants::Values;

/// Cases of `mlp_step`.
pub fn of_step() -> Vec<Case> {
    let case = |(at, record): (usize, &&'static LossRecord)| {
        let Rule::Pointwise { oracle, .. } = record.rule else { return Vec::new() };
        let Some(RowGoal::Pointwise(curve)) = Loss::of_record(record).objective() else {
            unreachable!("the fused step takes a pointwise loss")
        };
        let constants = Values::new(record.constants);
        let oracle = Arc::new(move |p, y| oracle(p, y, &constants));
        step_of_loss(Pointwise { curve, oracle, takes_probabilities: record.target != Target::NUMBERS }, at)
    };
    ALL.iter().enumerate().flat_map(case).collect()
}
