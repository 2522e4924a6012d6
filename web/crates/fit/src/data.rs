//! The rows of a curve fit, from JavaScript arrays.

use js_sys::{Array, Object};
use wasm_bindgen::{JsCast, JsValue};

use meromorph::error::{Error, Result, hint, listed};
use meromorph::fit::{ColumnFormula, FitOptions, Formula, Levels};
use meromorph::internal::host::number;
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
    /// Standard deviations of the column of the model.
    pub(crate) sigma_x: Option<Vec<f64>>,
    /// Of the formula's columns of levels.
    pub(crate) levels: Vec<Levels>,
}

impl FitRows {
    pub(crate) fn of(data: &Columns, formula: &Formula, target: &str, options: &FitOptions) -> Result<Self> {
        let names = data.names();
        let observed = ColumnFormula::parse("y", target, &names)?;
        let (sigma, condition) = (options.sigma(&names)?, options.condition(&names)?);
        let sigma_x = options.sigma_x(&names)?;
        let mut used: Vec<String> = formula.columns().to_vec();
        used.extend(observed.columns().iter().cloned());
        used.extend(sigma.iter().chain(&sigma_x).flat_map(|sigma| sigma.columns().iter().cloned()));
        let values = used.len();
        let mut all: Vec<Vec<f64>> = used.iter().map(|name| data.numbers("fit", name)).collect::<Result<_>>()?;
        used.extend(formula.level_columns().into_iter().map(str::to_owned));
        let cells: Vec<Cells> = used[values..].iter().map(|name| data.cells("fit", name)).collect::<Result<_>>()?;
        all.extend(cells.iter().map(Cells::numbers));
        check_lengths(&used, &all, formula.columns().len())?;
        let rows = all.first().map_or(0, Vec::len);
        let is_meant = meant(data, condition.as_ref(), rows)?;
        let kept = leave_out(&used, &mut all, &is_meant, options.drops_missing)?;
        let levels = all.split_off(values);
        let levels = cells.iter().zip(&levels).map(|(cells, kept)| cells.levels(kept)).collect();
        let mut values = all;
        let of_sigma_x = values.split_off(values.len() - sigma_x.as_ref().map_or(0, |sigma| sigma.columns().len()));
        let of_sigma = values.split_off(formula.columns().len() + observed.columns().len());
        let of_y = values.split_off(formula.columns().len());
        let y = computed("", &observed, &of_y, &kept)?;
        let sigma = sigma.map(|sigma| computed("sigma = ", &sigma, &of_sigma, &kept)).transpose()?;
        let sigma_x = sigma_x.map(|sigma| computed("sigmaX = ", &sigma, &of_sigma_x, &kept)).transpose()?;
        Ok(Self { columns: values, y, sigma, sigma_x, levels })
    }
}

/// For each row whether the condition holds.
fn meant(data: &Columns, condition: Option<&ColumnFormula>, rows: usize) -> Result<Vec<bool>> {
    let Some(condition) = condition else { return Ok(vec![true; rows]) };
    let columns = condition.columns().iter().map(|name| data.numbers("fit", name));
    let columns: Vec<Vec<f64>> = columns.collect::<Result<_>>()?;
    if let Some((name, column)) = condition.columns().iter().zip(&columns).find(|(_, column)| column.len() != rows) {
        let got = column.len();
        return Err(Error::new(format!(
            "fit: column \"{name}\": got {got} values, expected {rows} as in other columns"
        )));
    }
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    Ok(condition.values(&columns, rows).into_iter().map(|value| value != 0.0 && !value.is_nan()).collect())
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

/// Leaves out rows that are not meant, and rows with a missing cell if they are dropped, otherwise such a row is an error, as is an infinite number.
/// Returns the rows that are kept.
fn leave_out(names: &[String], values: &mut [Vec<f64>], is_meant: &[bool], is_dropped: bool) -> Result<Vec<usize>> {
    let rows = values.first().map_or(0, Vec::len);
    let is_missing = |row: usize| values.iter().any(|column| column[row].is_nan());
    let without: Vec<usize> = (0..rows).filter(|&row| is_meant[row] && is_missing(row)).collect();
    if let (false, Some(&row)) = (is_dropped, without.first()) {
        let name = names.iter().zip(&*values).find(|(_, column)| column[row].is_nan()).map_or("", |(name, _)| name);
        let more = match without.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more row{})", if more == 1 { "" } else { "s" }),
        };
        let row = row + 1;
        return Err(Error::new(format!(
            "fit: row {row}: column \"{name}\" has a missing cell{more}: expected numbers; missing \"drop\" leaves such rows out"
        )));
    }
    let missing: Vec<bool> = (0..rows).map(|row| !is_meant[row] || is_missing(row)).collect();
    for (name, column) in names.iter().zip(&*values) {
        if let Some(row) = column.iter().zip(&missing).position(|(value, missing)| value.is_infinite() && !missing) {
            let (value, row) = (number(column[row]), row + 1);
            return Err(Error::new(format!("fit: row {row}: column \"{name}\" is {value}, expected a finite number")));
        }
    }
    if missing.contains(&true) {
        for column in values {
            let mut each = missing.iter();
            column.retain(|_| each.next() == Some(&false));
        }
    }
    Ok((0..rows).filter(|&row| !missing[row]).collect())
}

/// A formula over columns, whose rows are those of the table in `kept`.
fn computed(what: &str, formula: &ColumnFormula, columns: &[Vec<f64>], kept: &[usize]) -> Result<Vec<f64>> {
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let values = formula.values(&columns, kept.len());
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(values),
        Some(at) => {
            let (value, row, text) = (number(values[at]), kept[at] + 1, formula.text());
            Err(Error::new(format!("fit: row {row}: {what}{text} is {value}, expected a finite number")))
        }
    }
}
