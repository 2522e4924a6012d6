//! A program of rows: the body of a pointwise kernel, as data. It prints as WGSL, runs in tiles on the CPU and differentiates to another program.

use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Neg, Sub};

use super::scalar::{self, Row};
use crate::host::number;

/// Straight-line code over f32: each instruction names earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// How many values it takes.
    pub inputs: usize,
    /// The instructions.
    pub code: Vec<Instruction>,
    /// The instruction whose value is the result.
    pub result: u16,
}

/// One instruction.
#[derive(Clone, Copy)]
pub enum Instruction {
    /// Takes an input.
    Input(u16),
    /// A constant.
    Constant(f32),
    /// Applies a row to earlier values; unused argument places repeat the first.
    Row(&'static Row, [u16; 3]),
}

impl PartialEq for Instruction {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Input(a), Self::Input(b)) => a == b,
            (Self::Constant(a), Self::Constant(b)) => a.to_bits() == b.to_bits(),
            (Self::Row(a, x), Self::Row(b, y)) => std::ptr::eq(*a, *b) && x == y,
            _ => false,
        }
    }
}

impl std::fmt::Debug for Instruction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Input(at) => write!(f, "input {at}"),
            Self::Constant(value) => write!(f, "{value}"),
            Self::Row(row, arguments) => write!(f, "{}{:?}", row.name, &arguments[..row.arguments.len()]),
        }
    }
}

/// A value inside the program being built.
#[derive(Clone, Copy)]
pub struct E(u16);

thread_local! {
    static CODE: RefCell<Vec<Instruction>> = const { RefCell::new(Vec::new()) };
}

impl Program {
    /// Builds a program of `inputs` values from an expression over them.
    pub fn build(inputs: usize, body: impl FnOnce(&[E]) -> E) -> Self {
        // What bodies have in common is compiled once, not once for each.
        let begun = Begun::new(inputs);
        let result = body(&begun.values);
        begun.ended(result)
    }

    /// A row alone.
    pub fn row(row: &'static Row) -> Self {
        Self::build(row.arguments.len(), |values| E::row(row, values))
    }

    /// The vector-Jacobian product for input `wanted`: takes the inputs, then the upstream gradient; `None` if it is zero everywhere.
    pub fn vjp(&self, wanted: usize) -> Option<Self> {
        let mut is_zero = false;
        let program = Self::build(self.inputs + 1, |values| {
            let mut value: Vec<E> = Vec::with_capacity(self.code.len());
            for instruction in &self.code {
                value.push(replay(*instruction, values, &value));
            }
            let mut upstream: Vec<Option<E>> = vec![None; self.code.len()];
            upstream[self.result as usize] = Some(values[self.inputs]);
            let mut found = None;
            for at in (0..self.code.len()).rev() {
                let Some(gradient) = upstream[at] else { continue };
                match self.code[at] {
                    Instruction::Input(input) if input as usize == wanted => found = Some(gradient),
                    Instruction::Row(row, arguments) => {
                        let arguments = &arguments[..row.arguments.len()];
                        let taken: Vec<E> = arguments.iter().map(|&a| value[a as usize]).collect();
                        for (&argument, partial) in arguments.iter().zip((row.partials)(&taken, value[at])) {
                            if partial.constant() != Some(0.0) {
                                let share = partial * gradient;
                                let slot = &mut upstream[argument as usize];
                                *slot = Some(slot.map_or(share, |sum| sum + share));
                            }
                        }
                    }
                    _ => {}
                }
            }
            is_zero = found.is_none();
            found.unwrap_or_else(|| E::from(0.0))
        });
        (!is_zero).then_some(program)
    }

    /// The program with only the inputs it uses, renumbered, and which those are.
    pub fn compacted(mut self) -> (Self, Vec<usize>) {
        let is_used = |&input: &usize| self.code.contains(&Instruction::Input(input as u16));
        let used: Vec<usize> = (0..self.inputs).filter(is_used).collect();
        for instruction in &mut self.code {
            if let Instruction::Input(at) = instruction {
                let place = used.iter().position(|&input| input == *at as usize);
                *at = place.expect("an input in the code is used") as u16;
            }
        }
        self.inputs = used.len();
        (self, used)
    }

    /// Whether it only hands its one input on.
    pub fn is_identity(&self) -> bool {
        self.code == [Instruction::Input(0)]
    }

    /// This program with `inner` standing in for input `at`; `places` maps the inputs of each to those of the whole.
    pub fn inlined(
        &self,
        at: usize,
        inner: &Self,
        inputs: usize,
        outer_places: &[usize],
        inner_places: &[usize],
    ) -> Self {
        Self::build(inputs, |values| {
            let pick = |places: &[usize]| places.iter().map(|&place| values[place]).collect::<Vec<E>>();
            let inner_value = inner.emit(&pick(inner_places));
            let mut taken = pick(outer_places);
            taken[at] = inner_value;
            self.emit(&taken)
        })
    }

    /// Appends this program to the one being built.
    pub fn emit(&self, inputs: &[E]) -> E {
        let mut value: Vec<E> = Vec::with_capacity(self.code.len());
        for instruction in &self.code {
            value.push(replay(*instruction, inputs, &value));
        }
        value[self.result as usize]
    }

    /// Rows applied per element.
    pub fn operations(&self) -> u64 {
        self.code.iter().filter(|instruction| matches!(instruction, Instruction::Row(..))).count() as u64
    }

    /// WGSL statements computing `v<result>` from `x0`, `x1`, …
    pub fn wgsl_statements(&self) -> String {
        let mut text = String::new();
        for (at, instruction) in self.code.iter().enumerate() {
            let value = match instruction {
                Instruction::Input(input) => format!("x{input}"),
                Instruction::Constant(value) => wgsl_constant(*value),
                Instruction::Row(row, arguments) => {
                    let names: Vec<_> = arguments[..row.arguments.len()].iter().map(|a| format!("v{a}")).collect();
                    format!("row_{}({})", row.name, names.join(", "))
                }
            };
            text += &format!("    let v{at} = {value};\n");
        }
        text
    }

    /// The WGSL functions of the rows it uses.
    pub fn wgsl_functions(&self) -> String {
        self.rows().into_iter().map(Row::wgsl_function).collect()
    }

    /// The rows it uses, each once.
    pub fn rows(&self) -> Vec<&'static Row> {
        let mut rows: Vec<&'static Row> = Vec::new();
        for instruction in &self.code {
            if let Instruction::Row(row, _) = instruction
                && !rows.iter().any(|known| std::ptr::eq(*known, *row))
            {
                rows.push(row);
            }
        }
        rows
    }

    /// Only what the result needs; inputs stay, so that their numbering does.
    fn pruned(self) -> Self {
        let mut is_needed = vec![false; self.code.len()];
        is_needed[self.result as usize] = true;
        for at in (0..self.code.len()).rev() {
            if let (true, Instruction::Row(row, arguments)) = (is_needed[at], self.code[at]) {
                arguments[..row.arguments.len()].iter().for_each(|&a| is_needed[a as usize] = true);
            }
        }
        let mut moved = vec![0_u16; self.code.len()];
        let mut code = Vec::new();
        for (at, instruction) in self.code.into_iter().enumerate() {
            if is_needed[at] {
                moved[at] = code.len() as u16;
                code.push(match instruction {
                    Instruction::Row(row, arguments) => Instruction::Row(row, arguments.map(|a| moved[a as usize])),
                    other => other,
                });
            }
        }
        Self { inputs: self.inputs, code, result: moved[self.result as usize] }
    }
}

/// A program whose body is under way, and the code of the one around it.
struct Begun {
    outer: Vec<Instruction>,
    values: Vec<E>,
}

impl Begun {
    fn new(inputs: usize) -> Self {
        let outer = CODE.take();
        Self { outer, values: (0..inputs).map(|at| push(Instruction::Input(at as u16))).collect() }
    }

    fn ended(self, result: E) -> Program {
        Program { inputs: self.values.len(), code: CODE.replace(self.outer), result: result.0 }.pruned()
    }
}

fn replay(instruction: Instruction, inputs: &[E], value: &[E]) -> E {
    match instruction {
        Instruction::Input(at) => inputs[at as usize],
        Instruction::Constant(constant) => E::from(constant),
        Instruction::Row(row, arguments) => {
            let taken: Vec<E> = arguments[..row.arguments.len()].iter().map(|&a| value[a as usize]).collect();
            E::row(row, &taken)
        }
    }
}

pub(super) fn wgsl_constant(value: f32) -> String {
    let text = number(value);
    assert!(value.is_finite(), "WGSL has no NaN and no infinity: {text} cannot be a constant of a program");
    format!("{text:?}f")
}

/// Appends an instruction, or finds the equal one already there.
fn push(instruction: Instruction) -> E {
    CODE.with_borrow_mut(|code| {
        let at = code.iter().position(|known| *known == instruction).unwrap_or_else(|| {
            code.push(instruction);
            code.len() - 1
        });
        E(u16::try_from(at).expect("a program has at most 65,535 instructions"))
    })
}

impl E {
    /// A row applied to values; products and sums with 0 and 1 are simplified away.
    pub fn row(row: &'static Row, arguments: &[Self]) -> Self {
        if let [a, b] = *arguments
            && let Some(simple) = simplified(row, a, b)
        {
            return simple;
        }
        let mut taken = [arguments[0].0; 3];
        for (place, argument) in taken.iter_mut().zip(arguments) {
            *place = argument.0;
        }
        push(Instruction::Row(row, taken))
    }

    fn constant(self) -> Option<f32> {
        CODE.with_borrow(|code| match code[self.0 as usize] {
            Instruction::Constant(value) => Some(value),
            _ => None,
        })
    }
}

fn simplified(row: &'static Row, a: E, b: E) -> Option<E> {
    let (left, right) = (a.constant(), b.constant());
    if std::ptr::eq(row, &raw const scalar::MUL) {
        return match (left, right) {
            (Some(0.0), _) | (_, Some(1.0)) => Some(a),
            (_, Some(0.0)) | (Some(1.0), _) => Some(b),
            (Some(x), Some(y)) => Some(E::from(x * y)),
            _ => None,
        };
    }
    if std::ptr::eq(row, &raw const scalar::ADD) {
        return match (left, right) {
            (Some(0.0), _) => Some(b),
            (_, Some(0.0)) => Some(a),
            _ => None,
        };
    }
    None
}

impl From<f32> for E {
    fn from(value: f32) -> Self {
        push(Instruction::Constant(value))
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $row:ident),+) => {$(
        impl $trait for E {
            type Output = E;
            fn $method(self, other: E) -> E {
                E::row(&scalar::$row, &[self, other])
            }
        }
        impl $trait<f32> for E {
            type Output = E;
            fn $method(self, other: f32) -> E {
                E::row(&scalar::$row, &[self, other.into()])
            }
        }
        impl $trait<E> for f32 {
            type Output = E;
            fn $method(self, other: E) -> E {
                E::row(&scalar::$row, &[self.into(), other])
            }
        }
    )+};
}

operators!(Add add ADD, Sub sub SUB, Mul mul MUL, Div div DIV);

impl Neg for E {
    type Output = Self;
    fn neg(self) -> Self {
        Self::row(&scalar::NEG, &[self])
    }
}
