//! The operators `+ - * /` and unary `-` on tracked tensors, broadcast, and with numbers; for values and for references.

use std::borrow::Borrow;
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
        operators!(@forward $trait $method; (Var, Var), (Var, &Var), (&Var, Var));
        impl $trait<f32> for &Var {
            type Output = Var;
            #[track_caller]
            fn $method(self, other: f32) -> Var {
                fused(&[self], |v: &[Expr]| v[0] $sign other)
            }
        }
        impl $trait<f32> for Var {
            type Output = Var;
            #[track_caller]
            fn $method(self, other: f32) -> Var {
                (&self).$method(other)
            }
        }
        impl $trait<&Var> for f32 {
            type Output = Var;
            #[track_caller]
            fn $method(self, other: &Var) -> Var {
                fused(&[other], |v: &[Expr]| self $sign v[0])
            }
        }
        impl $trait<Var> for f32 {
            type Output = Var;
            #[track_caller]
            fn $method(self, other: Var) -> Var {
                self.$method(&other)
            }
        }
    )+};
    // A value is borrowed; `Borrow` of a reference or a value is the same reference.
    (@forward $trait:ident $method:ident; $(($left:ty, $right:ty)),+) => {$(
        impl $trait<$right> for $left {
            type Output = Var;
            #[track_caller]
            fn $method(self, other: $right) -> Var {
                let (left, right): (&Var, &Var) = (self.borrow(), other.borrow());
                left.$method(right)
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

impl Neg for Var {
    type Output = Self;
    #[track_caller]
    fn neg(self) -> Self {
        -&self
    }
}
