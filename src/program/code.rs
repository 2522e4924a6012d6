//! A program: its instructions and results, how it is built from expressions, and what can be done to it whole.

use super::expr::{Building, Expr};
use super::instruction::Instruction;
use super::op::ScalarOp;
use crate::error::{Error, Result};
use crate::host::number;

/// Straight-line code: each instruction names earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Number of inputs.
    pub inputs: usize,
    /// The instructions.
    pub code: Vec<Instruction>,
    /// The instructions whose values are the results.
    pub results: Vec<u16>,
}

impl Program {
    /// Builds a program of `inputs` values with one result from an expression over them.
    pub fn build(inputs: usize, body: impl FnOnce(&[Expr]) -> Expr) -> Self {
        Self::with_results(inputs, |values| vec![body(values)])
    }

    /// Builds a program of `inputs` values with several results.
    pub fn with_results(inputs: usize, body: impl FnOnce(&[Expr]) -> Vec<Expr>) -> Self {
        // The code outside `body` is compiled once, not once per body.
        let building = Building::new(inputs);
        let results = body(building.inputs());
        Self::built(building, &results)
    }

    fn built(building: Building, results: &[Expr]) -> Self {
        let inputs = building.inputs().len();
        let (code, results) = building.finish(results);
        Self { inputs, code, results }.pruned()
    }

    /// A program of one operation.
    pub fn op(op: &'static ScalarOp) -> Self {
        Self::build(op.arguments.len(), |values| Expr::op(op, values))
    }

    /// The instruction of its one result.
    #[track_caller]
    pub fn result(&self) -> u16 {
        let [result] = self.results[..] else { panic!("program: got {} results, expected 1", self.results.len()) };
        result
    }

    /// Errors on constants outside the range of f32: those that would become infinite, or 0 although they are not 0.
    pub fn check_f32(&self) -> Result<()> {
        for instruction in &self.code {
            if let Instruction::Constant(value) = *instruction
                && (!(value as f32).is_finite() || (value != 0.0 && value as f32 == 0.0))
            {
                let value = number(value);
                return Err(Error::new(format!(
                    "formula: the constant {value:?} is outside the range of 32-bit numbers"
                )));
            }
        }
        Ok(())
    }

    /// The program with only one of its results.
    pub fn only(&self, result: usize) -> Self {
        Self { results: vec![self.results[result]], ..self.clone() }.pruned()
    }

    /// The program with only the inputs it uses, renumbered, and the old numbers of those inputs.
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

    /// Whether it uses the input at a place.
    pub fn uses(&self, input: usize) -> bool {
        self.code.contains(&Instruction::Input(input as u16))
    }

    /// Whether its result is its one input.
    pub fn is_identity(&self) -> bool {
        self.code == [Instruction::Input(0)]
    }

    /// This program with input `at` replaced by `inner`, which has one result; `places` maps the inputs of each to those of the combined program.
    pub fn inlined(
        &self,
        at: usize,
        inner: &Self,
        inputs: usize,
        outer_places: &[usize],
        inner_places: &[usize],
    ) -> Self {
        Self::with_results(inputs, |values| {
            let pick = |places: &[usize]| places.iter().map(|&place| values[place]).collect::<Vec<Expr>>();
            let inner_value = inner.emit(&pick(inner_places));
            let mut taken = pick(outer_places);
            taken[at] = inner_value;
            self.emit_all(&taken)
        })
    }

    /// Appends this program, which has one result, to the one being built.
    #[track_caller]
    pub fn emit(&self, inputs: &[Expr]) -> Expr {
        self.replayed(inputs)[self.result() as usize]
    }

    /// Appends this program to the one being built and returns its results.
    pub fn emit_all(&self, inputs: &[Expr]) -> Vec<Expr> {
        let values = self.replayed(inputs);
        self.results.iter().map(|&result| values[result as usize]).collect()
    }

    /// Appends every instruction to the program being built and returns their values.
    pub(super) fn replayed(&self, inputs: &[Expr]) -> Vec<Expr> {
        let mut values: Vec<Expr> = Vec::with_capacity(self.code.len());
        for instruction in &self.code {
            values.push(match *instruction {
                Instruction::Input(at) => inputs[at as usize],
                Instruction::Constant(constant) => Expr::from(constant),
                Instruction::Op(op, arguments) => {
                    let taken: Vec<Expr> =
                        arguments[..op.arguments.len()].iter().map(|&a| values[a as usize]).collect();
                    Expr::op(op, &taken)
                }
            });
        }
        values
    }

    /// Number of operations per element.
    pub fn operations(&self) -> u64 {
        self.code.iter().filter(|instruction| matches!(instruction, Instruction::Op(..))).count() as u64
    }

    /// The operations it uses, each once.
    pub fn ops(&self) -> Vec<&'static ScalarOp> {
        let mut ops: Vec<&'static ScalarOp> = Vec::new();
        for instruction in &self.code {
            if let Instruction::Op(op, _) = instruction
                && !ops.iter().any(|known| std::ptr::eq(*known, *op))
            {
                ops.push(op);
            }
        }
        ops
    }

    /// The program without instructions that no result needs.
    pub(super) fn pruned(self) -> Self {
        let mut is_needed = vec![false; self.code.len()];
        self.results.iter().for_each(|&result| is_needed[result as usize] = true);
        for at in (0..self.code.len()).rev() {
            if let (true, Instruction::Op(op, arguments)) = (is_needed[at], self.code[at]) {
                arguments[..op.arguments.len()].iter().for_each(|&a| is_needed[a as usize] = true);
            }
        }
        let mut moved = vec![0_u16; self.code.len()];
        let mut code = Vec::new();
        for (at, instruction) in self.code.into_iter().enumerate() {
            if is_needed[at] {
                moved[at] = code.len() as u16;
                code.push(match instruction {
                    Instruction::Op(op, arguments) => Instruction::Op(op, arguments.map(|a| moved[a as usize])),
                    other => other,
                });
            }
        }
        Self { inputs: self.inputs, code, results: self.results.iter().map(|&result| moved[result as usize]).collect() }
    }
}
