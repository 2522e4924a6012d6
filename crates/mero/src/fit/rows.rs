//! The rows of a table that a fit uses.

use sha2::{Digest, Sha256};

use crate::levels::levels;
use crate::{Answer, Failure};
use meromorph::error::{hint, listed};
use meromorph::files::{Column, Table};
use meromorph::fit::{FitOptions, Formula, Levels};
use meromorph::program::parse::{free_names, parse};
use meromorph::report::counted;
use meromorph::{Error, Result};

/// The columns of a fit without rows that are left out.
pub(crate) struct Rows {
    pub(crate) columns: Vec<Vec<f64>>,
    pub(crate) y: Vec<f64>,
    pub(crate) sigma: Option<Vec<f64>>,
    /// Of the formula's columns of levels.
    pub(crate) levels: Vec<Levels>,
    pub(crate) dropped: usize,
    /// What tells the data from others, if these are only some of their rows.
    pub(crate) fingerprint: Option<String>,
}

impl Rows {
    pub(super) fn of(options: &FitOptions, table: &Table, formula: &Formula, target: &str) -> Answer<Self> {
        let mut used: Vec<String> = formula.columns().to_vec();
        let names: Vec<&str> = table.names().collect();
        let is_column = names.contains(&target);
        let target_columns = if is_column { vec![target.to_owned()] } else { observed(target, &names)? };
        used.extend(target_columns.iter().cloned());
        used.extend(options.sigma.iter().cloned());
        let values: Vec<&[f64]> = used.iter().map(|name| table.numbers(name)).collect::<Result<_>>()?;
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
        let kept: Vec<usize> = (0..table.rows()).filter(|&row| is_missing(row).is_none()).collect();
        let dropped = table.rows() - kept.len();
        if let (false, Some(row)) = (options.drops_missing, (0..table.rows()).find(|&row| is_missing(row).is_some())) {
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
        if kept.is_empty() {
            return Err(Error::new(format!("{}: no row has all values: expected at least one", table.source())).into());
        }
        let mut picked: Vec<Vec<f64>> =
            values.iter().map(|values| kept.iter().map(|&row| values[row]).collect()).collect();
        let sigma = if options.sigma.is_some() { picked.pop() } else { None };
        let mut observed = picked.split_off(formula.columns().len());
        let y =
            if is_column { observed.pop().unwrap_or_default() } else { computed(target, &target_columns, &observed)? };
        if let Some(at) = y.iter().position(|y| !y.is_finite()) {
            let place = place(kept[at]);
            return Err(Error::new(format!("{place}: {target} is {}, expected a finite number", y[at])).into());
        }
        let levels = level_columns.into_iter().map(|column| levels(column, &kept)).collect();
        Ok(Self { columns: picked, y, sigma, levels, dropped, fingerprint: None })
    }

    /// Adds all numbers and levels to a digest.
    pub(super) fn digest(&self, digest: &mut Sha256) {
        if let Some(fingerprint) = &self.fingerprint {
            digest.update(fingerprint);
            return;
        }
        for column in self.columns.iter().chain([&self.y]).chain(&self.sigma) {
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

/// The columns that a formula of observed values uses.
fn observed(target: &str, names: &[&str]) -> Answer<Vec<String>> {
    let unknown = free_names(target, names, &[]).map_err(|error| error.within("y"))?;
    if let Some(unknown) = unknown.first() {
        let (all, near) = (listed(names), hint(unknown, names.iter().copied()));
        return Err(Failure::usage(format!("y: got \"{unknown}\", expected a column, one of {all}{near}")));
    }
    let (_, used) = parse(target, names, &[])?.compacted();
    Ok(used.into_iter().map(|at| names[at].to_owned()).collect())
}

/// A formula over columns.
fn computed(target: &str, names: &[String], columns: &[Vec<f64>]) -> Answer<Vec<f64>> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let program = parse(target, &names, &[])?;
    if program.results.len() != 1 {
        return Err(Failure::usage("y: got several formulas separated by commas, expected one"));
    }
    let inputs: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let rows = columns.first().map_or(0, Vec::len);
    Ok(program.results(&inputs, rows).swap_remove(0))
}
