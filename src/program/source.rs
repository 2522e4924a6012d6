//! Programs as source text of other languages: Python with NumPy and SciPy, and Rust. A subterm that is used more than once is assigned to a
//! name first.

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

/// Name, Python, Rust; "" if the language has none. `#0` is the first argument, `@0` the same in parentheses if it is no atom.
type Call = (&'static str, &'static str, &'static str);

/// Operations that are written as calls.
const CALLS: &[Call] = &[
    ("recip", "(1.0/@0)", "@0.recip()"),
    ("abs", "np.abs(#0)", "@0.abs()"),
    ("sign", "np.sign(#0)", "(f64::from(#0 > 0.0) - f64::from(#0 < 0.0))"),
    ("min", "np.minimum(#0, #1)", "@0.min(#1)"),
    ("max", "np.maximum(#0, #1)", "@0.max(#1)"),
    ("clamp", "np.minimum(np.maximum(#0, #1), #2)", "@0.max(#1).min(#2)"),
    ("sqrt", "np.sqrt(#0)", "@0.sqrt()"),
    ("rsqrt", "(1.0/np.sqrt(#0))", "@0.sqrt().recip()"),
    ("pow", "np.power(#0, #1)", "@0.powf(#1)"),
    ("floor", "np.floor(#0)", "@0.floor()"),
    ("ceil", "np.ceil(#0)", "@0.ceil()"),
    ("round", "np.round(#0)", "@0.round_ties_even()"),
    ("lt", "np.where(#0 < #1, 1.0, 0.0)", "f64::from(#0 < #1)"),
    ("le", "np.where(#0 <= #1, 1.0, 0.0)", "f64::from(#0 <= #1)"),
    ("gt", "np.where(#0 > #1, 1.0, 0.0)", "f64::from(#0 > #1)"),
    ("ge", "np.where(#0 >= #1, 1.0, 0.0)", "f64::from(#0 >= #1)"),
    ("eq", "np.where(#0 == #1, 1.0, 0.0)", "f64::from(#0 == #1)"),
    ("ne", "np.where(#0 != #1, 1.0, 0.0)", "f64::from(#0 != #1)"),
    ("not", "np.where(#0 == 0.0, 1.0, 0.0)", "f64::from(#0 == 0.0)"),
    ("and", "np.where(np.logical_and(#0, #1), 1.0, 0.0)", "f64::from(#0 != 0.0 && #1 != 0.0)"),
    ("or", "np.where(np.logical_or(#0, #1), 1.0, 0.0)", "f64::from(#0 != 0.0 || #1 != 0.0)"),
    ("select", "np.where(#0, #1, #2)", "(if #0 != 0.0 { #1 } else { #2 })"),
    ("exp", "np.exp(#0)", "@0.exp()"),
    ("exp2", "np.exp2(#0)", "@0.exp2()"),
    ("expm1", "np.expm1(#0)", "@0.exp_m1()"),
    ("ln", "np.log(#0)", "@0.ln()"),
    ("log2", "np.log2(#0)", "@0.log2()"),
    ("log1p", "np.log1p(#0)", "@0.ln_1p()"),
    ("sin", "np.sin(#0)", "@0.sin()"),
    ("cos", "np.cos(#0)", "@0.cos()"),
    ("tan", "np.tan(#0)", "@0.tan()"),
    ("asin", "np.arcsin(#0)", "@0.asin()"),
    ("acos", "np.arccos(#0)", "@0.acos()"),
    ("atan", "np.arctan(#0)", "@0.atan()"),
    ("atan2", "np.arctan2(#0, #1)", "@0.atan2(#1)"),
    ("hypot", "np.hypot(#0, #1)", "@0.hypot(#1)"),
    ("sinh", "np.sinh(#0)", "@0.sinh()"),
    ("cosh", "np.cosh(#0)", "@0.cosh()"),
    ("tanh", "np.tanh(#0)", "@0.tanh()"),
    ("erf", "special.erf(#0)", ""),
    ("erfc", "special.erfc(#0)", ""),
    ("sinc", "np.sinc(@0/np.pi)", "(if #0 == 0.0 { 1.0 } else { @0.sin() / @0 })"),
    ("gamma", "special.gamma(#0)", ""),
    ("lgamma", "special.gammaln(#0)", ""),
    ("polygamma", "special.polygamma(#0, #1)", ""),
    ("faddeeva_re", "np.real(special.wofz(@0 + 1j*@1))", ""),
    ("faddeeva_im", "np.imag(special.wofz(@0 + 1j*@1))", ""),
    ("j0", "special.j0(#0)", ""),
    ("j1", "special.j1(#0)", ""),
    ("sigmoid", "special.expit(#0)", "(1.0 + (-@0).exp()).recip()"),
    ("softplus", "np.logaddexp(0.0, #0)", "(@0.max(0.0) + (-@0.abs()).exp().ln_1p())"),
    ("relu", "np.maximum(#0, 0.0)", "@0.max(0.0)"),
];

impl Language {
    fn call(self, name: &str) -> Result<&'static str> {
        let found = CALLS.iter().find(|(known, ..)| *known == name);
        let (language, template) = match self {
            Self::Python => ("Python: NumPy and SciPy have", found.map_or("", |(_, python, _)| python)),
            Self::Rust => ("Rust: the standard library has", found.map_or("", |(.., rust)| rust)),
        };
        if template.is_empty() {
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
            let mut text = language.call(name)?.to_owned();
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
    use super::{CALLS, Language};
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
        let is_known = |name: &str| infix.contains(&name) || CALLS.iter().any(|(known, ..)| *known == name);
        let missing: Vec<&str> = OPS.iter().map(|op| op.name).filter(|name| !is_known(name)).collect();
        assert_eq!(missing, ["sinc_slope"]);
    }
}
