//! The operators `+ - * /` and unary `-` on masked tensors, broadcast, and with numbers.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::{Masked, add, div, fused, mul, neg, sub};
use crate::program::{Expr, op};

macro_rules! operators {
    ($($trait:ident $method:ident $row:ident),+) => {$(
        impl $trait for &Masked {
            type Output = Masked;
            #[track_caller]
            fn $method(self, other: Self) -> Masked {
                $method(self, other)
            }
        }
        impl $trait<f32> for &Masked {
            type Output = Masked;
            #[track_caller]
            fn $method(self, other: f32) -> Masked {
                fused(&[self], |v| Expr::op(&op::$row, &[v[0], other.into()]))
            }
        }
        impl $trait<&Masked> for f32 {
            type Output = Masked;
            #[track_caller]
            fn $method(self, other: &Masked) -> Masked {
                fused(&[other], |v| Expr::op(&op::$row, &[self.into(), v[0]]))
            }
        }
    )+};
}

operators!(Add add ADD, Sub sub SUB, Mul mul MUL, Div div RATIO);

impl Neg for &Masked {
    type Output = Masked;
    #[track_caller]
    fn neg(self) -> Masked {
        neg(self)
    }
}
