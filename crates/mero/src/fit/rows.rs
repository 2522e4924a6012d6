//! The rows of a table that a fit uses.

use sha2::{Digest, Sha256};

use crate::Answer;
use crate::levels::levels;
use meromorph::files::{Column, Table};
use meromorph::fit::{ColumnFormula, FitOptions, Formula, Levels};
use meromorph::report::counted;
use meromorph::{Error, Result};

/// The columns of a fit without rows that are left out.
pub(crate) struct Rows {
    pub(crate) columns: Vec<Vec<f64>>,
    pub(crate) y: Vec<f64>,
    pub(crate) sigma: Option<Vec<f64>>,
    /// Standard deviations of the column of the model.
    pub(crate) sigma_x: Option<Vec<f64>>,
    /// Of the formula's columns of levels.
    pub(crate) levels: Vec<Levels>,
    /// Rows with missing cells, which are left out.
    pub(crate) dropped: usize,
    /// Rows that the condition leaves out.
    pub(crate) excluded: usize,
    /// What tells the data from others, if these are only some of their rows.
    pub(crate) fingerprint: Option<String>,
}

impl Rows {
    pub(super) fn of(options: &FitOptions, table: &Table, formula: &Formula, target: &str) -> Answer<Self> {
        let mut used: Vec<String> = formula.columns().to_vec();
        let names: Vec<&str> = table.names().collect();
        let observed = ColumnFormula::parse("y", target, &names)?;
        let (sigma, condition) = (options.sigma(&names)?, options.condition(&names)?);
        let sigma_x = options.sigma_x(&names)?;
        used.extend(observed.columns().iter().cloned());
        used.extend(sigma.iter().chain(&sigma_x).flat_map(|sigma| sigma.columns().iter().cloned()));
        let values: Vec<&[f64]> = used.iter().map(|name| table.numbers(name)).collect::<Result<_>>()?;
        let is_meant = meant(condition.as_ref(), table)?;
        let level_columns: Vec<&Column> = formula
            .level_columns()
            .into_iter()
            .map(|name| table.position(name).map(|at| &table.columns()[at]))
            .collect::<Result<_>>()?;
        used.extend(level_columns.iter().map(|column| column.name.clone()));
        let is_missing = |row: usize| {
            let level = || level_columns.iter().position(|column| column.cells.is_missing(row));
            let value = values.iter().position(|values| values[row].is_nan());
            value.or_else(|| level().map(|at| values.len() + at))
        };
        let all = || (0..table.rows()).filter(|&row| is_meant[row]);
        let kept: Vec<usize> = all().filter(|&row| is_missing(row).is_none()).collect();
        let (dropped, excluded) = (all().count() - kept.len(), table.rows() - all().count());
        if let (false, Some(row)) = (options.drops_missing, all().find(|&row| is_missing(row).is_some())) {
            let column = &used[is_missing(row).unwrap_or(0)];
            let more = if dropped > 1 { format!(" (and {} more)", counted(dropped - 1, "row")) } else { String::new() };
            return Err(Error::new(format!(
                "{}, row {}: column \"{column}\" has a missing cell{more}: expected numbers; --missing drop leaves such rows out",
                table.source(),
                row + 1
            ))
            .into());
        }
        let place = |row: usize| format!("{}, row {}", table.source(), row + 1);
        for (name, values) in used.iter().zip(&values) {
            if let Some(row) = kept.iter().find(|&&row| values[row].is_infinite()) {
                let (place, value) = (place(*row), values[*row]);
                return Err(
                    Error::new(format!("{place}: column \"{name}\" is {value}, expected a finite number")).into()
                );
            }
        }
        if let (true, Some(condition)) = (all().next().is_none(), &condition) {
            let (text, source) = (condition.text(), table.source());
            return Err(
                Error::new(format!("where: \"{text}\" holds in no row of {source}: expected at least one")).into()
            );
        }
        if kept.is_empty() {
            return Err(Error::new(format!("{}: no row has all values: expected at least one", table.source())).into());
        }
        let mut picked: Vec<Vec<f64>> =
            values.iter().map(|values| kept.iter().map(|&row| values[row]).collect()).collect();
        let computed = |what: &str, formula: &ColumnFormula, columns: &[Vec<f64>]| -> Answer<Vec<f64>> {
            let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
            let computed = formula.values(&columns, kept.len());
            let Some(at) = computed.iter().position(|value| !value.is_finite()) else { return Ok(computed) };
            let (place, value) = (place(kept[at]), computed[at]);
            Err(Error::new(format!("{place}: {what}{} is {value}, expected a finite number", formula.text())).into())
        };
        let of_sigma_x = picked.split_off(picked.len() - sigma_x.as_ref().map_or(0, |sigma| sigma.columns().len()));
        let of_sigma = picked.split_off(formula.columns().len() + observed.columns().len());
        let of_y = picked.split_off(formula.columns().len());
        let y = computed("", &observed, &of_y)?;
        let sigma = sigma.map(|sigma| computed("sigma = ", &sigma, &of_sigma)).transpose()?;
        let sigma_x = sigma_x.map(|sigma| computed("sigma-x = ", &sigma, &of_sigma_x)).transpose()?;
        let levels = level_columns.into_iter().map(|column| levels(column, &kept)).collect();
        Ok(Self { columns: picked, y, sigma, sigma_x, levels, dropped, excluded, fingerprint: None })
    }

    /// Adds all numbers and levels to a digest.
    pub(super) fn digest(&self, digest: &mut Sha256) {
        if let Some(fingerprint) = &self.fingerprint {
            digest.update(fingerprint);
            return;
        }
        for column in self.columns.iter().chain([&self.y]).chain(&self.sigma).chain(&self.sigma_x) {
            digest.update(mixed(column));
        }
        for levels in &self.levels {
            digest.update(levels.names.join("\n"));
            digest.update(bytemuck::cast_slice::<u32, u8>(&levels.codes));
        }
    }
}

/// All bits of numbers, mixed: a digest of all bytes would take longer than a short fit.
fn mixed(values: &[f64]) -> Vec<u8> {
    let mut lanes = [values.len() as u64, 1, 2, 3];
    let (blocks, rest) = values.as_chunks::<4>();
    let mut last = [0.0; 4];
    last[..rest.len()].copy_from_slice(rest);
    for block in blocks.iter().chain([&last]) {
        for (lane, value) in lanes.iter_mut().zip(block) {
            *lane = (*lane ^ value.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        }
    }
    lanes.iter().flat_map(|lane| lane.to_le_bytes()).collect()
}

/// For each row whether the condition holds.
fn meant(condition: Option<&ColumnFormula>, table: &Table) -> Answer<Vec<bool>> {
    let Some(condition) = condition else { return Ok(vec![true; table.rows()]) };
    let columns: Vec<&[f64]> = condition.columns().iter().map(|name| table.numbers(name)).collect::<Result<_>>()?;
    let values = condition.values(&columns, table.rows());
    Ok(values.into_iter().map(|value| value != 0.0 && !value.is_nan()).collect())
}
