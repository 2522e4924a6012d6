//! Fits of files that are larger than memory: which strategy is used and why, and the rows as a source.

use std::path::Path;

use serde_json::json;

use super::args::Args;
use super::rows::Rows;
use crate::terminal::console::{say, say_json};
use crate::{Answer, Failure};
use meromorph::files::ranges::Cached;
use meromorph::files::{Format, RowSource};
use meromorph::files::{is_read_by_ranges_only, open_rows};
use meromorph::fit::{Facts, FitOptions, Formula, Plan, Strategy};
use meromorph::internal::host::{self, MemoryLimit};
use meromorph::report::{Table as TextTable, binary, count};

/// Text as a table takes about so many times its own bytes.
const TEXT: u64 = 3;
/// Rows that pictures show, at most.
const SHOWN: usize = 5_000;

/// How the rows of a file are read.
pub(super) enum Input {
    /// As a whole table.
    Table,
    /// By ranges.
    Rows(Box<dyn RowSource>),
}

impl Args {
    /// The memory that the fit may use.
    fn limit(&self) -> Answer<MemoryLimit> {
        let found = host::memory_limit();
        let Some(text) = &self.memory_limit else { return Ok(found) };
        let bytes = parse_bytes(text).ok_or_else(|| {
            Failure::usage(format!("memory-limit: got \"{text}\", expected a size such as 500MB, 8GB or 2GiB"))
        })?;
        Ok(if bytes < found.bytes { MemoryLimit { bytes, by: "--memory-limit" } } else { found })
    }

    fn requested(&self) -> Answer<Option<Strategy>> {
        Ok(if self.strategy == "auto" { None } else { Some(Strategy::named(&self.strategy)?) })
    }

    /// Whether the file is read as a table: it is small enough, or standard input, or no one wants otherwise.
    pub(super) fn input(&self, format: &Format) -> Answer<Input> {
        let (requested, limit) = (self.requested()?, self.limit()?);
        let bytes = host::file_bytes(&self.file);
        if self.file == Path::new("-") {
            let is_standard = requested.is_none_or(|requested| requested == Strategy::Standard);
            let error = || Failure::usage("strategy: standard input is read once: expected standard, or a file");
            return if is_standard && !self.plan { Ok(Input::Table) } else { Err(error()) };
        }
        let is_small = bytes.is_some_and(|bytes| TEXT * bytes <= limit.bytes / 4 * 3);
        // A pipe is read once, as standard input is.
        let is_stream = bytes.is_none() && self.file.exists() && !host::is_folder(&self.file);
        let is_standard = requested == Some(Strategy::Standard);
        let is_whole = requested.is_none() && (is_small && !is_read_by_ranges_only(&self.file)? || is_stream);
        if !self.plan && (is_standard || is_whole) {
            return Ok(Input::Table);
        }
        Ok(Input::Rows(open_rows(&self.file, format.clone())?))
    }

    /// The plan for rows that are read by ranges; shown if that is all that is wanted.
    pub(super) fn planned(&self, source: &dyn RowSource, places: &[usize]) -> Answer<Plan> {
        let limit = self.limit()?;
        let rows = source.rows() as u64;
        let threads = if self.threads == 0 { host::threads() } else { self.threads } as u64;
        let table_bytes =
            TEXT * host::file_bytes(&self.file).unwrap_or(0).max(8 * rows * source.columns().len() as u64 / TEXT);
        let facts = Facts { rows, columns: places.len() as u64, table_bytes, threads, limit: limit.bytes };
        let plan = Plan::of(&facts, self.requested()?)?;
        if self.plan {
            self.show(&plan, &facts, &limit);
        }
        Ok(plan)
    }

    fn show(&self, plan: &Plan, facts: &Facts, limit: &MemoryLimit) {
        if self.json {
            let needs: serde_json::Map<String, serde_json::Value> = Strategy::ALL
                .iter()
                .zip(plan.bytes)
                .map(|((name, _), bytes)| ((*name).to_owned(), bytes.into()))
                .collect();
            return say_json(&json!({
                "event": "plan", "rows": facts.rows, "columns": facts.columns, "threads": facts.threads, "bytes": needs, "limit": limit.bytes,
                "limited_by": limit.by, "budget": plan.budget, "strategy": plan.strategy.name(), "rows_in_memory": plan.held, "reason": plan.reason(),
            }));
        }
        let mut table = TextTable::new(["strategy", "memory", ""]);
        for ((name, strategy), bytes) in Strategy::ALL.into_iter().zip(plan.bytes) {
            let chosen = if strategy == plan.strategy { "chosen" } else { "" };
            table = table.row([name.to_owned(), binary(bytes), chosen.to_owned()]);
        }
        say(&format!(
            "{} rows of {} columns, {} threads\n{} may be used ({}), three quarters of it by the fit: {}\n\n{}",
            count(facts.rows),
            facts.columns,
            facts.threads,
            binary(limit.bytes),
            limit.by,
            binary(plan.budget),
            table.text()
        ));
        if plan.strategy == Strategy::Chunked {
            say(&format!("{} of the rows stay in memory, the others are read in each pass", count(plan.held)));
        }
    }

    /// The source with as many rows in memory as the plan says.
    pub(super) fn kept(source: Box<dyn RowSource>, places: &[usize], plan: &Plan) -> Answer<Box<dyn RowSource>> {
        let rows = match plan.strategy {
            Strategy::Standard | Strategy::Large => source.rows(),
            Strategy::Chunked => plan.held as usize,
            Strategy::Streaming => 0,
        };
        if rows == 0 {
            return Ok(source);
        }
        let mut distinct = places.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        Ok(Box::new(Cached::new(source, &distinct, rows)?))
    }
}

/// Places of the columns that a fit uses.
pub(super) fn places(
    source: &dyn RowSource,
    options: &FitOptions,
    formula: &Formula,
    target: &str,
) -> Answer<Vec<usize>> {
    let used = formula.columns().iter().map(String::as_str).chain([target]);
    let used = used.chain(options.sigma.as_deref()).chain(formula.level_columns());
    let names: Vec<&str> = source.columns().iter().map(String::as_str).collect();
    used.map(|name| {
        let place = names.iter().position(|known| *known == name);
        place.ok_or_else(|| {
            let (all, near) = (meromorph::error::listed(&names), meromorph::error::hint(name, names.iter().copied()));
            let only = "where rows are read by ranges, y is a column";
            Failure::usage(format!("got \"{name}\", expected a column, one of {all}{near} ({only})"))
        })
    })
    .collect()
}

/// Some rows for pictures, spread over all.
pub(super) fn sampled(source: &dyn RowSource, places: &[usize], formula: &Formula, has_sigma: bool) -> Answer<Rows> {
    let count = source.rows().min(SHOWN);
    let mut columns: Vec<Vec<f64>> = vec![Vec::with_capacity(count); places.len()];
    let mut one = vec![[0.0]; places.len()];
    for at in 0..count {
        let row = at * source.rows() / count;
        let mut into: Vec<&mut [f64]> = one.iter_mut().map(|one| &mut one[..]).collect();
        source.read(row..row + 1, places, &mut into)?;
        if one.iter().all(|[value]| value.is_finite()) {
            columns.iter_mut().zip(&one).for_each(|(column, [value])| column.push(*value));
        }
    }
    let used = formula.columns().len();
    let levels = columns.split_off(used + 1 + usize::from(has_sigma));
    let levels = levels.iter().map(|values| meromorph::fit::Levels::of_numbers(values)).collect();
    let sigma = if has_sigma { columns.pop() } else { None };
    let y = columns.pop().unwrap_or_default();
    Ok(Rows { columns, y, sigma, levels, dropped: 0, fingerprint: Some(source.fingerprint()?) })
}

/// A size such as 500MB or 2GiB.
fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let value: f64 = text[..digits].parse().ok()?;
    let unit: f64 = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" | "g" => 1e9,
        "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    (value > 0.0).then_some((value * unit) as u64)
}

#[cfg(test)]
mod tests {
    use super::parse_bytes;

    #[test]
    fn sizes_have_units() {
        let cases = [("500MB", Some(500_000_000)), ("2GiB", Some(2 << 30)), ("1.5 kb", Some(1_500)), ("12", Some(12))];
        for (text, bytes) in cases.into_iter().chain([("x", None), ("3 apples", None), ("0", None), ("", None)]) {
            assert_eq!(parse_bytes(text), bytes, "{text}");
        }
    }
}
