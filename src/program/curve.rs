//! A function given by one formula, with its slope: activations and pointwise losses, also for the fused kernels.

use super::{Expr, Program};

/// A function with its derivative by its first input.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The name of a built-in function, or a formula.
    pub text: String,
    /// The program of the value.
    pub value: Program,
    /// The program of the value and of its derivative by the first input.
    pub sloped: Program,
    /// Hand-written versions, where measurements justify them.
    pub by_hand: ByHand,
}

/// Replaces z by f(z) and writes f'(z) to the second slice, if given. Both have the same length, a multiple of 16.
pub type Sweep = fn(&mut [f32], Option<&mut [f32]>);

/// Versions of a function of one input that are faster than its program. Cases check that they are equal.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByHand {
    /// On the CPU.
    pub cpu: Option<Sweep>,
    /// WGSL functions `act4(z)` and `act_grad4(z, act4(z))` over four lanes.
    pub wgsl: Option<&'static str>,
}

impl ByHand {
    /// None.
    pub const NONE: Self = Self { cpu: None, wgsl: None };
}

impl Curve {
    /// The function with this value program.
    pub fn new(text: impl Into<String>, value: Program, by_hand: ByHand) -> Self {
        let sloped = value.with_gradient(&[0]);
        Self { text: text.into(), value, sloped, by_hand }
    }

    /// A function of `inputs` inputs from an expression over them.
    pub fn build(text: impl Into<String>, inputs: usize, body: impl FnOnce(&[Expr]) -> Expr) -> Self {
        Self::new(text, Program::build(inputs, body), ByHand::default())
    }

    /// WGSL functions `value(x0, …)` and `slope(x0, …)` with this prefix, without the operations' functions.
    pub fn wgsl(&self, prefix: &str) -> String {
        let arguments: Vec<String> = (0..self.value.inputs).map(|at| format!("x{at}: f32")).collect();
        let function = |name: &str, result: usize| {
            let program = self.sloped.only(result);
            let (arguments, statements) = (arguments.join(", "), program.wgsl_statements());
            format!("fn {prefix}_{name}({arguments}) -> f32 {{\n{statements}    return v{};\n}}\n", program.result())
        };
        function("value", 0) + &function("slope", 1)
    }
}

/// Functions with the same text are equal.
impl PartialEq for Curve {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}
