//! The rows of a curve fit, from JavaScript arrays.

use js_sys::{Array, Object};
use wasm_bindgen::{JsCast, JsValue};

use meromorph::error::{Error, Result, hint, listed};
use meromorph::fit::{FitOptions, Formula, Levels};
use meromorph::internal::host::number;
use meromorph::program::parse::{free_names, parse};
use meromorph_web_values::{numbers_of, show};

/// Arrays by the names of their columns. Only those that are used need to be numbers.
pub struct Columns {
    all: Vec<(String, JsValue)>,
}

impl Columns {
    /// The columns of an object; none of another value.
    pub fn of(data: &JsValue) -> Self {
        let entries = data.dyn_ref::<Object>().map(Object::entries).unwrap_or_default();
        let column = |entry: JsValue| {
            let entry = Array::from(&entry);
            (entry.get(0).as_string().unwrap_or_default(), entry.get(1))
        };
        Self { all: entries.iter().map(column).collect() }
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.all.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The numbers of a column, for the function `call`.
    pub(crate) fn numbers(&self, call: &str, name: &str) -> Result<Vec<f64>> {
        let values = self.found(call, name)?;
        numbers_of(&format!("{call}: column \"{name}\""), values, "an array of numbers")
    }

    /// The cells of a column of levels, for the function `call`.
    pub(crate) fn cells(&self, call: &str, name: &str) -> Result<Cells> {
        let values = self.found(call, name)?;
        let items = if Array::is_array(values) { Array::from(values).to_vec() } else { Vec::new() };
        if items.iter().any(JsValue::is_string) {
            let text = |(row, item): (usize, &JsValue)| match (item.as_string(), item.as_f64()) {
                (Some(text), _) => Ok(text),
                (None, Some(value)) => Ok(number(value).to_string()),
                _ if item.is_null() || item.is_undefined() => Ok(String::new()),
                _ => Err(Error::new(format!(
                    "{call}: row {}: column \"{name}\" is {}, expected a text or a number",
                    row + 1,
                    show(item)
                ))),
            };
            return items.iter().enumerate().map(text).collect::<Result<_>>().map(Cells::Texts);
        }
        numbers_of(&format!("{call}: column \"{name}\""), values, "an array of numbers or texts").map(Cells::Numbers)
    }

    fn found(&self, call: &str, name: &str) -> Result<&JsValue> {
        let found = self.all.iter().find(|(known, _)| known == name);
        found.map(|(_, values)| values).ok_or_else(|| {
            let (names, near) = (self.names(), hint(name, self.names().into_iter()));
            Error::new(format!("{call}: the column \"{name}\" is missing: got {}{near}", listed(&names)))
        })
    }
}

/// The cells of a column of levels.
pub(crate) enum Cells {
    Numbers(Vec<f64>),
    /// An empty text is a missing cell.
    Texts(Vec<String>),
}

impl Cells {
    /// A number for each row, NaN where the cell is missing: for texts the row.
    fn numbers(&self) -> Vec<f64> {
        match self {
            Self::Numbers(numbers) => numbers.clone(),
            Self::Texts(texts) => texts
                .iter()
                .enumerate()
                .map(|(row, text)| if text.is_empty() { f64::NAN } else { row as f64 })
                .collect(),
        }
    }

    /// The levels of some rows, whose numbers are `kept`.
    fn levels(&self, kept: &[f64]) -> Levels {
        match self {
            Self::Numbers(_) => Levels::of_numbers(kept),
            Self::Texts(texts) => Levels::of_texts(kept.iter().map(|&row| texts[row as usize].as_str())),
        }
    }

    /// The levels of all rows, for the function `call`; a missing cell is an error.
    pub(crate) fn all(&self, call: &str, name: &str) -> Result<Levels> {
        let numbers = self.numbers();
        match numbers.iter().position(|number| number.is_nan()) {
            None => Ok(self.levels(&numbers)),
            Some(row) => Err(Error::new(format!(
                "{call}: row {}: column \"{name}\" has a missing cell, expected a level of the fit",
                row + 1
            ))),
        }
    }
}

/// The columns of a fit without rows that are left out.
pub(crate) struct FitRows {
    /// Those that the formula uses, in its order.
    pub(crate) columns: Vec<Vec<f64>>,
    pub(crate) y: Vec<f64>,
    pub(crate) sigma: Option<Vec<f64>>,
    /// Of the formula's columns of levels.
    pub(crate) levels: Vec<Levels>,
}

impl FitRows {
    pub(crate) fn of(data: &Columns, formula: &Formula, target: &str, options: &FitOptions) -> Result<Self> {
        let names = data.names();
        let is_column = names.contains(&target);
        let target_columns = if is_column { vec![target.to_owned()] } else { observed(target, &names)? };
        let mut used: Vec<String> = formula.columns().to_vec();
        used.extend(target_columns.iter().cloned());
        used.extend(options.sigma.iter().cloned());
        let values = used.len();
        let mut all: Vec<Vec<f64>> = used.iter().map(|name| data.numbers("fit", name)).collect::<Result<_>>()?;
        used.extend(formula.level_columns().into_iter().map(str::to_owned));
        let cells: Vec<Cells> = used[values..].iter().map(|name| data.cells("fit", name)).collect::<Result<_>>()?;
        all.extend(cells.iter().map(Cells::numbers));
        check_lengths(&used, &all, formula.columns().len())?;
        let kept = leave_out(&used, &mut all, options.drops_missing)?;
        let levels = all.split_off(values);
        let levels = cells.iter().zip(&levels).map(|(cells, kept)| cells.levels(kept)).collect();
        let mut values = all;
        let sigma = if options.sigma.is_some() { values.pop() } else { None };
        let mut observed = values.split_off(formula.columns().len());
        let y = if is_column {
            observed.pop().unwrap_or_default()
        } else {
            computed(target, &target_columns, &observed, &kept)?
        };
        Ok(Self { columns: values, y, sigma, levels })
    }
}

/// Errors unless all columns are as long as that of the observed values, the column at `place`.
fn check_lengths(names: &[String], values: &[Vec<f64>], place: usize) -> Result<()> {
    let Some((rows, target)) = values.get(place).map(|column| (column.len(), &names[place])) else { return Ok(()) };
    match names.iter().zip(values).find(|(_, column)| column.len() != rows) {
        None => Ok(()),
        Some((name, column)) => {
            let got = column.len();
            Err(Error::new(format!(
                "fit: column \"{name}\": got {got} values, expected {rows} as in column \"{target}\""
            )))
        }
    }
}

/// Leaves out rows with a missing cell if it `is_dropped`, otherwise such a row is an error, as is an infinite number. Returns the
/// rows that are kept.
fn leave_out(names: &[String], values: &mut [Vec<f64>], is_dropped: bool) -> Result<Vec<usize>> {
    let rows = values.first().map_or(0, Vec::len);
    let missing: Vec<bool> = (0..rows).map(|row| values.iter().any(|column| column[row].is_nan())).collect();
    let count = missing.iter().filter(|missing| **missing).count();
    if let (false, Some(row)) = (is_dropped, missing.iter().position(|missing| *missing)) {
        let name = names.iter().zip(&*values).find(|(_, column)| column[row].is_nan()).map_or("", |(name, _)| name);
        let more = match count - 1 {
            0 => String::new(),
            more => format!(" (and {more} more row{})", if more == 1 { "" } else { "s" }),
        };
        let row = row + 1;
        return Err(Error::new(format!(
            "fit: row {row}: column \"{name}\" has a missing cell{more}: expected numbers; missing \"drop\" leaves such rows out"
        )));
    }
    for (name, column) in names.iter().zip(&*values) {
        if let Some(row) = column.iter().zip(&missing).position(|(value, missing)| value.is_infinite() && !missing) {
            let (value, row) = (number(column[row]), row + 1);
            return Err(Error::new(format!("fit: row {row}: column \"{name}\" is {value}, expected a finite number")));
        }
    }
    if count > 0 {
        for column in values {
            let mut each = missing.iter();
            column.retain(|_| each.next() == Some(&false));
        }
    }
    Ok((0..rows).filter(|&row| !missing[row]).collect())
}

/// The columns that a formula of observed values uses.
fn observed(target: &str, names: &[&str]) -> Result<Vec<String>> {
    let unknown = free_names(target, names, &[]).map_err(|error| error.within("y"))?;
    if let Some(unknown) = unknown.first() {
        let (all, near) = (listed(names), hint(unknown, names.iter().copied()));
        return Err(Error::usage(format!("y: got \"{unknown}\", expected a column, one of {all}{near}")));
    }
    let (_, used) = parse(target, names, &[])?.compacted();
    Ok(used.into_iter().map(|at| names[at].to_owned()).collect())
}

/// A formula over columns, whose rows are those of the table in `kept`.
fn computed(target: &str, names: &[String], columns: &[Vec<f64>], kept: &[usize]) -> Result<Vec<f64>> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let program = parse(target, &names, &[])?;
    if program.results.len() != 1 {
        return Err(Error::usage("y: got several formulas separated by commas, expected one"));
    }
    let inputs: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let rows = columns.first().map_or(0, Vec::len);
    let y = program.results(&inputs, rows).swap_remove(0);
    match y.iter().position(|y| !y.is_finite()) {
        None => Ok(y),
        Some(at) => {
            let (value, row) = (number(y[at]), kept[at] + 1);
            Err(Error::new(format!("fit: row {row}: {target} is {value}, expected a finite number")))
        }
    }
}
