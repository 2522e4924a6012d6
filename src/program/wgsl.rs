//! Programs as WGSL.

use super::{Instruction, Program, ScalarOp};
use crate::host::number;

impl Program {
    /// WGSL statements that compute `v0`, `v1`, … from `x0`, `x1`, …; each result is `v<index>`.
    pub fn wgsl_statements(&self) -> String {
        let mut text = String::new();
        for (at, instruction) in self.code.iter().enumerate() {
            let value = match instruction {
                Instruction::Input(input) => format!("x{input}"),
                Instruction::Constant(value) => wgsl_constant(*value),
                Instruction::Op(op, arguments) => {
                    let names: Vec<_> = arguments[..op.arguments.len()].iter().map(|a| format!("v{a}")).collect();
                    format!("op_{}({})", op.name, names.join(", "))
                }
            };
            text += &format!("    let v{at} = {value};\n");
        }
        text
    }

    /// The WGSL functions of the operations it uses.
    pub fn wgsl_functions(&self) -> String {
        ScalarOp::wgsl_functions(&self.ops())
    }
}

/// A constant of a program, rounded to f32.
pub fn wgsl_constant(value: f64) -> String {
    let value = value as f32;
    let text = number(value);
    assert!(value.is_finite(), "program: constant {text} is not finite, which WGSL cannot express");
    format!("{text:?}f")
}
