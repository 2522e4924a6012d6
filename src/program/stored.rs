//! Programs as JSON, exactly: `{"inputs": 2, "code": ["x0", 0.5, ["mul", 0, 1]], "results": [2]}`. Unlike a formula's text, which a parser may
//! simplify, it is read back as the same instructions, and so gives the same bits.

use super::op::OPS;
use super::{Instruction, Program};
use crate::error::{Error, Result};
use crate::json::{Json, Record};

impl Record for Program {
    fn blank() -> Self {
        Self { inputs: 0, code: Vec::new(), results: Vec::new() }
    }

    fn to_json(&self) -> Json {
        Json::fields([
            ("inputs", self.inputs.to_json()),
            ("code", Json::List(self.code.iter().map(written).collect())),
            ("results", Json::List(self.results.iter().map(|&at| usize::from(at).to_json()).collect())),
        ])
    }

    fn read(&mut self, json: &Json) -> Result<()> {
        self.inputs = usize::from_json(json.field("inputs")?)?;
        self.code.clear();
        let code = json.field("code")?;
        for step in code.list().ok_or_else(|| code.unlike("a list of instructions"))? {
            let instruction = instruction(step, self.inputs, self.code.len())?;
            self.code.push(instruction);
        }
        let results: Vec<usize> = Vec::from_json(json.field("results")?)?;
        self.results = results.iter().map(|&at| place(at, self.code.len())).collect::<Result<_>>()?;
        if self.results.is_empty() { Err(Error::new("a program has no results")) } else { Ok(()) }
    }
}

fn written(instruction: &Instruction) -> Json {
    match instruction {
        Instruction::Input(at) => Json::Text(format!("x{at}")),
        Instruction::Constant(value) => value.to_json(),
        Instruction::Op(op, arguments) => {
            let places = arguments[..op.arguments.len()].iter().map(|&at| usize::from(at).to_json());
            Json::List([Json::Text(op.name.to_owned())].into_iter().chain(places).collect())
        }
    }
}

fn instruction(json: &Json, inputs: usize, before: usize) -> Result<Instruction> {
    match json {
        Json::Text(text) => {
            let at =
                text.strip_prefix('x').and_then(|at| at.parse::<u16>().ok()).filter(|&at| usize::from(at) < inputs);
            at.map(Instruction::Input).ok_or_else(|| json.unlike(&format!("one of {inputs} inputs, such as \"x0\"")))
        }
        Json::Number(_) => f64::from_json(json).map(Instruction::Constant),
        Json::List(parts) => {
            let name = parts.first().and_then(Json::text).ok_or_else(|| json.unlike("the name of an operation"))?;
            let op = OPS.iter().find(|op| op.name == name).ok_or_else(|| json.unlike("a known operation"))?;
            if parts.len() != op.arguments.len() + 1 {
                return Err(json.unlike(&format!("{} arguments", op.arguments.len())));
            }
            let places = parts[1..].iter().map(|part| place(usize::from_json(part)?, before));
            let places = places.collect::<Result<Vec<u16>>>()?;
            // Unused places repeat the first, as in a program that was built.
            let mut arguments = [places.first().copied().unwrap_or(0); 3];
            arguments[..places.len()].copy_from_slice(&places);
            Ok(Instruction::Op(op, arguments))
        }
        other => Err(other.unlike("an instruction")),
    }
}

/// The number of an earlier instruction, of which there are `before`.
fn place(at: usize, before: usize) -> Result<u16> {
    let place = u16::try_from(at).ok().filter(|_| at < before);
    place.ok_or_else(|| Error::new(format!("got instruction {at}, expected one of the {before} before it")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::expr::{exp, pow, select};

    #[test]
    fn a_program_is_read_back_as_the_same_instructions() {
        let program = Program::with_results(3, |v| vec![pow(v[0], 2.0) * 0.1, select(v[2], exp(v[0]), v[1])]);
        let json = program.to_json();
        assert_eq!(Program::from_json(&Json::parse(&json.to_string()).unwrap()).unwrap(), program);
        let small = Program::build(2, |v| v[0] * v[1] + 0.25);
        let expected = r#"{"inputs":2,"code":["x0","x1",["mul",0,1],0.25,["add",2,3]],"results":[4]}"#;
        assert_eq!(small.to_json().to_string(), expected);
    }

    #[test]
    fn a_damaged_program_is_an_error() {
        for (text, expected) in [
            (r#"{"inputs":1,"code":["x1"],"results":[0]}"#, r#"got "x1", expected one of 1 inputs, such as "x0""#),
            (
                r#"{"inputs":1,"code":[["mul",0,0]],"results":[0]}"#,
                "got instruction 0, expected one of the 0 before it",
            ),
            (r#"{"inputs":1,"code":["x0",["mul",0]],"results":[1]}"#, r#"got ["mul",0], expected 2 arguments"#),
            (r#"{"inputs":1,"code":["x0",["no",0]],"results":[1]}"#, r#"got ["no",0], expected a known operation"#),
            (r#"{"inputs":1,"code":["x0"],"results":[1]}"#, "got instruction 1, expected one of the 1 before it"),
            (r#"{"inputs":1,"code":["x0"],"results":[]}"#, "a program has no results"),
        ] {
            assert_eq!(Program::from_json(&Json::parse(text).unwrap()).unwrap_err().to_string(), expected);
        }
    }
}
