//! The prelude's names of WGSL's built-in functions.

use naga::MathFunction;

use super::refusal::unsupported;
use crate::error::Result;

pub(super) fn name(function: MathFunction) -> Result<&'static str> {
    use MathFunction as F;
    Ok(match function {
        F::Abs => "abs",
        F::Acos => "acos",
        F::Acosh => "acosh",
        F::Asin => "asin",
        F::Asinh => "asinh",
        F::Atan => "atan",
        F::Atan2 => "atan2",
        F::Atanh => "atanh",
        F::Ceil => "ceil",
        F::Clamp => "clamp",
        F::Cos => "cos",
        F::Cosh => "cosh",
        F::CountLeadingZeros => "count_leading_zeros",
        F::CountOneBits => "count_one_bits",
        F::CountTrailingZeros => "count_trailing_zeros",
        F::Dot => "dot",
        F::Exp => "exp",
        F::Exp2 => "exp2",
        F::FirstLeadingBit => "first_leading_bit",
        F::FirstTrailingBit => "first_trailing_bit",
        F::Floor => "floor",
        F::Fma => "fma",
        F::Fract => "fract",
        F::InverseSqrt => "inverse_sqrt",
        F::Length => "length",
        F::Log => "log",
        F::Log2 => "log2",
        F::Max => "max",
        F::Min => "min",
        F::Mix => "mix",
        F::Pack2x16float => "pack2x16float",
        F::Pow => "pow",
        F::ReverseBits => "reverse_bits",
        F::Round => "round",
        F::Saturate => "saturate",
        F::Sign => "sign",
        F::Sin => "sin",
        F::Sinh => "sinh",
        F::Sqrt => "sqrt",
        F::Step => "step",
        F::Tan => "tan",
        F::Tanh => "tanh",
        F::Transpose => "transpose",
        F::Trunc => "trunc",
        F::Unpack2x16float => "unpack2x16float",
        other => return Err(unsupported(format!("the function {other:?}"))),
    })
}
