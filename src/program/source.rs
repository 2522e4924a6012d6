//! Programs as source text of other languages: Python with NumPy and SciPy, and Rust. A subterm that is used more than once is assigned to a
//! name first.

use super::op::ScalarOp;
use super::{Instruction, Program};
use crate::error::{Error, Result};
use crate::host::number;

use Strength::{Atom, Power, Product, Sign, Sum};

/// A programming language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Expressions over numbers and NumPy arrays, imported as `np`; special functions from `scipy.special`, imported as `special`.
    Python,
    /// Expressions over `f64` and its methods.
    Rust,
}

/// A program with one result as source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// Names with their expressions, to be assigned in this order.
    pub assigned: Vec<(String, String)>,
    /// The expression of the result.
    pub result: String,
}

/// Binding strength of an expression: a weaker one needs parentheses inside a stronger one.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Strength {
    Sum,
    Product,
    Sign,
    Power,
    Atom,
}

impl Language {
    fn call(self, op: &ScalarOp) -> Result<&'static str> {
        let (language, template) = match self {
            Self::Python => ("Python: NumPy and SciPy have", op.texts.python),
            Self::Rust => ("Rust: the standard library has", op.texts.rust),
        };
        if template.is_empty() {
            let name = op.name;
            return Err(Error::usage(format!("{language} no function \"{name}\"")));
        }
        Ok(template)
    }

    /// A power with a whole exponent.
    fn power(self, base: &Term, exponent: i32) -> Term {
        match self {
            Self::Python => Term::new(format!("{}**{exponent}", base.at_least(Atom)), Power),
            Self::Rust => Term::new(format!("{}.powi({exponent})", base.receiver(self)), Atom),
        }
    }
}

impl Program {
    /// Its one result in a language, over inputs with these texts. Errors if the language's libraries lack a function.
    pub fn source_text(&self, language: Language, inputs: &[&str]) -> Result<SourceText> {
        let mut uses = vec![0_usize; self.code.len()];
        for instruction in &self.code {
            if let Instruction::Op(op, arguments) = instruction {
                arguments[..op.arguments.len()].iter().for_each(|&a| uses[a as usize] += 1);
            }
        }
        let (mut terms, mut assigned, mut number) = (Vec::with_capacity(self.code.len()), Vec::new(), 0);
        for (at, instruction) in self.code.iter().enumerate() {
            let mut term = term(instruction, language, inputs, &terms)?;
            if uses[at] > 1 && matches!(instruction, Instruction::Op(..)) {
                let name = loop {
                    number += 1;
                    let name = format!("t{number}");
                    if !inputs.contains(&name.as_str()) {
                        break name;
                    }
                };
                let text = std::mem::replace(&mut term, Term::new(name.clone(), Atom)).text;
                assigned.push((name, text));
            }
            terms.push(term);
        }
        let result = self.results.first().map_or(String::new(), |&result| terms[result as usize].text.clone());
        Ok(SourceText { assigned, result })
    }
}

struct Term {
    text: String,
    strength: Strength,
    /// The value of a small whole constant.
    whole: Option<i32>,
}

impl Term {
    fn new(text: String, strength: Strength) -> Self {
        Self { text, strength, whole: None }
    }

    fn at_least(&self, least: Strength) -> String {
        if self.strength < least { format!("({})", self.text) } else { self.text.clone() }
    }

    /// The text before a method's dot; a number needs its type there.
    fn receiver(&self, language: Language) -> String {
        let is_number = self.text.starts_with(|c: char| c.is_ascii_digit());
        if language == Language::Rust && is_number { format!("{}_f64", self.text) } else { self.at_least(Atom) }
    }
}

fn term(instruction: &Instruction, language: Language, inputs: &[&str], terms: &[Term]) -> Result<Term> {
    let (op, arguments) = match *instruction {
        Instruction::Input(at) => return Ok(Term::new(inputs[at as usize].to_owned(), Atom)),
        Instruction::Constant(value) => {
            let strength = if value.is_sign_negative() { Sign } else { Atom };
            let whole = (value.fract() == 0.0 && value.abs() <= 64.0).then_some(value as i32);
            return Ok(Term { text: format!("{:?}", number(value)), strength, whole });
        }
        Instruction::Op(op, arguments) => (op, arguments),
    };
    let argument = |at: usize| &terms[arguments[at] as usize];
    let infix = |sign: &str, right: Strength, own: Strength| {
        Ok(Term::new(format!("{}{sign}{}", argument(0).at_least(own), argument(1).at_least(right)), own))
    };
    match op.name {
        "add" => infix(" + ", Product, Sum),
        "sub" => infix(" - ", Product, Sum),
        "mul" => infix("*", Sign, Product),
        "div" | "ratio" => infix("/", Sign, Product),
        "neg" => Ok(Term::new(format!("-{}", argument(0).at_least(Power)), Sign)),
        "square" => Ok(language.power(argument(0), 2)),
        name => {
            let whole = argument(op.arguments.len() - 1).whole;
            if let ("pow", Some(whole)) = (name, whole) {
                return Ok(language.power(argument(0), whole));
            }
            let mut text = language.call(op)?.to_owned();
            // Arguments of methods and of operators in a template need parentheses, those in an argument list need none.
            for at in (0..op.arguments.len()).rev() {
                text = replaced(&text, at, &argument(at).receiver(language), &argument(at).text);
            }
            Ok(Term::new(text, Atom))
        }
    }
}

/// The template with one argument filled in.
fn replaced(template: &str, at: usize, receiver: &str, whole: &str) -> String {
    template.replace(&format!("@{at}"), receiver).replace(&format!("#{at}"), whole)
}

#[cfg(test)]
mod tests {
    use super::Language;
    use crate::program::op::OPS;
    use crate::program::parse::parse;

    #[test]
    fn formulas_become_source() {
        let source = |formula: &str, language| {
            let text = parse(formula, &["a", "x"], &[]).unwrap().source_text(language, &["a", "x"]).unwrap();
            let lines = text.assigned.iter().map(|(name, text)| format!("{name} = {text}; "));
            lines.collect::<String>() + &text.result
        };
        let cases = [
            ("a*exp(-x^2)", "a*np.exp(-x**2)", "a*(-x.powi(2)).exp()"),
            ("(a - x)/(2*x - (1 - a))", "(a - x)/(2.0*x - (1.0 - a))", "(a - x)/(2.0*x - (1.0 - a))"),
            ("2^x - x^-2", "np.power(2.0, x) - (1.0/(x**2))", "2.0_f64.powf(x) - x.powi(2).recip()"),
            ("x^20.0", "x**20", "x.powi(20)"),
            (
                "where(x > a, x, -a)",
                "np.where(np.where(x > a, 1.0, 0.0), x, -a)",
                "(if f64::from(x > a) != 0.0 { x } else { -a })",
            ),
            ("t = exp(x*a); t/(1 + t)", "t1 = np.exp(x*a); t1/(1.0 + t1)", "t1 = (x*a).exp(); t1/(1.0 + t1)"),
            ("max(a + x, 0.5)*(-x)", "np.maximum(a + x, 0.5)*-x", "(a + x).max(0.5)*-x"),
        ];
        for (formula, python, rust) in cases {
            assert_eq!(source(formula, Language::Python), python, "{formula}");
            assert_eq!(source(formula, Language::Rust), rust, "{formula}");
        }
        let erf = parse("erf(x)", &["x"], &[]).unwrap().source_text(Language::Rust, &["x"]).unwrap_err();
        assert_eq!(erf.to_string(), "Rust: the standard library has no function \"erf\"");
    }

    #[test]
    fn every_operation_of_formulas_has_a_python_text() {
        let infix = ["add", "sub", "mul", "div", "ratio", "neg", "square"];
        let named = OPS.iter().filter(|op| !infix.contains(&op.name));
        let missing: Vec<&str> = named.filter(|op| op.texts.python.is_empty()).map(|op| op.name).collect();
        assert_eq!(missing, ["sinc_slope"]);
    }
}
