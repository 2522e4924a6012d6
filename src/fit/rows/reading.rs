//! Rows that are read from a source whenever they are used, in constant memory.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;

use super::levels::Groups;
use super::part::{Numbers, Part, parted};
use super::pieces;
use crate::error::{Error, Result};
use crate::files::RowSource;
use crate::fit::formula::Integral;
use crate::fit::formula::integral::{grid, places};
use crate::host::{ThreadPool, number};

/// More distinct values than these are no levels, and no grid of an integral.
const MOST_VALUES: usize = 1_000_000;

/// Columns of a source.
#[derive(Clone)]
pub(crate) struct Reading<'a> {
    source: &'a dyn RowSource,
    /// Places in the source of the formula's columns, y, sigma if there is one, then columns of levels.
    columns: Vec<usize>,
    has_sigma: bool,
    /// Whether rows with a missing number are left out.
    drops: bool,
    /// For each integral, its ends among the formula's columns.
    ends: Vec<Vec<usize>>,
    /// The distinct values of each column of levels, ascending.
    levels: Vec<Vec<f64>>,
    /// The level of each of these columns in each group; groups ascend.
    groups: Vec<Vec<u32>>,
}

/// What the first pass over the rows found.
pub(crate) struct Scan<'a> {
    pub reading: Reading<'a>,
    pub groups: Groups,
    /// Rows that are not left out.
    pub used: usize,
    /// For each integral the values of its columns, ascending.
    pub grids: Vec<Vec<f64>>,
}

/// Columns of a source by what they are.
pub(crate) struct Wanted<'w> {
    pub columns: &'w [String],
    pub y: &'w str,
    pub sigma: Option<&'w str>,
    pub levels: Vec<&'w str>,
    pub drops: bool,
}

/// Memory for the rows of a part, kept by each thread.
#[derive(Default)]
struct Memory {
    columns: Vec<Vec<f64>>,
    /// The given numbers of rows, if some are left out.
    numbers: Vec<usize>,
    places: Vec<Vec<u32>>,
}

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// What one piece of rows has.
struct Seen {
    used: usize,
    /// Distinct values of each column of levels.
    levels: Vec<Vec<f64>>,
    /// Distinct combinations of levels, as bits.
    groups: BTreeSet<Vec<u64>>,
    /// Distinct values of each integral's columns.
    grids: Vec<Vec<f64>>,
}

impl<'a> Reading<'a> {
    /// Reads all rows once: counts them, looks for wrong numbers, and collects levels and grids.
    pub(crate) fn scan(
        source: &'a dyn RowSource,
        expected: &Wanted<'_>,
        integrals: &[Integral],
        pool: &ThreadPool,
    ) -> Result<Scan<'a>> {
        let names = expected.columns.iter().map(String::as_str).chain([expected.y]).chain(expected.sigma);
        let place = |name: &str| {
            let found = source.columns().iter().position(|known| known == name);
            found.ok_or_else(|| {
                let known: Vec<&str> = source.columns().iter().map(String::as_str).collect();
                Error::new(format!("fit: the column \"{name}\" is missing: got {}", crate::error::listed(&known)))
            })
        };
        let columns: Vec<usize> = names.chain(expected.levels.iter().copied()).map(place).collect::<Result<_>>()?;
        let (has_sigma, drops) = (expected.sigma.is_some(), expected.drops);
        let ends: Vec<Vec<usize>> = integrals.iter().map(|integral| integral.ends.clone()).collect();
        let mut reading = Self {
            source,
            columns,
            has_sigma,
            drops,
            ends,
            levels: vec![Vec::new(); expected.levels.len()],
            groups: Vec::new(),
        };
        let mut seen = Seen {
            used: 0,
            levels: reading.levels.clone(),
            groups: BTreeSet::new(),
            grids: vec![Vec::new(); integrals.len()],
        };
        let pieces = source.rows().div_ceil(pieces::PIECE);
        let mut is_too_many = None;
        let look = |piece| MEMORY.with_borrow_mut(|memory| reading.look(piece, memory));
        pieces::each(pool, 0..pieces, look, |part| {
            seen.used += part.used;
            seen.groups.extend(part.groups);
            let all = seen.levels.iter_mut().chain(&mut seen.grids).zip(part.levels.into_iter().chain(part.grids));
            for (at, (all, part)) in all.enumerate() {
                // Most pieces of data in order bring few new values, and most others none.
                if part.iter().any(|value| all.binary_search_by(|known| known.total_cmp(value)).is_err()) {
                    *all = grid(&[all, &part]);
                }
                if all.len() > MOST_VALUES {
                    is_too_many = Some(at);
                }
            }
        })?;
        if is_too_many.is_some() {
            return Err(Error::new(format!(
                "fit: a column of levels or of an integral has more than {MOST_VALUES} distinct values: expected fewer where rows are read in parts"
            )));
        }
        let Seen { used, levels, groups, grids } = seen;
        let code = |(value, levels): (&u64, &Vec<f64>)| {
            levels.partition_point(|known| known.total_cmp(&f64::from_bits(*value)).is_lt()) as u32
        };
        let mut codes: Vec<Vec<u32>> =
            groups.iter().map(|group| group.iter().zip(&levels).map(code).collect()).collect();
        codes.sort_unstable();
        let texts = |values: &Vec<f64>| values.iter().map(|&value| number(value).to_string()).collect();
        let columns = expected.levels.iter().map(|name| (*name).to_owned()).zip(levels.iter().map(texts)).collect();
        (reading.levels, reading.groups) = (levels, codes.clone());
        Ok(Scan { reading, groups: Groups { columns, codes }, used, grids })
    }

    pub(crate) fn rows(&self) -> usize {
        self.source.rows()
    }

    pub(crate) fn source(&self) -> &'a dyn RowSource {
        self.source
    }

    /// The first look at a piece.
    fn look(&self, piece: usize, memory: &mut Memory) -> Result<Seen> {
        let range = pieces::range(piece, self.rows());
        self.load(range.clone(), memory)?;
        let numbers = Self::numbers(&range, memory);
        let wrong = |at: usize, row: usize, expected: &str| {
            let (name, value) = (&self.source.columns()[self.columns[at]], number(memory.columns[at][row]));
            let row = numbers.of(row) + 1;
            Error::new(format!("fit: column \"{name}\", row {row}: got {value}, expected {expected}"))
        };
        for (at, column) in memory.columns.iter().enumerate() {
            if let Some(row) = column.iter().position(|value| !value.is_finite()) {
                return Err(wrong(at, row, "a finite number"));
            }
        }
        let first = self.columns.len() - self.levels.len();
        if self.has_sigma
            && let Some(row) = memory.columns[first - 1].iter().position(|&sigma| sigma <= 0.0)
        {
            return Err(wrong(first - 1, row, "a number above 0"));
        }
        let used = memory.columns.first().map_or(0, Vec::len);
        let levels = &memory.columns[first..];
        let key = |row: usize| -> Vec<u64> { levels.iter().map(|column| column[row].to_bits()).collect() };
        let mut groups = BTreeSet::new();
        for row in 0..used {
            let is_new = row == 0 || levels.iter().any(|column| column[row].to_bits() != column[row - 1].to_bits());
            if is_new {
                groups.insert(key(row));
            }
        }
        let of_ends =
            |ends: &Vec<usize>| grid(&ends.iter().map(|&end| memory.columns[end].as_slice()).collect::<Vec<&[f64]>>());
        Ok(Seen {
            used,
            levels: levels.iter().map(|column| grid(&[column])).collect(),
            groups,
            grids: self.ends.iter().map(of_ends).collect(),
        })
    }

    /// Reads rows without those that are left out.
    fn load(&self, range: Range<usize>, memory: &mut Memory) -> Result<()> {
        memory.columns.resize_with(self.columns.len(), Vec::new);
        memory.columns.truncate(self.columns.len());
        memory.columns.iter_mut().for_each(|column| column.resize(range.len(), 0.0));
        let mut into: Vec<&mut [f64]> = memory.columns.iter_mut().map(Vec::as_mut_slice).collect();
        self.source.read(range.clone(), &self.columns, &mut into)?;
        // One level for 0 and -0.
        let levels = self.columns.len() - self.levels.len();
        memory.columns[levels..].iter_mut().flatten().for_each(|value| *value += 0.0);
        memory.numbers.clear();
        if !self.drops {
            return Ok(());
        }
        let is_whole = |row: &usize| memory.columns.iter().all(|column| !column[*row].is_nan());
        let kept: Vec<usize> = (0..range.len()).filter(is_whole).collect();
        if kept.len() < range.len() {
            for column in &mut memory.columns {
                kept.iter().enumerate().for_each(|(to, &from)| column[to] = column[from]);
                column.truncate(kept.len());
            }
            memory.numbers.extend(kept.iter().map(|row| range.start + row));
        }
        Ok(())
    }

    fn numbers<'m>(range: &Range<usize>, memory: &'m Memory) -> Numbers<'m> {
        let is_whole = memory.columns.first().is_none_or(|column| column.len() == range.len());
        if is_whole { Numbers::From(range.start) } else { Numbers::Listed(&memory.numbers) }
    }

    /// Hands over some rows.
    pub(crate) fn with<T>(
        &self,
        range: Range<usize>,
        grids: &[Vec<f64>],
        take: impl FnOnce(&Part<'_>) -> T,
    ) -> Result<T> {
        let mut memory = MEMORY.take();
        self.load(range.clone(), &mut memory)?;
        let ends = self.ends.iter().zip(grids).flat_map(|(ends, grid)| ends.iter().map(move |&end| (end, grid)));
        memory.places = ends.map(|(end, grid)| places(grid, &memory.columns[end])).collect();
        let columns: Vec<&[f64]> = memory.columns.iter().map(Vec::as_slice).collect();
        let (columns, levels) = columns.split_at(columns.len() - self.levels.len());
        let runs = self.runs(columns[0].len(), levels);
        let (columns, y, sigma) = parted(columns, self.has_sigma);
        let places: Vec<&[u32]> = memory.places.iter().map(Vec::as_slice).collect();
        let numbers = Self::numbers(&range, &memory);
        let taken = take(&Part { columns, y, sigma, places: &places, runs: &runs, numbers });
        MEMORY.set(memory);
        Ok(taken)
    }

    /// Consecutive rows with the same levels, and their groups.
    fn runs(&self, rows: usize, levels: &[&[f64]]) -> Vec<(usize, Range<usize>)> {
        let mut runs: Vec<(usize, Range<usize>)> = Vec::new();
        if levels.is_empty() {
            return vec![(0, 0..rows)];
        }
        for row in 0..rows {
            let is_same = row > 0 && levels.iter().all(|column| column[row] == column[row - 1]);
            if let (true, Some((_, last))) = (is_same, runs.last_mut()) {
                last.end = row + 1;
                continue;
            }
            let code =
                |(column, known): (&&[f64], &Vec<f64>)| known.partition_point(|known| *known < column[row]) as u32;
            let codes: Vec<u32> = levels.iter().zip(&self.levels).map(code).collect();
            let group = self.groups.binary_search(&codes).unwrap_or_default();
            runs.push((group, row..row + 1));
        }
        runs
    }
}
