//! Missing cells: which rows a run can use, and a report of dropped rows and filled-in cells.

use super::feature::{Feature, Moments, Role, Seen};
use super::levels::{Match, matches};
use super::prepare::{Preparation, Target, find};
use crate::error::{Error, Result, hint, listed};
use crate::files::{Cells, Column, Table};
use crate::record;
use std::fmt;

/// Handling of a row with a missing feature. A row without its target or with an infinite feature is always dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// [`Missing::Impute`]; [`Missing::Drop`] for a model with poles, which must not predict from a guess.
    #[default]
    Usual,
    /// Drop the row.
    Drop,
    /// Fill in the mean of a number, with an input that says so; of a category, a missing cell is a level of its own. Where no training
    /// cell is missing, new ones get the mean or the most frequent level.
    Impute,
}

record! { enum Missing { Drop, Impute, Usual } }

/// Number of unusable cells of one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gaps {
    /// The column.
    pub name: String,
    /// Cells that are missing.
    pub missing: usize,
    /// Cells that are infinite.
    pub infinite: usize,
    /// Labels that training did not see, with the first of them.
    pub unknown: Option<(usize, String)>,
}

/// Counts of dropped rows and of cells that will be filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingReport {
    /// Rows of the table.
    pub rows: usize,
    /// Dropped rows.
    pub dropped: usize,
    /// Used columns with unusable cells, features first, the target last.
    pub columns: Vec<Gaps>,
}

impl fmt::Display for MissingReport {
    /// `12 of 1599 rows dropped; pH: 7 missing; alcohol: 5 missing, 1 infinite`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} rows dropped", self.dropped, self.rows)?;
        for Gaps { name, missing, infinite, unknown } in &self.columns {
            write!(f, "; {name}: {missing} missing")?;
            if *infinite > 0 {
                write!(f, ", {infinite} infinite")?;
            }
            if let Some((count, first)) = unknown {
                write!(f, ", {count} not seen in training, such as {first}")?;
            }
        }
        Ok(())
    }
}

/// The usable rows, in order, and a report of the others: those without a feature too unless missing cells are filled in. With `has_poles` a target
/// may be infinite. Errors on a column without any value, and if no row is left.
pub(crate) fn usable(
    table: &Table,
    features: &[(usize, Role)],
    targets: &[(usize, Role)],
    fills: bool,
    has_poles: bool,
) -> Result<(Vec<u32>, MissingReport)> {
    let mut is_kept = vec![true; table.rows()];
    let mut columns = Vec::new();
    for (at, &(j, role)) in features.iter().chain(targets).enumerate() {
        let (column, is_target) = (&table.columns()[j], at >= features.len());
        let is_needed = is_target || !fills;
        let gaps = mark(column, role, is_needed, is_target && has_poles, &mut is_kept);
        check(table, &gaps)?;
        if gaps.missing + gaps.infinite > 0 {
            columns.push(gaps);
        }
    }
    kept(table, &is_kept, columns)
}

/// The kept rows and the report. Errors if no row is kept.
fn kept(table: &Table, is_kept: &[bool], columns: Vec<Gaps>) -> Result<(Vec<u32>, MissingReport)> {
    let rows: Vec<u32> = (0..table.rows() as u32).filter(|&row| is_kept[row as usize]).collect();
    let report = MissingReport { rows: table.rows(), dropped: table.rows() - rows.len(), columns };
    if rows.is_empty() {
        return Err(Error::new(format!("{}: no row has a value in every column ({report})", table.source())));
    }
    Ok((rows, report))
}

impl Preparation {
    /// The rows of a table that a model can be judged on, as in training: those with a target, which is infinite only with `has_poles`,
    /// and with a value in every column that has no fill-in value. Errors on an absent column, and if no row is left.
    pub fn judged_rows(&self, table: &Table, has_poles: bool) -> Result<(Vec<u32>, MissingReport)> {
        let mut is_kept = vec![true; table.rows()];
        let mut columns = Vec::new();
        let levels_of = |feature: &Feature| match feature.seen() {
            Seen::Levels { levels, .. } => levels.to_vec(),
            Seen::Numbers(_) | Seen::Times(_) | Seen::Texts { .. } => Vec::new(),
        };
        let features = self
            .features
            .iter()
            .map(|f: &Feature| (f.name(), f.as_kind().role(), !f.takes_missing(), false, levels_of(f)));
        let is_class = matches!(self.target, Target::Classification { .. });
        let target_role = if is_class { Role::Category } else { Role::Number };
        let targets = self
            .target
            .columns()
            .iter()
            .map(|name| (name.as_str(), target_role, true, has_poles, self.target.levels().to_vec()));
        for (name, role, is_needed, may_be_infinite, levels) in features.chain(targets) {
            let column = find(table, name)?;
            let mut gaps = mark(column, role, is_needed, may_be_infinite, &mut is_kept);
            if role == Role::Category && !levels.is_empty() {
                gaps.missing = mark_missing(column, &levels, is_needed, &mut is_kept);
            }
            if gaps.missing + gaps.infinite > 0 {
                columns.push(gaps);
            }
        }
        kept(table, &is_kept, columns)
    }

    /// The same without the rows whose label training did not see: no model can be right about them.
    pub fn known_rows(&self, table: &Table, has_poles: bool) -> Result<(Vec<u32>, MissingReport)> {
        let (rows, mut report) = self.judged_rows(table, has_poles)?;
        let Target::Classification { name, levels, .. } = &self.target else { return Ok((rows, report)) };
        let column = find(table, name)?;
        let (known, unknown): (Vec<_>, Vec<_>) =
            rows.iter().copied().zip(matches(column, &rows, levels)).partition(|(_, found)| *found != Match::Unknown);
        let Some((first, _)) = unknown.first() else { return Ok((rows, report)) };
        let text = column.as_category().text(*first as usize).unwrap_or_default();
        let first = format!("\"{text}\"{}", near(&text, levels));
        if known.is_empty() {
            let known = listed(&levels.iter().map(String::as_str).collect::<Vec<_>>());
            let (source, count) = (table.source(), unknown.len());
            return Err(Error::new(format!(
                "{source}: column \"{name}\": training saw none of the labels of {count} rows, such as {first}; it saw {known}"
            )));
        }
        report.dropped += unknown.len();
        let of_target = report.columns.iter().position(|gaps| gaps.name == *name).unwrap_or_else(|| {
            report.columns.push(Gaps { name: name.clone(), missing: 0, infinite: 0, unknown: None });
            report.columns.len() - 1
        });
        report.columns[of_target].unknown = Some((unknown.len(), first));
        Ok((known.into_iter().map(|(row, _)| row).collect(), report))
    }
}

/// The label that another one probably means, as a question: the same but for case, spaces and signs at its ends, or nearly the same.
fn near(text: &str, levels: &[String]) -> String {
    let plain = |text: &str| {
        text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '.' | ',' | ';' | ':' | '!' | '"' | '\''))
            .to_lowercase()
    };
    match levels.iter().find(|level| plain(level) == plain(text)) {
        Some(level) => format!("; did you mean \"{level}\"?"),
        None => hint(text, levels.iter().map(String::as_str)),
    }
}

/// Counts the unusable cells of a column and drops their rows if a value is needed.
fn mark(column: &Column, role: Role, is_needed: bool, has_poles: bool, is_kept: &mut [bool]) -> Gaps {
    let mut gaps = Gaps { name: column.name.clone(), missing: 0, infinite: 0, unknown: None };
    let days;
    let cells = match role {
        Role::Number => &column.cells,
        Role::Category => column.as_category(),
        Role::Date(order) => {
            days = Cells::Numeric(Moments::of(column, order).days());
            &days
        }
    };
    for (row, is_kept) in is_kept.iter_mut().enumerate() {
        let (is_missing, is_infinite) = (cells.is_missing(row), !has_poles && cells.is_infinite(row));
        gaps.missing += usize::from(is_missing);
        gaps.infinite += usize::from(is_infinite);
        *is_kept &= !(is_infinite || is_needed && is_missing);
    }
    gaps
}

/// Counts the missing cells of a category, also by a word that no level has, and drops their rows if a value is needed.
fn mark_missing(column: &Column, levels: &[String], is_needed: bool, is_kept: &mut [bool]) -> usize {
    let rows: Vec<u32> = (0..column.cells.len() as u32).collect();
    let found = matches(column, &rows, levels);
    let missing = is_kept.iter_mut().zip(found).filter(|(_, found)| *found == Match::Missing);
    missing.map(|(is_kept, _)| *is_kept &= !is_needed).count()
}

fn check(table: &Table, gaps: &Gaps) -> Result<()> {
    if gaps.missing < table.rows() {
        return Ok(());
    }
    let (name, source) = (&gaps.name, table.source());
    Err(Error::new(format!("column \"{name}\" has no value in any row of {source}; expected a column with values")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::csv::{Header, read};

    fn outcome(text: &str, policy: Missing) -> Result<(Vec<u32>, String)> {
        let table = read(text.as_bytes(), "a.csv", Header::Auto)?;
        let target = table.columns().len() - 1;
        let features: Vec<(usize, Role)> = (0..target).map(|j| (j, Role::Number)).collect();
        usable(&table, &features, &[(target, Role::Number)], policy == Missing::Impute, false)
            .map(|(rows, report)| (rows, report.to_string()))
    }

    #[test]
    fn rows_are_dropped_and_counted() {
        let cases: &[(&str, Missing, &[u32], &str)] = &[
            ("x,y\n1,2\n3,4\n", Missing::Drop, &[0, 1], "0 of 2 rows dropped"),
            (
                "x,z,y\n1,a,2\n,,4\n5,b,\n",
                Missing::Drop,
                &[0],
                "2 of 3 rows dropped; x: 1 missing; z: 1 missing; y: 1 missing",
            ),
            ("x,y\n1,2\n,4\n5,\n", Missing::Impute, &[0, 1], "1 of 3 rows dropped; x: 1 missing; y: 1 missing"),
            ("x,y\n1,2\ninf,4\n", Missing::Drop, &[0], "1 of 2 rows dropped; x: 0 missing, 1 infinite"),
            ("x,y\n1,2\n,3\ninf,4\n", Missing::Impute, &[0, 1], "1 of 3 rows dropped; x: 1 missing, 1 infinite"),
        ];
        for (text, policy, rows, report) in cases {
            assert_eq!(outcome(text, *policy).unwrap(), (rows.to_vec(), (*report).to_string()));
        }
    }

    #[test]
    fn messages() {
        let cases = [
            (
                "x,y\n,1\n,2\n",
                Missing::Impute,
                "column \"x\" has no value in any row of a.csv; expected a column with values",
            ),
            (
                "x,y\n,1\n2,\n",
                Missing::Drop,
                "a.csv: no row has a value in every column (2 of 2 rows dropped; x: 1 missing; y: 1 missing)",
            ),
        ];
        for (text, policy, expected) in cases {
            assert_eq!(outcome(text, policy).unwrap_err().to_string(), expected);
        }
    }
}
