//! Cases of the fused kernels with every built-in activation.

use std::sync::Arc;

use super::{ALL, Activation};
use crate::device::Case;
use crate::kernels::mlp::cases;
use crate::kernels::mlp::goals::Function;
use crate::program::Curve;
use crate::program::curve::ByHand;

fn each(make: fn(Function, usize) -> Vec<Case>) -> Vec<Case> {
    let function = |(at, built_in): (usize, &&super::BuiltIn)| {
        let curve = Activation::of_built_in(built_in).curve().clone();
        let mut cases = make(Function { curve: curve.clone(), oracle: built_in.oracle }, at);
        // If there is a hand-written version, the formula is tested as well.
        if curve.by_hand.cpu.is_some() || curve.by_hand.wgsl.is_some() {
            let text = format!("{} by formula", curve.text);
            let plain = Arc::new(Curve::new(text, curve.value.clone(), ByHand::NONE));
            cases.extend(make(Function { curve: plain, oracle: built_in.oracle }, at));
        }
        cases
    };
    ALL.iter().enumerate().flat_map(function).collect()
}

/// Cases of `mlp_step`.
pub fn of_step() -> Vec<Case> {
    each(cases::step_of_activation)
}

/// Cases of `mlp_forward`.
pub fn of_forward() -> Vec<Case> {
    each(cases::forward_of_activation)
}
