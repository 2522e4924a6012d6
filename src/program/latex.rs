//! Programs as LaTeX, for reports and pages.

use super::{Instruction, Program};
use crate::host::number;

impl Program {
    /// Its results as LaTeX, separated by commas; `inputs` are the LaTeX texts of the inputs.
    pub fn latex(&self, inputs: &[&str]) -> String {
        let mut terms: Vec<Term> = Vec::with_capacity(self.code.len());
        for instruction in &self.code {
            let term = match *instruction {
                Instruction::Input(at) => Term { text: inputs[at as usize].to_owned(), strength: ATOM },
                Instruction::Constant(value) => constant(value),
                Instruction::Op(op, arguments) => {
                    let taken: Vec<&Term> =
                        arguments[..op.arguments.len()].iter().map(|&a| &terms[a as usize]).collect();
                    applied(op.name, &taken)
                }
            };
            terms.push(term);
        }
        self.results.iter().map(|&result| terms[result as usize].text.as_str()).collect::<Vec<_>>().join(",\\; ")
    }
}

struct Term {
    text: String,
    strength: u8,
}

const COMPARISON: u8 = 0;
const SUM: u8 = 1;
/// A product or a name with a minus sign in front.
const SIGN: u8 = 2;
const PRODUCT: u8 = 3;
const POWER: u8 = 4;
const ATOM: u8 = 5;

fn constant(value: f64) -> Term {
    let text = format!("{:?}", number(value));
    let strength = if value.is_sign_negative() { SIGN } else { ATOM };
    match text.split_once('e') {
        Some((mantissa, exponent)) => {
            let exponent = exponent.trim_start_matches('+');
            Term { text: format!("{mantissa} \\cdot 10^{{{exponent}}}"), strength: strength.min(PRODUCT) }
        }
        None => Term { text: text.trim_end_matches(".0").to_owned(), strength },
    }
}

impl Term {
    /// Its text, in parentheses if it binds less tightly than `least`.
    fn within(&self, least: u8) -> String {
        if self.strength < least { format!("\\left({}\\right)", self.text) } else { self.text.clone() }
    }
}

fn applied(name: &str, x: &[&Term]) -> Term {
    let infix = |sign: &str, strength: u8, right: u8| Term {
        text: format!("{} {sign} {}", x[0].within(strength), x[1].within(right)),
        strength,
    };
    let wrapped = |text: String, strength: u8| Term { text, strength };
    match name {
        "add" if x[1].strength == SIGN => infix("+", SUM, PRODUCT),
        "add" => infix("+", SUM, SUM),
        "sub" => infix("-", SUM, PRODUCT),
        "mul" if x[0].strength == SIGN => infix("\\,", SIGN, PRODUCT),
        "mul" => infix("\\,", PRODUCT, PRODUCT),
        "div" | "ratio" => wrapped(format!("\\frac{{{}}}{{{}}}", x[0].text, x[1].text), POWER),
        "recip" => wrapped(format!("\\frac{{1}}{{{}}}", x[0].text), POWER),
        "neg" => wrapped(format!("-{}", x[0].within(PRODUCT)), SIGN),
        "pow" => wrapped(format!("{}^{{{}}}", x[0].within(ATOM), x[1].text), POWER),
        "square" => wrapped(format!("{}^{{2}}", x[0].within(ATOM)), POWER),
        "sqrt" => wrapped(format!("\\sqrt{{{}}}", x[0].text), ATOM),
        "rsqrt" => wrapped(format!("\\frac{{1}}{{\\sqrt{{{}}}}}", x[0].text), POWER),
        "exp" => wrapped(format!("e^{{{}}}", x[0].text), POWER),
        "exp2" => wrapped(format!("2^{{{}}}", x[0].text), POWER),
        "abs" => wrapped(format!("\\left|{}\\right|", x[0].text), ATOM),
        "floor" => wrapped(format!("\\left\\lfloor {} \\right\\rfloor", x[0].text), ATOM),
        "ceil" => wrapped(format!("\\left\\lceil {} \\right\\rceil", x[0].text), ATOM),
        "lt" => infix("<", COMPARISON, SUM),
        "le" => infix("\\le", COMPARISON, SUM),
        "gt" => infix(">", COMPARISON, SUM),
        "ge" => infix("\\ge", COMPARISON, SUM),
        "eq" => infix("=", COMPARISON, SUM),
        "ne" => infix("\\ne", COMPARISON, SUM),
        "and" => infix("\\land", COMPARISON, SUM),
        "or" => infix("\\lor", COMPARISON, SUM),
        "select" => wrapped(
            format!(
                "\\begin{{cases}} {} & {} \\\\ {} & \\text{{otherwise}} \\end{{cases}}",
                x[1].text, x[0].text, x[2].text
            ),
            ATOM,
        ),
        "gamma" => wrapped(format!("\\Gamma\\left({}\\right)", x[0].text), ATOM),
        "lgamma" => wrapped(format!("\\ln\\Gamma\\left({}\\right)", x[0].text), ATOM),
        "sigmoid" => wrapped(format!("\\sigma\\left({}\\right)", x[0].text), ATOM),
        "j0" | "j1" => wrapped(format!("J_{}\\left({}\\right)", &name[1..], x[0].text), ATOM),
        "asin" | "acos" | "atan" => wrapped(format!("\\arc{}\\left({}\\right)", &name[1..], x[0].text), ATOM),
        "sin" | "cos" | "tan" | "sinh" | "cosh" | "tanh" | "ln" | "min" | "max" => {
            let list: Vec<&str> = x.iter().map(|term| term.text.as_str()).collect();
            wrapped(format!("\\{name}\\left({}\\right)", list.join(", ")), ATOM)
        }
        _ => {
            let list: Vec<&str> = x.iter().map(|term| term.text.as_str()).collect();
            let name = name.replace('_', "\\_");
            wrapped(format!("\\operatorname{{{name}}}\\left({}\\right)", list.join(", ")), ATOM)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::program::parse::parse;

    #[test]
    fn formulas_become_latex() {
        let latex = |formula: &str| parse(formula, &["x", "y"], &[]).unwrap().latex(&["x", "y_0"]);
        assert_eq!(latex("x*tanh(softplus(x))"), "x \\, \\tanh\\left(\\operatorname{softplus}\\left(x\\right)\\right)");
        assert_eq!(latex("(x - y)^2/2"), "\\frac{\\left(x - y_0\\right)^{2}}{2}");
        assert_eq!(latex("(x/y)^2"), "\\left(\\frac{x}{y_0}\\right)^{2}");
        assert_eq!(latex("exp(-x*y)"), "e^{-x \\, y_0}");
        assert_eq!(latex("x + -y*2"), "x + \\left(-y_0 \\, 2\\right)");
        assert_eq!(latex("x + y + 1"), "x + y_0 + 1");
        assert_eq!(latex("exp(-x)*(1 + y)"), "e^{-x} \\, \\left(1 + y_0\\right)");
        assert_eq!(latex("1e-9*x"), "1 \\cdot 10^{-9} \\, x");
        assert_eq!(
            latex("where(x > 0, x, 0.01*x)"),
            "\\begin{cases} x & x > 0 \\\\ 0.01 \\, x & \\text{otherwise} \\end{cases}"
        );
    }
}
