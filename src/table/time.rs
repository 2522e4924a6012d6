//! Splits rows in the order of time: the first ones train, the last ones test. Rows of the same time are in one part.

use super::feature::Moments;
use super::split::{Fractions, Grouping, Split, codes, split};
use crate::error::{Error, Result};
use crate::files::{Cells, Column, DateOrder, Table, moment};
use crate::math::order::{ascending, key};

/// Rows in the order of time.
pub(crate) struct InTime {
    /// The rows.
    pub order: Vec<u32>,
    pub places: Places,
}

/// Where in an order of time a part may begin, so that rows of the same time are in one part.
#[derive(Clone)]
pub(crate) struct Places {
    rows: usize,
    /// Places from 1 on, ascending, with a later time than the place before.
    starts: Vec<usize>,
}

impl Places {
    /// Those of the first rows.
    pub(crate) fn first(&self, rows: usize) -> Self {
        Self { rows, starts: self.starts.iter().copied().take_while(|start| *start < rows).collect() }
    }

    /// For each of some ascending places the nearest one where a part may begin, in ascending order; of two, the earlier one. Errors if there
    /// are too few.
    pub(crate) fn nearest(&self, expected: &[usize]) -> Result<Vec<usize>> {
        let mut found: Vec<usize> = Vec::with_capacity(expected.len());
        let mut from = 0;
        for (at, expected_here) in expected.iter().enumerate() {
            let most = (self.starts.len() + at + 1).saturating_sub(expected.len());
            let free = self.starts.get(from..most).unwrap_or_default();
            let Some((place, start)) = free.iter().enumerate().min_by_key(|(_, start)| start.abs_diff(*expected_here))
            else {
                let (parts, times) = (expected.len() + 1, self.starts.len() + 1);
                let s = if times == 1 { "time is" } else { "times are" };
                return Err(Error::new(format!("{times} different {s} too few for {parts} parts")));
            };
            from += place + 1;
            found.push(*start);
        }
        Ok(found)
    }
}

/// Splits rows in the order of time: training first, then validation, then test, as near to their fractions as rows of the same time allow.
pub(crate) fn in_time(places: &Places, fractions: Fractions) -> Result<Split> {
    let all: Vec<u32> = (0..places.rows as u32).collect();
    let Split { train, validation, test } = split(places.rows, fractions, &all, Grouping::None)?;
    let expected = [(train.len(), &validation), (train.len() + validation.len(), &test)];
    let expected: Vec<usize> =
        expected.into_iter().filter(|(_, part)| !part.is_empty()).map(|(start, _)| start).collect();
    let found = places.nearest(&expected)?;
    let first = found.first().copied().unwrap_or(all.len());
    let last = if test.is_empty() { all.len() } else { found.last().copied().unwrap_or(all.len()) };
    Ok(Split { train: all[..first].to_vec(), validation: all[first..last].to_vec(), test: all[last..].to_vec() })
}

/// The order of rows by a column of times: numbers, or dates. Errors on a missing cell and on other texts.
pub(crate) fn by_time(table: &Table, column: usize, rows: &[u32], date_order: Option<DateOrder>) -> Result<InTime> {
    let Column { name, cells, .. } = &table.columns()[column];
    if let Some(&row) = rows.iter().find(|&&row| cells.is_missing(row as usize)) {
        return Err(table.at(row as usize, name, "is missing, so that the rows cannot be put in the order of time"));
    }
    let keys = match cells {
        Cells::Numeric(_) => codes(cells, rows),
        Cells::Categorical { levels, .. } => {
            let order = moment::order_of(levels, date_order).unwrap_or_default();
            let times = Moments::of(&table.columns()[column], order);
            if let Some(&row) = rows.iter().find(|&&row| times.get(row as usize).is_none()) {
                let text = cells.text(row as usize).unwrap_or_default();
                let what = format!(
                    "\"{text}\" is no time: expected numbers, or dates such as 2026-11-23; for others the option date_order"
                );
                return Err(table.at(row as usize, name, &what));
            }
            let day = |row: &u32| times.get(*row as usize).map_or(f64::NAN, |time| time.universal);
            rows.iter().map(|row| key(day(row) + 0.0)).collect()
        }
    };
    let order = ascending(&keys);
    let is_start = |at: &usize| keys[order[*at] as usize] != keys[order[*at - 1] as usize];
    let starts = (1..rows.len()).filter(is_start).collect();
    Ok(InTime { places: Places { rows: rows.len(), starts }, order })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::csv::{Header, read};

    #[test]
    fn times_are_ordered_in_universal_time() {
        // In universal time 02:00, 01:00 and, on the next day, 04:30; the clocks on the walls show another order.
        let text = "at\n2024-03-01T02:00Z\n2024-03-01T10:00+09:00\n2024-02-29T23:30-05:00\n";
        let table = read(text.as_bytes(), "a.csv", Header::Yes).unwrap();
        assert_eq!(by_time(&table, 0, &[0, 1, 2], None).unwrap().order, [1, 0, 2]);
    }

    #[test]
    fn rows_of_a_day_are_in_one_part() {
        // Ten rows, of the days 0 0 0 1 1 2 2 2 3 3: parts may begin at 3, 5 and 8.
        let days = [0, 0, 0, 1, 1, 2, 2, 2, 3, 3].map(|day| format!("{day},1\n")).concat();
        let table = read(format!("t,y\n{days}").as_bytes(), "a.csv", Header::Yes).unwrap();
        let places = by_time(&table, 0, &table.every_row(), None).unwrap().places;
        assert_eq!(places.starts, [3, 5, 8]);
        let sizes = |validation: f64, test: f64| {
            let Split { train, validation, test } = in_time(&places, Fractions { validation, test }).unwrap();
            [train.len(), validation.len(), test.len()]
        };
        assert_eq!(sizes(0.2, 0.2), [5, 3, 2], "6 would be in day 2");
        assert_eq!(sizes(0.1, 0.1), [5, 3, 2], "8 and 9: the second one is at 8, so the first is before");
        assert_eq!([sizes(0.0, 0.4), sizes(0.4, 0.0), sizes(0.0, 0.0)], [[5, 0, 5], [5, 5, 0], [10, 0, 0]]);
        assert_eq!(places.nearest(&[4, 4, 4]).unwrap(), [3, 5, 8]);
        let said = places.nearest(&[1, 2, 3, 4]).unwrap_err().to_string();
        assert_eq!(said, "4 different times are too few for 5 parts");
        assert_eq!(places.first(5).starts, [3]);
    }
}
