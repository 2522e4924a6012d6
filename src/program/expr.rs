//! Expressions: the way to write a program in Rust. An `Expr` names an instruction of the program being built in this thread; operators and
//! the functions of this module append to it, and equal instructions are reused, so common subterms are computed once.

use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Neg, Sub};

use super::instruction::Instruction;
pub use super::op::functions::*;
use super::op::{self, ScalarOp};

/// A value inside the program being built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expr(u16);

thread_local! {
    static CODE: RefCell<Vec<Instruction>> = const { RefCell::new(Vec::new()) };
}

/// The Voigt profile of x: a normal distribution of standard deviation `sigma` convolved with a Lorentz distribution of half width at half
/// maximum `gamma`, Re w((x + i gamma) / (sigma √2)) / (sigma √(2π)).
pub fn voigt(x: impl Into<Expr>, sigma: impl Into<Expr>, gamma: impl Into<Expr>) -> Expr {
    let (x, sigma, gamma) = (x.into(), sigma.into(), gamma.into());
    let width = std::f64::consts::SQRT_2 * sigma;
    faddeeva_re(x / width, gamma / width) / (std::f64::consts::TAU.sqrt() * sigma)
}

/// A program under construction, and the code of the enclosing one.
pub(crate) struct Building {
    outer: Vec<Instruction>,
    inputs: Vec<Expr>,
}

impl Building {
    pub(crate) fn new(inputs: usize) -> Self {
        let outer = CODE.take();
        Self { outer, inputs: (0..inputs).map(|at| push(Instruction::Input(at as u16))).collect() }
    }

    pub(crate) fn inputs(&self) -> &[Expr] {
        &self.inputs
    }

    /// The code, and the instructions whose values are the results.
    pub(crate) fn finish(self, results: &[Expr]) -> (Vec<Instruction>, Vec<u16>) {
        (CODE.replace(self.outer), results.iter().map(|result| result.0).collect())
    }
}

/// Appends an instruction, or returns an equal one that is already there.
fn push(instruction: Instruction) -> Expr {
    CODE.with_borrow_mut(|code| {
        let at = code.iter().position(|known| *known == instruction).unwrap_or_else(|| {
            code.push(instruction);
            code.len() - 1
        });
        Expr(u16::try_from(at).expect("a program has at most 65,535 instructions"))
    })
}

/// Number of instructions of the program being built.
pub(crate) fn size() -> usize {
    CODE.with_borrow(Vec::len)
}

impl Expr {
    /// An operation applied to values. Constants are folded where the value is finite; products and sums with 0 and 1 are simplified away.
    pub fn op(op: &'static ScalarOp, arguments: &[Self]) -> Self {
        if let Some(simple) = folded(op, arguments).or_else(|| simplified(op, arguments)) {
            return simple;
        }
        let mut taken = [arguments[0].0; 3];
        for (place, argument) in taken.iter_mut().zip(arguments) {
            *place = argument.0;
        }
        push(Instruction::Op(op, taken))
    }

    /// Its value, if it is a constant.
    pub fn constant(self) -> Option<f64> {
        CODE.with_borrow(|code| match code[self.0 as usize] {
            Instruction::Constant(value) => Some(value),
            _ => None,
        })
    }

    /// `self` to the power of a small integer, by repeated squaring.
    pub fn powi(self, exponent: u32) -> Self {
        match exponent {
            0 => Self::from(1.0),
            1 => self,
            _ => {
                let half = square(self.powi(exponent / 2));
                if exponent % 2 == 1 { half * self } else { half }
            }
        }
    }
}

/// The value of an operation on constants.
fn folded(op: &'static ScalarOp, arguments: &[Expr]) -> Option<Expr> {
    let values: Vec<f64> = arguments.iter().map(|argument| argument.constant()).collect::<Option<_>>()?;
    let value = op.at(&values);
    (value.abs() <= f64::from(f32::MAX)).then(|| Expr::from(value))
}

fn simplified(op: &'static ScalarOp, arguments: &[Expr]) -> Option<Expr> {
    let [a, b] = *arguments else { return None };
    let (left, right) = (a.constant(), b.constant());
    if std::ptr::eq(op, &raw const op::MUL) {
        return match (left, right) {
            (Some(0.0), _) | (_, Some(1.0)) => Some(a),
            (_, Some(0.0)) | (Some(1.0), _) => Some(b),
            _ => None,
        };
    }
    if std::ptr::eq(op, &raw const op::ADD) {
        return match (left, right) {
            (Some(0.0), _) => Some(b),
            (_, Some(0.0)) => Some(a),
            _ => None,
        };
    }
    None
}

impl From<f64> for Expr {
    fn from(value: f64) -> Self {
        push(Instruction::Constant(value))
    }
}

impl From<f32> for Expr {
    fn from(value: f32) -> Self {
        Self::from(f64::from(value))
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $op:ident),+) => {$(
        impl $trait for Expr {
            type Output = Expr;
            fn $method(self, other: Expr) -> Expr {
                Expr::op(&op::$op, &[self, other])
            }
        }
        operators!(@number $trait $method $op f64);
        operators!(@number $trait $method $op f32);
    )+};
    (@number $trait:ident $method:ident $op:ident $number:ident) => {
        impl $trait<$number> for Expr {
            type Output = Expr;
            fn $method(self, other: $number) -> Expr {
                Expr::op(&op::$op, &[self, other.into()])
            }
        }
        impl $trait<Expr> for $number {
            type Output = Expr;
            fn $method(self, other: Expr) -> Expr {
                Expr::op(&op::$op, &[self.into(), other])
            }
        }
    };
}

operators!(Add add ADD, Sub sub SUB, Mul mul MUL, Div div DIV);

impl Neg for Expr {
    type Output = Self;
    fn neg(self) -> Self {
        Self::op(&op::NEG, &[self])
    }
}
