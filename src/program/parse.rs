//! The parser of formulas: text to a program.
//!
//! ```text
//! formula    = { name "=" either ( ";" | newline ) } either { "," either }
//! either     = both { "||" both }
//! both       = comparison { "&&" comparison }
//! comparison = sum { ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) sum }
//! sum        = product { ( "+" | "-" ) product }
//! product    = unary { ( "*" | "/" ) unary }
//! unary      = ( "-" | "+" ) unary | power
//! power      = atom [ ( "^" | "**" ) unary | superscripts ]
//! atom       = number | name | name "(" either { "," either } ")" | "(" either ")"
//! ```
//!
//! A comparison is 1 where it holds, else 0; `1 < x < 2` is `1 < x && x < 2`. Names are the inputs, `pi`, `e` and names that were assigned before.
//! Signs may also be those of printed text: `2·x² − y÷3`.

mod conditions;
mod number;
mod superscript;

use super::Program;
use super::expr::{self, Expr};
use super::functions::{COMPOSED, Function, functions, operation};
use super::op::{self, ScalarOp};
use crate::error::{Error, Result, similar};

/// The longest formula, in bytes.
pub const MAX_LENGTH: usize = 10_000;
/// Maximal number of instructions of a formula.
const MAX_CODE: usize = 4_096;
/// Maximal nesting depth of parentheses and signs.
const MAX_DEPTH: usize = 100;
/// Powers with integer exponents up to this become products.
const MAX_PRODUCT: f64 = 8.0;

/// Parses `text` over the inputs called `inputs`. Errors name the character (from 1) and what was expected there.
pub fn parse(text: &str, inputs: &[&str], more: &[Function]) -> Result<Program> {
    parsed(text, inputs, more, false).map(|(program, _)| program)
}

/// The names in `text` that are not in `inputs`, nor assigned, nor `pi` or `e`, in the order of their first use. The name of a function
/// without parentheses counts.
pub fn free_names(text: &str, inputs: &[&str], more: &[Function]) -> Result<Vec<String>> {
    parsed(text, inputs, more, true).map(|(_, free)| free)
}

/// The program, and the names collected if unknown names are allowed.
fn parsed(text: &str, inputs: &[&str], more: &[Function], collects: bool) -> Result<(Program, Vec<String>)> {
    if text.len() > MAX_LENGTH {
        return Err(Error::new(format!(
            "formula: it is too long: got {} characters, expected at most {MAX_LENGTH}",
            text.len()
        )));
    }
    let mut outcome = Ok(Vec::new());
    // A free name is one further input: only names are wanted then.
    let program = Program::with_results(inputs.len() + usize::from(collects), |values| {
        let names = inputs.iter().zip(values).map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let free = collects.then(|| (values[inputs.len()], Vec::new()));
        let mut parser = Parser { text, at: 0, depth: 0, names, more, free };
        let results = parser.formula();
        let (results, free) = match results {
            Ok(results) => (results, Ok(parser.free.map(|(_, free)| free).unwrap_or_default())),
            Err(error) => (vec![Expr::from(0.0)], Err(error)),
        };
        outcome = free;
        results
    });
    outcome.map(|free| (program, free))
}

/// Whether a text is one word, so a name rather than a formula.
pub fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| is_letter(c) || c.is_ascii_digit() || c == '-')
}

/// Characters beyond ASCII that are signs, not letters of names.
const SIGNS: &str = "·⋅×∗∙÷∕−–≤≥≠⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹";
const TIMES: &[&str] = &["*", "·", "⋅", "×", "∗", "∙"];
const OVER: &[&str] = &["/", "÷", "∕"];
const PLUS: &[&str] = &["+"];
const MINUS: &[&str] = &["-", "−", "–"];

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    names: Vec<(String, Expr)>,
    more: &'a [Function],
    /// The value of unknown names, and those found, if they are allowed.
    free: Option<(Expr, Vec<String>)>,
}

impl<'a> Parser<'a> {
    fn formula(&mut self) -> Result<Vec<Expr>> {
        while let Some(name) = self.assigned() {
            let value = self.either()?;
            if !self.takes(";") && !self.takes("\n") {
                return Err(self.expected("\";\" after the assignment"));
            }
            self.names.push((name.to_owned(), value));
        }
        let mut results = vec![self.either()?];
        while self.takes(",") {
            results.push(self.either()?);
        }
        while self.takes(";") || self.takes("\n") {}
        if self.rest().is_empty() { Ok(results) } else { Err(self.expected("an operator or the end")) }
    }

    /// Parses `name =`, if it comes next, and returns the name.
    fn assigned(&mut self) -> Option<&'a str> {
        self.skip_lines();
        let begin = self.at;
        let name = self.word();
        if !name.is_empty() && self.takes("=") && !self.rest().starts_with('=') {
            return Some(name);
        }
        self.at = begin;
        None
    }

    fn sum(&mut self) -> Result<Expr> {
        let mut left = self.product()?;
        loop {
            let at = self.at;
            let op = if self.takes_any(PLUS) {
                &op::ADD
            } else if self.takes_any(MINUS) {
                &op::SUB
            } else {
                return Ok(left);
            };
            let right = self.product()?;
            left = self.apply(at, op, &[left, right])?;
        }
    }

    fn product(&mut self) -> Result<Expr> {
        let mut left = self.unary()?;
        loop {
            let at = self.at;
            let op = if self.takes_any(TIMES) {
                &op::MUL
            } else if self.takes_any(OVER) {
                &op::DIV
            } else {
                return Ok(left);
            };
            let right = self.unary()?;
            if std::ptr::eq(op, &raw const op::DIV) && right.constant() == Some(0.0) {
                return Err(self.wrong(at, "division by a constant zero"));
            }
            left = self.apply(at, op, &[left, right])?;
        }
    }

    fn unary(&mut self) -> Result<Expr> {
        self.deeper()?;
        let at = self.at;
        let value = if self.takes_any(MINUS) {
            let value = self.unary()?;
            self.apply(at, &op::NEG, &[value])
        } else if self.takes_any(PLUS) {
            self.unary()
        } else {
            self.power()
        };
        self.depth -= 1;
        value
    }

    fn power(&mut self) -> Result<Expr> {
        let base = self.atom()?;
        let at = self.at;
        let superscript = self.superscript()?;
        if superscript.is_none() && !self.takes("^") && !self.takes("**") {
            return Ok(base);
        }
        let exponent = superscript.map_or_else(|| self.unary(), Ok)?;
        match exponent.constant() {
            Some(0.5) => self.apply(at, &op::SQRT, &[base]),
            Some(whole) if base.constant().is_none() && whole == whole.trunc() && whole.abs() <= MAX_PRODUCT => {
                let power = base.powi(whole.abs() as u32);
                if whole < 0.0 { self.apply(at, &op::RECIP, &[power]) } else { Ok(power) }
            }
            _ => self.apply(at, &op::POW, &[base, exponent]),
        }
    }

    fn atom(&mut self) -> Result<Expr> {
        self.skip();
        let begin = self.at;
        if self.takes("(") {
            let value = self.either()?;
            self.close()?;
            return Ok(value);
        }
        if self.rest().starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return self.number();
        }
        let name = self.word();
        if name.is_empty() {
            return Err(self.expected("a number, a name or \"(\""));
        }
        if self.takes("(") {
            return self.call(begin, name);
        }
        if let Some((_, value)) = self.names.iter().rev().find(|(known, _)| known == name) {
            return Ok(*value);
        }
        match name {
            "pi" | "π" => Ok(std::f64::consts::PI.into()),
            "e" => Ok(std::f64::consts::E.into()),
            _ if let Some((value, free)) = &mut self.free => {
                if !free.iter().any(|known| known == name) {
                    free.push(name.to_owned());
                }
                Ok(*value)
            }
            _ if functions(self.more).iter().any(|(known, _)| *known == name) => {
                Err(self.wrong(begin, &format!("the function \"{name}\" needs its arguments in parentheses")))
            }
            _ => {
                let known = self.names.iter().map(|(name, _)| name.as_str());
                let known: Vec<&str> = known.chain(functions(self.more).iter().map(|(name, _)| *name)).collect();
                Err(self.unknown(begin, "name", name, &known))
            }
        }
    }

    fn call(&mut self, begin: usize, name: &str) -> Result<Expr> {
        let mut arguments = Vec::new();
        if !self.takes(")") {
            arguments.push(self.either()?);
            while self.takes(",") {
                arguments.push(self.either()?);
            }
            self.close()?;
        }
        let count = |expected: usize| {
            if arguments.len() == expected {
                return Ok(());
            }
            let what =
                format!("{name}: got {} argument{}, expected {expected}", arguments.len(), plural(arguments.len()));
            Err(self.wrong(begin, &what))
        };
        // min and max take any number of arguments.
        let op = operation(name);
        if let Some(op) = op
            && (std::ptr::eq(op, &raw const op::MIN) || std::ptr::eq(op, &raw const op::MAX))
            && arguments.len() > 2
        {
            let first = arguments[0];
            return arguments[1..].iter().try_fold(first, |a, &b| self.apply(begin, op, &[a, b]));
        }
        if let Some(op) = op {
            count(op.arguments.len())?;
            return self.apply(begin, op, &arguments);
        }
        if let Some((_, expected, body)) = COMPOSED.iter().find(|(known, ..)| *known == name) {
            count(*expected)?;
            return self.within_size(begin, body(&arguments));
        }
        if let Some(function) = self.more.iter().find(|function| function.name == name) {
            count(function.arguments)?;
            return self.within_size(begin, (function.body)(&arguments));
        }
        let known: Vec<&str> = functions(self.more).iter().map(|(name, _)| *name).collect();
        Err(self.unknown(begin, "function", name, &known))
    }

    /// Applies an operation; an error if its arguments are constants and its value is not finite.
    fn apply(&self, at: usize, op: &'static ScalarOp, arguments: &[Expr]) -> Result<Expr> {
        let constants: Option<Vec<f64>> = arguments.iter().map(|argument| argument.constant()).collect();
        if let Some(constants) = constants
            && !op.at(&constants).is_finite()
        {
            return Err(self.wrong(at, &format!("{} of these constants is not a finite number", op.name)));
        }
        self.within_size(at, Expr::op(op, arguments))
    }

    fn within_size(&self, at: usize, value: Expr) -> Result<Expr> {
        if expr::size() <= MAX_CODE {
            return Ok(value);
        }
        Err(self.wrong(at, &format!("the formula needs more than {MAX_CODE} operations")))
    }

    fn deeper(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth <= MAX_DEPTH {
            return Ok(());
        }
        Err(self.wrong(self.at, &format!("nested too deeply: at most {MAX_DEPTH} levels are allowed")))
    }

    fn close(&mut self) -> Result<()> {
        if self.takes(")") { Ok(()) } else { Err(self.expected("\")\"")) }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip(&mut self) {
        let is_blank = |c: char| c.is_whitespace() && c != '\n';
        self.at = self.text.len() - self.rest().trim_start_matches(is_blank).len();
    }

    fn skip_lines(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn takes(&mut self, sign: &str) -> bool {
        self.skip();
        let is_there = self.rest().starts_with(sign) && !(sign == "*" && self.rest().starts_with("**"));
        self.at += if is_there { sign.len() } else { 0 };
        is_there
    }

    fn takes_any(&mut self, signs: &[&str]) -> bool {
        signs.iter().any(|sign| self.takes(sign))
    }

    fn word(&mut self) -> &'a str {
        self.skip();
        let rest = self.rest();
        let length = rest.find(|c: char| !(is_letter(c) || c.is_ascii_digit())).unwrap_or(rest.len());
        let is_name = rest.starts_with(is_letter);
        let name = if is_name { &rest[..length] } else { "" };
        self.at += name.len();
        name
    }

    fn expected(&mut self, what: &str) -> Error {
        self.skip();
        let found = match self.rest().chars().next() {
            Some('\n') => "the end of the line".to_owned(),
            Some(c) => format!("\"{c}\""),
            None => "the end".to_owned(),
        };
        self.wrong(self.at, &format!("got {found}, expected {what}"))
    }

    fn unknown(&self, at: usize, kind: &str, name: &str, known: &[&str]) -> Error {
        let hint = if let Some(close) = similar(name, known.iter().copied()) {
            format!("did you mean \"{close}\"?")
        } else {
            let inputs = self.names.iter().map(|(name, _)| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
            format!("the inputs are {inputs}")
        };
        let name: String = name.chars().take(40).collect();
        self.wrong(at, &format!("unknown {kind} \"{name}\": {hint}"))
    }

    /// An error at a byte of the text, with the text around it.
    fn wrong(&self, at: usize, what: &str) -> Error {
        let character = self.text[..at].chars().count() + 1;
        let around = self.text.chars().skip(character.saturating_sub(30)).take(60);
        let shown: String = around.map(|c| if c.is_control() { ' ' } else { c }).collect();
        Error::new(format!("formula, character {character}: {what} (in \"{shown}\")"))
    }
}

/// Whether a character may be part of a name: letters, and every non-ASCII character that is no blank and no sign.
pub(crate) fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !(c.is_ascii() || c.is_whitespace() || SIGNS.contains(c))
}

/// Whether a character is a sign of printed text, such as · or ².
pub(crate) fn is_sign(c: char) -> bool {
    SIGNS.contains(c)
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

#[cfg(test)]
mod tests;
