//! A fit as text for other places: LaTeX, a Python function, a Rust function.

use super::saved::SavedFit;
use crate::error::{Error, Result};
use crate::fit::formula::Formula;
use crate::host::number;
use crate::program::source::{Language, SourceText};

/// Words that are no names in Python or Rust, and names that the written functions use.
const TAKEN: &[&str] = &[
    "as", "async", "await", "break", "class", "const", "continue", "crate", "def", "del", "dyn", "else", "enum",
    "extern", "fn", "for", "from", "global", "if", "impl", "import", "in", "is", "lambda", "let", "loop", "match",
    "mod", "move", "mut", "np", "pass", "pub", "ref", "return", "special", "static", "struct", "super", "trait", "try",
    "type", "use", "where", "while", "with", "yield",
];

/// Names of Greek letters.
const GREEK: &[&str] = &[
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi",
    "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi",
    "Pi", "Sigma", "Phi", "Psi", "Omega",
];

impl SavedFit {
    /// The formula as LaTeX, then a line for each parameter: its value, and its standard error if it has one, both rounded to two digits of
    /// the error.
    ///
    /// ```
    /// use meromorph::fit::{Formula, Problem, SavedFit, SolveOptions, report, solve};
    /// let (x, y) = ([0.0, 1.0, 2.0, 3.0], [1.1, 2.9, 5.1, 6.9]);
    /// let formula = Formula::parse("a + b*x", &["x"])?;
    /// let problem = Problem::new(formula, &[("x", &x)], &y)?;
    /// let json = report(&problem, &solve(&problem, &SolveOptions::default())?, "y", 0.0);
    /// let saved = SavedFit::parse(&json.to_string(), "fit")?;
    /// assert!(saved.latex()?.contains("y &= a + b \\, x \\\\\na &= 1.06 \\pm 0.11 \\\\\n"));
    /// # Ok::<(), meromorph::Error>(())
    /// ```
    pub fn latex(&self) -> Result<String> {
        let formula = self.plain()?;
        let names: Vec<String> =
            formula.parameters().iter().chain(formula.columns()).map(|name| symbol(name)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut lines = vec![format!("{} &= {}", symbol(self.target()), formula.program().latex(&names))];
        for (name, (value, stderr)) in names.iter().take(formula.parameters().len()).zip(self.estimates()) {
            lines.push(format!("{name} &= {}", estimate(value, stderr)));
        }
        Ok(format!("\\begin{{align*}}\n{}\n\\end{{align*}}\n", lines.join(" \\\\\n")))
    }

    /// The formula, if it is one that can be written without its data.
    fn plain(&self) -> Result<&Formula> {
        let formula = self.formula();
        let what = match formula.level_columns().first() {
            Some(column) => format!("a parameter for each level of \"{column}\""),
            None if !formula.integrals().is_empty() => "an integral over the rows".to_owned(),
            None => return Ok(formula),
        };
        Err(Error::usage(format!("code: the model has {what}, which is not written as LaTeX or source")))
    }

    /// A function of the columns in another language, with the fitted values. Errors if the language's libraries lack a function of the formula.
    pub fn function(&self, language: Language) -> Result<String> {
        let formula = self.plain()?;
        let parameters: Vec<String> = formula.parameters().iter().map(|name| identifier(name)).collect();
        let columns: Vec<String> = formula.columns().iter().map(|name| identifier(name)).collect();
        let inputs: Vec<&str> = parameters.iter().chain(&columns).map(String::as_str).collect();
        let text = formula.program().source_text(language, &inputs)?;
        let values: Vec<String> =
            self.estimates().take(parameters.len()).map(|(value, _)| format!("{:?}", number(value))).collect();
        Ok(match language {
            Language::Python => python(&text, &columns, &parameters, &values),
            Language::Rust => rust(&text, &columns, &parameters, &values),
        })
    }
}

fn python(text: &SourceText, columns: &[String], parameters: &[String], values: &[String]) -> String {
    let SourceText { assigned, result } = text;
    let is_special = assigned.iter().map(|(_, text)| text).chain([result]).any(|text| text.contains("special."));
    let import = if is_special { "import numpy as np\nfrom scipy import special\n" } else { "import numpy as np\n" };
    let defaults: Vec<String> = parameters.iter().zip(values).map(|(name, value)| format!("{name}={value}")).collect();
    let lines: String = assigned.iter().map(|(name, text)| format!("    {name} = {text}\n")).collect();
    format!("{import}\n\ndef model({}, {}):\n{lines}    return {result}\n", columns.join(", "), defaults.join(", "))
}

fn rust(text: &SourceText, columns: &[String], parameters: &[String], values: &[String]) -> String {
    let SourceText { assigned, result } = text;
    let arguments: Vec<String> = columns.iter().map(|name| format!("{name}: f64")).collect();
    let constants: String =
        parameters.iter().zip(values).map(|(name, value)| format!("    let {name}: f64 = {value};\n")).collect();
    let lines: String = assigned.iter().map(|(name, text)| format!("    let {name}: f64 = {text};\n")).collect();
    format!("fn model({}) -> f64 {{\n{constants}{lines}    {result}\n}}\n", arguments.join(", "))
}

/// A name that Python and Rust accept.
fn identifier(name: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    if TAKEN.contains(&name.as_str()) { name + "_" } else { name }
}

/// A name as LaTeX: `x_{1}` for x1, `\sigma_{2}` for sigma2, `\mathrm{height}` for other words.
fn symbol(name: &str) -> String {
    let is_letter_or_digit = name.chars().all(char::is_alphanumeric);
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let index = &name[stem.len()..];
    let base = match stem {
        _ if GREEK.contains(&stem) => format!("\\{stem}"),
        _ if stem.chars().count() == 1 => stem.to_owned(),
        _ if is_letter_or_digit => format!("\\mathrm{{{stem}}}"),
        _ => return format!("\\mathrm{{{}}}", escaped(name)),
    };
    if index.is_empty() { base } else { format!("{base}_{{{index}}}") }
}

fn escaped(text: &str) -> String {
    text.chars().map(|c| if "_%&#$".contains(c) { format!("\\{c}") } else { c.to_string() }).collect()
}

/// A value with its standard error, rounded to two digits of the error; without one, with six digits.
fn estimate(value: f64, stderr: Option<f64>) -> String {
    let Some(stderr) = stderr.filter(|stderr| *stderr > 0.0) else { return decimal(value, 5 - exponent(value)) };
    let places = 1 - exponent(stderr);
    // Large and small numbers are multiples of a power of ten.
    let power = exponent(value.abs().max(stderr));
    if (-3..6).contains(&power) {
        return format!("{} \\pm {}", decimal(value, places), decimal(stderr, places));
    }
    let unit = 10_f64.powi(power);
    let [value, stderr] = [value, stderr].map(|number| decimal(number / unit, places + power));
    format!("\\left({value} \\pm {stderr}\\right) \\cdot 10^{{{power}}}")
}

fn exponent(value: f64) -> i32 {
    if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 }
}

/// A number with so many decimal places.
fn decimal(value: f64, places: i32) -> String {
    let unit = 10_f64.powi(places);
    let rounded = (value * unit).round() / unit;
    let text = number(if rounded.is_finite() { rounded } else { value }).to_string();
    let (mantissa, power) =
        text.split_once('e').map_or((text.as_str(), None), |(mantissa, power)| (mantissa, Some(power)));
    let written = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    match power {
        Some(power) => format!("{mantissa} \\cdot 10^{{{power}}}"),
        None if places <= 0 => mantissa.to_owned(),
        None if written == 0 => format!("{mantissa}.{}", "0".repeat(places as usize)),
        None => format!("{mantissa}{}", "0".repeat((places as usize).saturating_sub(written))),
    }
}

#[cfg(test)]
mod tests {
    use super::{estimate, identifier, symbol};

    #[test]
    fn estimates_have_two_digits_of_their_error() {
        let cases = [
            (5.01349, Some(0.02119), "5.013 \\pm 0.021"),
            (5.0, Some(0.021), "5.000 \\pm 0.021"),
            (238.942, Some(2.707), "238.9 \\pm 2.7"),
            (1234.5, Some(250.0), "1230 \\pm 250"),
            (5.5015643181e-4, Some(7.2668688e-6), "\\left(5.502 \\pm 0.073\\right) \\cdot 10^{-4}"),
            (0.0, None, "0.00000"),
            (-1.25, None, "-1.25000"),
        ];
        for (value, stderr, text) in cases {
            assert_eq!(estimate(value, stderr), text);
        }
    }

    #[test]
    fn names_become_symbols_and_identifiers() {
        let cases = [
            ("a", "a", "a"),
            ("x1", "x_{1}", "x1"),
            ("sigma2", "\\sigma_{2}", "sigma2"),
            ("lambda", "\\lambda", "lambda_"),
            ("height", "\\mathrm{height}", "height"),
            ("t_half", "\\mathrm{t\\_half}", "t_half"),
            ("µ", "µ", "µ"),
        ];
        for (name, latex, identified) in cases {
            assert_eq!((symbol(name).as_str(), identifier(name).as_str()), (latex, identified));
        }
    }
}
