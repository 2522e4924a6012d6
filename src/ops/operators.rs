//! The operators `+ - * /` and unary `-` on tracked tensors, broadcast, and with numbers.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::fused;
use crate::autograd::Var;
use crate::program::Expr;

macro_rules! operators {
    ($($trait:ident $method:ident $sign:tt),+) => {$(
        impl $trait for &Var {
            type Output = Var;
            #[track_caller]
            fn $method(self, other: Self) -> Var {
                fused(&[self, other], |v: &[Expr]| v[0] $sign v[1])
            }
        }
        impl $trait<f32> for &Var {
            type Output = Var;
            #[track_caller]
            fn $method(self, other: f32) -> Var {
                fused(&[self], |v: &[Expr]| v[0] $sign other)
            }
        }
        impl $trait<&Var> for f32 {
            type Output = Var;
            #[track_caller]
            fn $method(self, other: &Var) -> Var {
                fused(&[other], |v: &[Expr]| self $sign v[0])
            }
        }
    )+};
}

operators!(Add add +, Sub sub -, Mul mul *, Div div /);

impl Neg for &Var {
    type Output = Var;
    #[track_caller]
    fn neg(self) -> Var {
        fused(&[self], |v| -v[0])
    }
}
