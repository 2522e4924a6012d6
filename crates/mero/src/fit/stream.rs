//! Fits of files that are larger than memory: which strategy is used and why, and the rows as a source.

use std::borrow::Cow;
use std::path::Path;

use super::args::Args;
use super::running::show;
use crate::{Answer, Failure};
use meromorph::files::ranges::Cached;
use meromorph::files::{Format, RowSource};
use meromorph::files::{is_read_by_ranges_only, open_rows};
use meromorph::fit::{Facts, FitRows, Formula, Plan, Strategy};
use meromorph::internal::host;

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
    /// Whether the file is read as a table: it is small enough, or standard input, or no one wants otherwise.
    pub(super) fn input(&self, format: &Format) -> Answer<Input> {
        let running = &self.running;
        let (requested, limit) = (running.requested()?, running.limit()?);
        let bytes = host::file_bytes(&self.file);
        if self.file == Path::new("-") {
            let is_standard = requested.is_none_or(|requested| requested == Strategy::Standard);
            let error = || Failure::usage("strategy: standard input is read once: expected standard, or a file");
            return if is_standard && !running.plan { Ok(Input::Table) } else { Err(error()) };
        }
        let is_small = bytes.is_some_and(|bytes| TEXT * bytes <= limit.bytes / 4 * 3);
        // A pipe is read once, as standard input is.
        let is_stream = bytes.is_none() && self.file.exists() && !host::is_folder(&self.file);
        let is_standard = requested == Some(Strategy::Standard);
        let is_whole = requested.is_none() && (is_small && !is_read_by_ranges_only(&self.file)? || is_stream);
        if !running.plan && (is_standard || is_whole) {
            return Ok(Input::Table);
        }
        Ok(Input::Rows(open_rows(&self.file, format.clone())?))
    }

    /// The plan for rows that are read by ranges; shown if that is all that is wanted.
    pub(super) fn planned(&self, source: &dyn RowSource, places: &[usize]) -> Answer<Plan> {
        let running = &self.running;
        let limit = running.limit()?;
        let (rows, threads) = (source.rows() as u64, running.thread_count());
        let table_bytes =
            TEXT * host::file_bytes(&self.file).unwrap_or(0).max(8 * rows * source.columns().len() as u64 / TEXT);
        let facts = Facts { rows, columns: places.len() as u64, table_bytes, threads, limit: limit.bytes };
        let plan = Plan::of(&facts, running.requested()?)?;
        if running.plan {
            show(&plan, &facts, &limit, self.json);
        }
        Ok(plan)
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
pub(super) fn places<'n>(source: &dyn RowSource, used: impl Iterator<Item = &'n str>) -> Vec<usize> {
    used.filter_map(|name| source.columns().iter().position(|known| known == name)).collect()
}

/// Some rows for pictures, spread over all.
pub(super) fn sampled(
    source: &dyn RowSource,
    places: &[usize],
    formula: &Formula,
    has_sigma: bool,
) -> Answer<FitRows<'static>> {
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
    Ok(FitRows {
        columns: columns.into_iter().map(Cow::Owned).collect(),
        y: y.into(),
        sigma: sigma.map(Cow::Owned),
        sigma_x: None,
        levels,
        dropped: 0,
        excluded: 0,
        fingerprint: Some(source.fingerprint()?),
    })
}
