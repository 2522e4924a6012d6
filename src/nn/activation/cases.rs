//! Cases of the fused kernels with every built-in activation.

use super::{ALL, Activation};
use crate::device::Case;
use crate::kernels::mlp::cases;
use crate::kernels::mlp::goals::Function;

fn each(make: fn(Function, usize) -> Vec<Case>) -> Vec<Case> {
    let function = |(at, built_in): (usize, &&super::BuiltIn)| {
        make(Function { curve: Activation::of_built_in(built_in).curve().clone(), oracle: built_in.oracle }, at)
    };
    ALL.iter().enumerate().flat_map(function).collect()
}

/// Of `mlp_step`.
pub fn of_step() -> Vec<Case> {
    each(cases::step_of_activation)
}

/// Of `mlp_forward`.
pub fn of_forward() -> Vec<Case> {
    each(cases::forward_of_activation)
}
