//! Running integrals in a formula: `cumint(f(t), t)` is the integral of f over a column t from its smallest value to the row's, and
//! `cumint(f(u), u, from, to)` that over u from one column to another. Both are sums of trapezoids between the distinct values of these columns.

use super::words::{arguments, word};
use crate::error::{Error, Result};
use crate::program::parse::{free_names, is_name, parse};
use crate::program::{Expr, Program};

/// The name of the function.
pub(crate) const NAME: &str = "cumint";

/// An integral in a formula.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Integral {
    /// The integrand over the formula's parameters, then the variable.
    pub program: Program,
    /// Places among the formula's columns: the upper end, or the lower and the upper end.
    pub ends: Vec<usize>,
}

/// A call of the function.
#[derive(Debug)]
pub(crate) struct Call {
    /// What stands for it in the formula.
    pub name: String,
    /// The integrand after the assignments before the call.
    integrand: String,
    pub variable: String,
    pub ends: Vec<String>,
}

/// A formula whose integrals are replaced by names, and these integrals.
#[derive(Debug)]
pub(crate) struct Replaced {
    pub text: String,
    pub calls: Vec<Call>,
    /// A formula with the same names as the original.
    pub names: String,
}

/// Replaces the integrals in a formula over a table with these columns.
pub(crate) fn replaced(text: &str, columns: &[&str]) -> Result<Replaced> {
    let (mut out, mut names, mut calls, mut done): (String, String, Vec<Call>, usize) =
        (String::new(), String::new(), Vec::new(), 0);
    let mut at = 0;
    while let Some(range) = word(text, at) {
        at = range.end;
        let open = at + (text[at..].len() - text[at..].trim_start().len());
        if &text[range.clone()] != NAME || !text[open..].starts_with('(') {
            continue;
        }
        let wrong = |what: &str| Err(Error::usage(format!("model: {NAME}: {what}")));
        let Some((taken, length)) = arguments(&text[open + 1..]) else {
            return wrong("expected a closing )");
        };
        let (variable, ends) = match &taken[..] {
            [_, variable] if columns.contains(variable) => (*variable, vec![*variable]),
            [_, variable] => {
                return wrong(&format!("got \"{variable}\", expected a column as in {NAME}(f(t), t)"));
            }
            [_, variable, from, to] if is_name(variable) && !columns.contains(variable) => {
                if let Some(other) = [from, to].into_iter().find(|end| !columns.contains(end)) {
                    return wrong(&format!("got \"{other}\", expected a column as in {NAME}(f(u), u, from, to)"));
                }
                (*variable, vec![*from, *to])
            }
            [_, variable, _, _] => {
                return wrong(&format!(
                    "got \"{variable}\", expected a name that is no column, as u in {NAME}(f(u), u, from, to)"
                ));
            }
            _ => {
                return wrong(&format!(
                    "got {} arguments, expected {NAME}(f(t), t) or {NAME}(f(u), u, from, to)",
                    taken.len()
                ));
            }
        };
        if taken[0].contains(NAME) {
            return wrong("an integral inside an integral is not supported");
        }
        // Names that were assigned before.
        let assigned = text[..range.start].rfind([';', '\n']).map_or("", |end| &text[..end]);
        let assigned: Vec<&str> = assigned.split([';', '\n']).filter(|part| !part.contains(NAME)).collect();
        let integrand = assigned.into_iter().chain([taken[0]]).collect::<Vec<&str>>().join("\n");
        let is_known = |call: &&Call| call.integrand == integrand && call.variable == variable && call.ends == ends;
        let name = calls.iter().find(is_known).map(|call| call.name.clone());
        let name = name.unwrap_or_else(|| {
            // A letter that no keyboard has, so that no parameter has this name.
            let name = format!("ʃ{}", calls.len() + 1);
            let ends = ends.iter().map(|end| (*end).to_owned()).collect();
            calls.push(Call { name: name.clone(), integrand, variable: variable.to_owned(), ends });
            name
        });
        let before = &text[done..range.start];
        out += &format!("{before}{name}");
        names += &format!("{before}(({})+({}))", taken[0], taken[1..].join(")+("));
        done = open + 1 + length;
        at = done;
    }
    out += &text[done..];
    names += &text[done..];
    Ok(Replaced { text: out, calls, names })
}

impl Call {
    /// The integral for a formula with these parameters and columns.
    pub(crate) fn integral(&self, parameters: &[String], columns: &[String]) -> Result<Integral> {
        let wrong = |what: String| Err(Error::usage(format!("model: {NAME}: {what}")));
        let known: Vec<&str> = parameters.iter().map(String::as_str).chain([self.variable.as_str()]).collect();
        let unknown = free_names(&self.integrand, &known, &[])?;
        // Assignments before the call may use columns that the integrand does not.
        let all: Vec<&str> = known.iter().copied().chain(unknown.iter().map(String::as_str)).collect();
        let program = parse(&self.integrand, &all, &[])?;
        if program.results.len() != 1 {
            return wrong(format!("got {} integrands, expected one", program.results.len()));
        }
        let (_, used) = program.clone().compacted();
        if let Some(other) = used.iter().find(|&&at| at >= known.len()) {
            let (other, variable) = (all[*other], &self.variable);
            return wrong(format!("the integrand uses \"{other}\": expected {variable} and parameters only"));
        }
        let program = Program::build(known.len(), |inputs| {
            let rest = all[known.len()..].iter().map(|_| Expr::from(0.0));
            let taken: Vec<Expr> = inputs.iter().copied().chain(rest).collect();
            program.emit(&taken)
        });
        let place = |end: &String| columns.iter().position(|column| column == end).unwrap_or(0);
        Ok(Integral { program, ends: self.ends.iter().map(place).collect() })
    }
}

/// An integral and its derivatives by parameters at every value of a grid.
#[derive(Clone, Debug, Default)]
pub(crate) struct Running {
    /// The integral from the first value.
    pub values: Vec<f64>,
    /// [parameters, grid]: its derivatives.
    pub slopes: Vec<Vec<f64>>,
}

impl Running {
    /// The difference of two.
    pub(crate) fn minus(mut self, other: &Self) -> Self {
        let all = self.slopes.iter_mut().zip(&other.slopes).chain([(&mut self.values, &other.values)]);
        all.for_each(|(own, other)| own.iter_mut().zip(other).for_each(|(own, other)| *own -= other));
        self
    }
}

impl Integral {
    /// The integral over a grid, which ascends, at values of all parameters, with derivatives by those at `places`.
    pub(crate) fn over(&self, grid: &[f64], parameters: &[f64], places: &[usize]) -> Running {
        let Running { values, slopes } = self.heights(grid, parameters, places);
        let summed = |mut heights: Vec<f64>| {
            let (mut sum, mut before) = (0.0, 0.0);
            for (at, height) in heights.iter_mut().enumerate() {
                if at > 0 {
                    sum += 0.5 * (grid[at] - grid[at - 1]) * (before + *height);
                }
                before = std::mem::replace(height, sum);
            }
            heights
        };
        Running { values: summed(values), slopes: slopes.into_iter().map(summed).collect() }
    }

    /// The same for any values of the variable: between and beyond those of the grid by one more trapezoid from the next value below.
    pub(crate) fn at(&self, grid: &[f64], parameters: &[f64], places: &[usize], at: &[f64]) -> Running {
        let whole = self.over(grid, parameters, places);
        let (of_grid, own) = (self.heights(grid, parameters, places), self.heights(at, parameters, places));
        let below = |t: f64| grid.partition_point(|known| *known <= t).saturating_sub(1);
        let one = |sums: &[f64], heights: &[f64], own: &[f64]| {
            let value = |(t, own): (&f64, &f64)| {
                let below = below(*t);
                sums[below] + 0.5 * (t - grid[below]) * (heights[below] + own)
            };
            at.iter().zip(own).map(value).collect()
        };
        let slopes = (0..places.len()).map(|at| one(&whole.slopes[at], &of_grid.slopes[at], &own.slopes[at])).collect();
        Running { values: one(&whole.values, &of_grid.values, &own.values), slopes }
    }

    /// The integrand and its derivatives.
    fn heights(&self, grid: &[f64], parameters: &[f64], places: &[usize]) -> Running {
        let scalars: Vec<[f64; 1]> = parameters.iter().map(|&value| [value]).collect();
        let inputs: Vec<&[f64]> = scalars.iter().map(|value| &value[..]).chain([grid]).collect();
        let mut results = self.program.with_gradient(places).results(&inputs, grid.len());
        let mut slopes = results.split_off(1);
        let values = results.swap_remove(0);
        // As in the model's own derivatives: usually 0 times an infinite slope, as that of t^b at t = 0.
        for slopes in &mut slopes {
            let both = slopes.iter_mut().zip(&values);
            both.filter(|(slope, value)| !slope.is_finite() && value.is_finite()).for_each(|(slope, _)| *slope = 0.0);
        }
        Running { values, slopes }
    }
}

/// The distinct values of columns, ascending.
pub(crate) fn grid(columns: &[&[f64]]) -> Vec<f64> {
    let mut values: Vec<f64> = columns.iter().flat_map(|column| column.iter().copied()).collect();
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    // Those of many parts are held at a time, and most parts have few values.
    values.shrink_to_fit();
    values
}

/// The place in a grid of each value of a column that is in it.
pub(crate) fn places(grid: &[f64], column: &[f64]) -> Vec<u32> {
    let mut last = 0;
    let mut place = |value: &f64| {
        // Columns are often in order.
        if grid.get(last) != Some(value) {
            last += 1;
            if grid.get(last) != Some(value) {
                last = grid.partition_point(|known| known < value);
            }
        }
        last as u32
    };
    column.iter().map(&mut place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrals_are_sums_of_trapezoids() {
        let replaced = replaced("k = 2*b; a + cumint(k*t, t) - cumint(b*u, u, t, s)", &["t", "s"]).unwrap();
        assert_eq!(replaced.text, "k = 2*b; a + ʃ1 - ʃ2");
        assert_eq!(replaced.names, "k = 2*b; a + ((k*t)+(t)) - ((b*u)+(u)+(t)+(s))");
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
        let (parameters, columns) = (names(&["b", "a"]), names(&["t", "s"]));
        let integral = replaced.calls[0].integral(&parameters, &columns).unwrap();
        assert_eq!(integral.ends, [0]);
        let running = integral.over(&[0.0, 1.0, 3.0], &[0.5, 7.0], &[0]);
        assert_eq!(running.values, [0.0, 0.5, 4.5]);
        assert_eq!(running.slopes, [[0.0, 1.0, 9.0]]);
        assert_eq!(replaced.calls[1].integral(&parameters, &columns).unwrap().ends, [0, 1]);
        assert_eq!(grid(&[&[3.0, 1.0, 3.0], &[0.0]]), [0.0, 1.0, 3.0]);
        assert_eq!(places(&[0.0, 1.0, 3.0], &[3.0, 0.0, 1.0, 3.0]), [2, 0, 1, 2]);
    }

    #[test]
    fn wrong_integrals_are_named() {
        let cases = [
            ("cumint(k*t)", "model: cumint: got 1 arguments, expected cumint(f(t), t) or cumint(f(u), u, from, to)"),
            ("cumint(k*t, q)", "model: cumint: got \"q\", expected a column as in cumint(f(t), t)"),
            ("cumint(k*t, t", "model: cumint: expected a closing )"),
            ("cumint(cumint(t, t), t)", "model: cumint: an integral inside an integral is not supported"),
            ("cumint(k*u, u, t, q)", "model: cumint: got \"q\", expected a column as in cumint(f(u), u, from, to)"),
        ];
        for (text, message) in cases {
            assert_eq!(replaced(text, &["t", "s"]).unwrap_err().to_string(), message, "{text}");
        }
        let other = replaced("cumint(k*s, t)", &["t", "s"]).unwrap();
        let error = other.calls[0].integral(&["k".to_owned()], &["t".to_owned(), "s".to_owned()]).unwrap_err();
        assert_eq!(error.to_string(), "model: cumint: the integrand uses \"s\": expected t and parameters only");
    }
}
