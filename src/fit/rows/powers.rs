//! Powers that no start makes finite: a base of columns that is negative in some row, and an exponent that is a parameter.

use super::pieces;
use super::problem::Problem;
use crate::error::{Error, Result};
use crate::fit::pass::model::varying;
use crate::host::number;
use crate::program::op::{self, ScalarOp};
use crate::program::{Instruction, Program};

/// Errors if a power with a free exponent has a base below 0 in some row, whatever the parameters are.
pub(crate) fn check_powers(problem: &Problem<'_>) -> Result<()> {
    let (variables, program) = varying(problem);
    let is_positive = |at: usize| {
        let parameter = |places: &Vec<usize>| &problem.parameters[places[variables[at]]];
        problem.places.iter().all(|places| parameter(places).low >= 0.0)
    };
    for base in bases(&program, variables.len(), &is_positive) {
        let formula = &problem.formula;
        let columns = formula.columns().len();
        for piece in 0..problem.data.rows().div_ceil(pieces::PIECE) {
            let range = pieces::range(piece, problem.data.rows());
            let found = problem.data.with(range, |part| {
                // Parameters in it are above 0: their size does not matter.
                let ones = vec![1.0; part.y.len()];
                let inputs: Vec<&[f64]> = (0..base.inputs)
                    .map(|at| {
                        if at < variables.len() || at >= variables.len() + columns {
                            &ones[..]
                        } else {
                            part.columns[at - variables.len()]
                        }
                    })
                    .collect();
                let values = base.results(&inputs, part.y.len()).swap_remove(0);
                let row = values.iter().position(|value| *value < 0.0)?;
                Some((
                    part.numbers.of(row),
                    values[row],
                    part.columns.iter().map(|column| column[row]).collect::<Vec<f64>>(),
                ))
            })?;
            let Some((row, value, values)) = found else { continue };
            let at = (0..columns).find(|at| base.uses(variables.len() + at)).unwrap_or(0);
            let (name, row) = (&formula.columns()[at], row + 1);
            let what = if values.get(at) == Some(&value) || values.get(at).is_some_and(|value| *value < 0.0) {
                format!("{name} < 0")
            } else {
                format!("its base is {}", number(value))
            };
            let given = values.get(at).map_or(String::new(), |value| format!(" ({name} = {})", number(*value)));
            return Err(Error::new(format!(
                "fit: {what} in row {row}{given}: a power with a real exponent is no number there: expected rows without it (--where \"{name} >= 0\"), or abs({name})"
            )));
        }
    }
    Ok(())
}

/// The bases of powers whose exponents depend on parameters, if they have the sign of a formula over columns: parameters are at most factors above 0.
fn bases(program: &Program, variables: usize, is_positive: &dyn Fn(usize) -> bool) -> Vec<Program> {
    let is = |op: &'static ScalarOp, one: &'static ScalarOp| std::ptr::eq(op, one);
    // Where a model chooses between values, one that is no number may be left out.
    if program.ops().iter().any(|op| is(op, &op::SELECT)) {
        return Vec::new();
    }
    // Whether an instruction depends on parameters, and whether its sign is that of columns.
    let mut depends: Vec<bool> = Vec::new();
    let mut signed: Vec<bool> = Vec::new();
    let mut found = Vec::new();
    for instruction in &program.code {
        let (depend, sign) = match *instruction {
            Instruction::Input(at) if (at as usize) < variables => (true, is_positive(at as usize)),
            Instruction::Input(_) | Instruction::Constant(_) => (false, true),
            Instruction::Op(op, arguments) => {
                let taken = &arguments[..op.arguments.len()];
                let depend = taken.iter().any(|&at| depends[at as usize]);
                let is_product = is(op, &op::MUL) || is(op, &op::DIV) || is(op, &op::NEG);
                let sign = !depend || is_product && taken.iter().all(|&at| signed[at as usize]);
                if is(op, &op::POW) && depends[taken[1] as usize] && signed[taken[0] as usize] {
                    found.push(taken[0]);
                }
                (depend, sign)
            }
        };
        depends.push(depend);
        signed.push(sign);
    }
    let of = |&base: &u16| Program { results: vec![base], ..program.clone() };
    found.iter().map(of).collect()
}
