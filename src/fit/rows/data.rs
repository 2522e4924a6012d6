//! The rows of a problem: columns in memory, or columns of a source that are read in parts.

use std::borrow::Cow;
use std::ops::Range;

use super::levels::{Groups, Levels};
use super::part::{Numbers, Part, parted};
use super::reading::{Reading, Scan, Wanted};
use crate::error::Result;
use crate::files::RowSource;
use crate::fit::formula::Integral;
use crate::fit::formula::integral::{grid, places};
use crate::host::ThreadPool;

/// The rows of a problem, in parts of consecutive rows.
#[derive(Clone)]
pub(crate) struct Data<'a> {
    rows: Rows<'a>,
    /// Rows without those that are left out.
    pub used: usize,
    /// Where the rows of a group begin and end; empty if rows are read, or all in one group.
    ranges: Vec<Range<usize>>,
    /// For each integral the values of its columns, ascending.
    pub grids: Vec<Vec<f64>>,
    pub has_sigma: bool,
}

#[derive(Clone)]
enum Rows<'a> {
    Held(Held<'a>),
    Read(Reading<'a>),
}

#[derive(Clone)]
struct Held<'a> {
    /// The formula's columns, then y, then sigma if there is one.
    columns: Vec<Cow<'a, [f64]>>,
    /// For each end of each integral, places in its grid.
    places: Vec<Vec<u32>>,
    /// The given number of each row; empty if they are in the given order.
    order: Vec<usize>,
}

impl<'a> Data<'a> {
    /// Columns in memory: the formula's and y, each as long as `levels` say.
    pub(crate) fn held(
        columns: Vec<&'a [f64]>,
        integrals: &[Integral],
        levels: Vec<(String, &Levels)>,
    ) -> (Self, Groups) {
        let rows = columns.last().map_or(0, |column| column.len());
        let (groups, order, ranges) =
            if levels.is_empty() { (Groups::one(), Vec::new(), Vec::new()) } else { Groups::of(levels, rows) };
        // Rows of one group in the given order need no copies.
        let order = if order.is_sorted() { Vec::new() } else { order };
        let grids: Vec<Vec<f64>> = integrals
            .iter()
            .map(|integral| grid(&integral.ends.iter().map(|&end| columns[end]).collect::<Vec<&[f64]>>()))
            .collect();
        let mut held = Held { columns: Vec::new(), places: Vec::new(), order };
        held.columns = columns.into_iter().map(|column| held.sorted(column)).collect();
        for (integral, grid) in integrals.iter().zip(&grids) {
            held.places.extend(integral.ends.iter().map(|&end| places(grid, &held.columns[end])));
        }
        (Self { rows: Rows::Held(held), used: rows, ranges, grids, has_sigma: false }, groups)
    }

    /// Columns of a source, which are read once now and whenever they are used.
    pub(crate) fn read(
        source: &'a dyn RowSource,
        expected: &Wanted<'_>,
        integrals: &[Integral],
        pool: &ThreadPool,
    ) -> Result<(Self, Groups)> {
        let Scan { reading, groups, used, grids } = Reading::scan(source, expected, integrals, pool)?;
        Ok((
            Self { rows: Rows::Read(reading), used, ranges: Vec::new(), grids, has_sigma: expected.sigma.is_some() },
            groups,
        ))
    }

    /// Adds a column of standard deviations in the given order.
    pub(crate) fn add_sigma(&mut self, sigma: &'a [f64]) {
        if let Rows::Held(held) = &mut self.rows {
            let sigma = held.sorted(sigma);
            held.columns.push(sigma);
            self.has_sigma = true;
        }
    }

    /// Number of rows, with those that are left out.
    pub(crate) fn rows(&self) -> usize {
        match &self.rows {
            Rows::Held(_) => self.used,
            Rows::Read(reading) => reading.rows(),
        }
    }

    /// Where rows are read from whenever they are used; `None` if they are in memory.
    pub(crate) fn source(&self) -> Option<&'a dyn RowSource> {
        match &self.rows {
            Rows::Held(_) => None,
            Rows::Read(reading) => Some(reading.source()),
        }
    }

    /// The rows of a group; all if there is one group.
    pub(crate) fn group(&self, group: usize) -> Range<usize> {
        self.ranges.get(group).cloned().unwrap_or(0..self.rows())
    }

    /// Hands over some rows.
    pub(crate) fn with<T>(&self, range: Range<usize>, take: impl FnOnce(&Part<'_>) -> T) -> Result<T> {
        match &self.rows {
            Rows::Held(held) => {
                let columns: Vec<&[f64]> = held.columns.iter().map(|column| &column[range.clone()]).collect();
                let places: Vec<&[u32]> = held.places.iter().map(|places| &places[range.clone()]).collect();
                let (columns, y, sigma) = parted(&columns, self.has_sigma);
                let numbers = match held.order.get(range.clone()) {
                    Some(listed) if !listed.is_empty() => Numbers::Listed(listed),
                    _ => Numbers::From(range.start),
                };
                let runs = self.runs(&range);
                Ok(take(&Part { columns, y, sigma, places: &places, runs: &runs, numbers }))
            }
            Rows::Read(reading) => reading.with(range, &self.grids, take),
        }
    }

    /// The values of the formula's columns in the row with this given number; none if it cannot be read.
    pub(crate) fn row(&self, number: usize) -> Vec<f64> {
        let at = match &self.rows {
            Rows::Held(held) => held.order.iter().position(|&given| given == number).unwrap_or(number),
            Rows::Read(_) => number,
        };
        let values = |part: &Part<'_>| part.columns.iter().filter_map(|column| column.first().copied()).collect();
        self.with(at..at + 1, values).unwrap_or_default()
    }

    /// The groups of rows in memory.
    fn runs(&self, range: &Range<usize>) -> Vec<(usize, Range<usize>)> {
        if self.ranges.is_empty() {
            return vec![(0, 0..range.len())];
        }
        let first = self.ranges.partition_point(|group| group.end <= range.start);
        let within = self.ranges[first..].iter().take_while(|group| group.start < range.end).enumerate();
        within
            .map(|(at, group)| {
                let [start, end] = [group.start, group.end].map(|row| row.clamp(range.start, range.end) - range.start);
                (first + at, start..end)
            })
            .collect()
    }

    /// The same rows in memory with other observed values, in the order of the groups.
    pub(crate) fn with_y(&self, y: Vec<f64>) -> Self {
        let mut data = self.clone();
        if let Rows::Held(held) = &mut data.rows {
            let at = held.columns.len() - 1 - usize::from(self.has_sigma);
            held.columns[at] = Cow::Owned(y);
        }
        data
    }

    /// The same rows in memory as those of [`Formula::inexact`](crate::fit::Formula::inexact): y and the standard deviations become columns, and 0 is
    /// observed. `sigma_x` is in the given order.
    pub(crate) fn inexact(&self, sigma_x: &[f64]) -> Self {
        let mut data = self.clone();
        if let Rows::Held(held) = &mut data.rows {
            let sigma_x = Cow::Owned(held.sorted(sigma_x).into_owned());
            held.columns.insert(2, sigma_x);
            held.columns.push(Cow::Owned(vec![0.0; self.used]));
        }
        data.has_sigma = false;
        data
    }

    /// Rows in memory by their places, each as often as it is there, in one group.
    pub(crate) fn drawn(&self, rows: &[usize]) -> Self {
        let mut data = self.clone();
        if let Rows::Held(held) = &mut data.rows {
            for column in &mut held.columns {
                *column = Cow::Owned(rows.iter().map(|&row| column[row]).collect());
            }
            for places in &mut held.places {
                *places = rows.iter().map(|&row| places[row]).collect();
            }
        }
        data
    }

    /// Some rows, in memory.
    pub(crate) fn picked(&self, picked: &[usize]) -> Result<Data<'static>> {
        let mut columns: Vec<Vec<f64>> = Vec::new();
        let mut all_places: Vec<Vec<u32>> = Vec::new();
        for &row in picked {
            self.with(row..row + 1, |part| {
                let values = part.columns.iter().chain([&part.y]).chain(part.sigma.as_ref());
                columns.resize_with(part.columns.len() + 1 + usize::from(part.sigma.is_some()), Vec::new);
                columns.iter_mut().zip(values).for_each(|(column, values)| column.extend_from_slice(values));
                all_places.resize_with(part.places.len(), Vec::new);
                all_places.iter_mut().zip(part.places).for_each(|(all, places)| all.extend_from_slice(places));
            })?;
        }
        let used = columns.first().map_or(0, Vec::len);
        let columns = columns.into_iter().map(Cow::Owned).collect();
        let rows = Rows::Held(Held { columns, places: all_places, order: Vec::new() });
        Ok(Data { rows, used, ranges: Vec::new(), grids: self.grids.clone(), has_sigma: self.has_sigma })
    }
}

impl Held<'_> {
    /// A column in the order of the groups.
    fn sorted<'c>(&self, column: &'c [f64]) -> Cow<'c, [f64]> {
        if self.order.is_empty() {
            return Cow::Borrowed(column);
        }
        Cow::Owned(self.order.iter().map(|&row| column[row]).collect())
    }
}
