//! One step of a program.

use super::op::ScalarOp;

/// One instruction.
#[derive(Clone, Copy)]
pub enum Instruction {
    /// Reads an input.
    Input(u16),
    /// A constant.
    Constant(f64),
    /// Applies an operation to earlier values; unused argument places repeat the first.
    Op(&'static ScalarOp, [u16; 3]),
}

impl PartialEq for Instruction {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Input(a), Self::Input(b)) => a == b,
            (Self::Constant(a), Self::Constant(b)) => a.to_bits() == b.to_bits(),
            (Self::Op(a, x), Self::Op(b, y)) => std::ptr::eq(*a, *b) && x == y,
            _ => false,
        }
    }
}

impl std::fmt::Debug for Instruction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Input(at) => write!(f, "input {at}"),
            Self::Constant(value) => write!(f, "{value}"),
            Self::Op(op, arguments) => write!(f, "{}{:?}", op.name, &arguments[..op.arguments.len()]),
        }
    }
}
