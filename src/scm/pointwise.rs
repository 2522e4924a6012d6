//! Masked ops by name: one scalar op each, broadcast. Each is ⊥ where an argument is ⊥ or not finite, and where the value is not a float.

use super::{Masked, fused};
use crate::program::{Expr, op};

macro_rules! pointwise {
    ($($(#[$doc:meta])* $row:ident $name:ident($($arg:ident),+);)+) => {
        /// The scalar operations of the formula language by their names, broadcast.
        #[allow(unreachable_pub, dead_code, reason = "the room has a `div` of its own")]
        pub(super) mod named {
            use super::{Expr, Masked, fused, op};

            $($(#[$doc])*
            ///
            /// ⊥ where that is not defined or not a float.
            #[track_caller]
            pub fn $name($($arg: &Masked),+) -> Masked {
                fused(&[$($arg),+], |values| Expr::op(&op::$row, values))
            })+
        }
    };
}

op::each_op!(pointwise);

/// a / b; ⊥ where b = 0, and where a / b or its slope |a| / b² is not a float.
#[track_caller]
pub fn div(a: &Masked, b: &Masked) -> Masked {
    named::ratio(a, b)
}

/// 1 / x; ⊥ at 0.
#[track_caller]
pub fn inv(x: &Masked) -> Masked {
    named::recip(x)
}

/// Natural logarithm; ⊥ unless x > 0.
#[track_caller]
pub fn log(x: &Masked) -> Masked {
    named::ln(x)
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
