//! Masked ops by name: one scalar op each, broadcast. Each is ⊥ where an argument is ⊥ or not finite, and where the value is not a float.

use super::{Masked, fused};
use crate::program::{Expr, op};

macro_rules! pointwise {
    ($($name:ident($($arg:ident),+) $row:ident $doc:literal;)+) => {$(
        #[doc = $doc]
        #[track_caller]
        pub fn $name($($arg: &Masked),+) -> Masked {
            fused(&[$($arg),+], |values| Expr::op(&op::$row, values))
        }
    )+};
}

pointwise! {
    add(a, b) ADD "a + b.";
    sub(a, b) SUB "a - b.";
    mul(a, b) MUL "a · b.";
    div(a, b) RATIO "a / b; ⊥ where b = 0, and where a / b or its slope |a| / b² is not a float.";
    inv(x) RECIP "1 / x; ⊥ at 0.";
    neg(x) NEG "-x.";
    pow(a, b) POW "a to the power b; ⊥ for a = 0 and b < 0, and for a < 0 with b not an integer; 0⁰ = 1.";
    log(x) LN "Natural logarithm; ⊥ unless x > 0.";
    exp(x) EXP "e^x.";
    sqrt(x) SQRT "√x; ⊥ below 0.";
    square(x) SQUARE "x².";
    sin(x) SIN "Sine, radians.";
    cos(x) COS "Cosine, radians.";
    tan(x) TAN "Tangent, radians; it has no pole at a float.";
    abs(x) ABS "|x|.";
    min(a, b) MIN "The smaller.";
    max(a, b) MAX "The larger.";
    lt(a, b) LT "1 where a < b, else 0.";
    le(a, b) LE "1 where a <= b, else 0.";
    gt(a, b) GT "1 where a > b, else 0.";
    ge(a, b) GE "1 where a >= b, else 0.";
    eq(a, b) EQ "1 where a = b, else 0.";
    ne(a, b) NE "1 where a ≠ b, else 0.";
    select(c, a, b) SELECT "a where c ≠ 0, else b; ⊥ also where the other operand is ⊥.";
    hypot(a, b) HYPOT "√(a² + b²).";
    atan2(a, b) ATAN2 "The angle of the point (b, a), radians; 0 or π at the origin.";
    sinh(x) SINH "Hyperbolic sine.";
    cosh(x) COSH "Hyperbolic cosine.";
    tanh(x) TANH "Hyperbolic tangent.";
}

/// ⊥ by a fault where `count` is at least 1, 0 where it is 0.
pub(super) fn overflow_where(count: Expr) -> Expr {
    count * 3.0e38 * 3.0e38
}

/// `x` where `is_fine` is not 0, else ⊥.
pub(super) fn only_where(x: Expr, is_fine: Expr) -> Expr {
    x + 0.0 / is_fine
}

/// `x`, and ⊥ where `other` is.
pub(super) fn both(x: Expr, other: Expr) -> Expr {
    crate::program::expr::select(1.0, x, other)
}
