//! Programs as text that parses to a program with the same values. A subterm that is used more than once is assigned to a name first.

use super::{Instruction, Program};
use crate::host::number;

use Strength::{Atom, Comparison, Power, Product, Sign, Sum};

/// Binding strength of an expression: a weaker one needs parentheses inside a stronger one.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Strength {
    Comparison,
    Sum,
    Product,
    Sign,
    Power,
    Atom,
}

impl Program {
    /// As a formula over inputs of these names.
    pub fn text(&self, inputs: &[&str]) -> String {
        let mut uses = vec![0_usize; self.code.len()];
        for instruction in &self.code {
            if let Instruction::Op(op, arguments) = instruction {
                arguments[..op.arguments.len()].iter().for_each(|&a| uses[a as usize] += 1);
            }
        }
        self.results.iter().for_each(|&result| uses[result as usize] += 1);
        let mut lines = String::new();
        let mut terms: Vec<(String, Strength)> = Vec::with_capacity(self.code.len());
        let mut assigned = 0;
        for (at, instruction) in self.code.iter().enumerate() {
            let mut term = term(instruction, inputs, &terms);
            if uses[at] > 1 && matches!(instruction, Instruction::Op(..)) {
                let name = loop {
                    assigned += 1;
                    let name = format!("t{assigned}");
                    if !inputs.contains(&name.as_str()) {
                        break name;
                    }
                };
                lines += &format!("{name} = {}; ", term.0);
                term = (name, Atom);
            }
            terms.push(term);
        }
        let results: Vec<&str> = self.results.iter().map(|&result| terms[result as usize].0.as_str()).collect();
        lines + &results.join(", ")
    }
}

fn term(instruction: &Instruction, inputs: &[&str], terms: &[(String, Strength)]) -> (String, Strength) {
    let (op, arguments) = match *instruction {
        Instruction::Input(at) => return (inputs[at as usize].to_owned(), Atom),
        Instruction::Constant(value) => {
            let strength = if value.is_sign_negative() { Sign } else { Atom };
            return (format!("{:?}", number(value)), strength);
        }
        Instruction::Op(op, arguments) => (op, arguments),
    };
    let argument = |at: usize, least: Strength| {
        let (text, strength) = &terms[arguments[at] as usize];
        if *strength < least { format!("({text})") } else { text.clone() }
    };
    let infix = |sign: &str, left: Strength, right: Strength, own: Strength| {
        (format!("{}{sign}{}", argument(0, left), argument(1, right)), own)
    };
    match op.name {
        "add" => infix(" + ", Sum, Product, Sum),
        "sub" => infix(" - ", Sum, Product, Sum),
        "mul" => infix("*", Product, Sign, Product),
        "div" => infix("/", Product, Sign, Product),
        "neg" => (format!("-{}", argument(0, Sign)), Sign),
        "pow" => infix("^", Atom, Atom, Power),
        "lt" => infix(" < ", Sum, Sum, Comparison),
        "le" => infix(" <= ", Sum, Sum, Comparison),
        "gt" => infix(" > ", Sum, Sum, Comparison),
        "ge" => infix(" >= ", Sum, Sum, Comparison),
        "eq" => infix(" == ", Sum, Sum, Comparison),
        "ne" => infix(" != ", Sum, Sum, Comparison),
        name => {
            let name = if name == "select" { "where" } else { name };
            let list: Vec<String> = (0..op.arguments.len()).map(|at| argument(at, Comparison)).collect();
            (format!("{name}({})", list.join(", ")), Atom)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::program::parse::parse;

    #[test]
    fn text_is_read_back_to_the_same_program() {
        let formulas = [
            "x*tanh(softplus(x))",
            "log(cosh(x - y))",
            "-x^2 + (x - y)*(x - (y - 1))/(2*x*-y)",
            "t = exp(-x); where(x > y, t, t*t) / (1 + t)",
            "min(x, y, 3) >= 1e-30",
            "2^x - x^y^0.25 - 0.1",
            "x, y*2, x*y",
        ];
        for formula in formulas {
            let names = ["x", "y"];
            let program = parse(formula, &names, &[]).unwrap();
            let text = program.text(&names);
            let again = parse(&text, &names, &[]).unwrap();
            assert_eq!(again.text(&names), text, "{formula}");
            assert_eq!(again.at(&[0.75, 1.5]), program.at(&[0.75, 1.5]), "{formula} became {text}");
        }
    }
}
