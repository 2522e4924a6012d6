//! A column of dates or times: the time that has passed, and where each point is in the year, the month, the week and the day.

use super::NumberFeature;
use super::kind::{FeatureKind, Inputs, Role, Seen};
use super::number::is_outside;
use crate::error::Result;
use crate::files::DateOrder;
use crate::files::moment::{Moment, calendar, is_written_in, text};
use crate::files::text::missing;
use crate::files::{Cells, Column};
use crate::host::{cos, sin};
use crate::math::measure::Measure;
use crate::record;
use crate::table::rows::{ColumnRows, MISSING, NoteKind};
use std::borrow::Cow;
use std::f64::consts::TAU;

/// Encoding of a column of dates or times, as inputs in this order: those of the days since the beginning of 1970; sine and cosine of the
/// place in each cycle; 1 for the point's weekday and month, among those of the training rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DateFeature {
    /// The order of year, month and day.
    pub order: DateOrder,
    /// Days since the beginning of 1970 in universal time. Its name is the column's.
    pub elapsed: NumberFeature,
    /// Whether there are dates, not only times of day.
    pub has_dates: bool,
    /// Cycles that the training rows span at least once, so that the model saw all of them.
    pub cycles: Vec<Cycle>,
    /// The weekdays of the training rows, Monday 0; empty unless they span a week.
    pub weekdays: Vec<u32>,
    /// The months of the training rows, January 1; empty unless they span a year.
    pub months: Vec<u32>,
}

record! { DateFeature { order, elapsed, has_dates, cycles, weekdays, months } }

/// What repeats itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cycle {
    /// The day from midnight.
    #[default]
    Day,
    /// The month from its first day.
    Month,
    /// The year from January.
    Year,
}

record! { enum Cycle { Day, Month, Year } }

/// Days in a week and in a year.
const WEEK: f64 = 7.0;
const YEAR: f64 = 365.0;

impl DateFeature {
    /// Fits it to the points in time of the training rows and the statistics of their days.
    pub(crate) fn fit(
        name: &str,
        order: DateOrder,
        measure: Measure,
        moments: &[Option<Moment>],
        fills: bool,
        bins: usize,
    ) -> Self {
        let elapsed: Vec<f64> =
            moments.iter().map(|moment| moment.map_or(f64::NAN, |moment| moment.universal)).collect();
        let found = || moments.iter().flatten();
        let has_dates = found().any(|moment| moment.has_date);
        let span = if has_dates { measure.max - measure.min + 1.0 } else { 1.0 };
        let time = |moment: &Moment| moment.local - moment.local.floor();
        let has_times = found().any(|moment| found().next().is_some_and(|first| time(first) != time(moment)));
        let kept = |is_kept: bool, of: &dyn Fn(&Moment) -> u32, values: std::ops::Range<u32>| {
            let is_seen = |value: &u32| is_kept && found().any(|moment| of(moment) == *value);
            values.filter(is_seen).collect()
        };
        let cycles = [(Cycle::Day, has_times), (Cycle::Month, span >= 31.0), (Cycle::Year, span >= YEAR)];
        Self {
            order,
            elapsed: NumberFeature::fit(name, measure, &elapsed, fills, bins),
            has_dates,
            cycles: cycles.into_iter().filter(|(_, is)| *is).map(|(cycle, _)| cycle).collect(),
            weekdays: kept(span >= WEEK, &weekday, 0..7),
            months: kept(span >= YEAR, &month, 1..13),
        }
    }

    /// The first and the last point of the training rows.
    pub fn range(&self) -> [String; 2] {
        [self.elapsed.min, self.elapsed.max].map(|days| text(days, self.has_dates))
    }

    /// A point in time, so many days after the beginning of 1970, as a cell of the column.
    pub fn text(&self, days: f64) -> String {
        text(days, self.has_dates)
    }

    /// Writes the inputs of a point in time, or of the fill-in value if there is none.
    fn write_moment(&self, moment: Option<Moment>, inputs: &mut [f32]) {
        let (of_elapsed, rest) = inputs.split_at_mut(self.elapsed.inputs());
        self.elapsed.write_value(moment.map_or(f64::NAN, |moment| moment.universal), of_elapsed);
        let Some(moment) = moment else { return };
        let angles = self.cycles.iter().map(|cycle| TAU * cycle.place(moment.local));
        let circle = angles.flat_map(|angle| [sin(angle) as f32, cos(angle) as f32]);
        let one = |is: bool| f32::from(u8::from(is));
        let weekdays = self.weekdays.iter().map(|day| one(*day == weekday(&moment)));
        let months = self.months.iter().map(|of| one(*of == month(&moment)));
        rest.iter_mut().zip(circle.chain(weekdays).chain(months)).for_each(|(input, value)| *input = value);
    }
}

impl FeatureKind for DateFeature {
    fn name(&self) -> &str {
        &self.elapsed.name
    }

    fn inputs(&self) -> usize {
        self.elapsed.inputs() + 2 * self.cycles.len() + self.weekdays.len() + self.months.len()
    }

    fn role(&self) -> Role {
        Role::Date(self.order)
    }

    fn seen(&self) -> Seen<'_> {
        Seen::Times(self)
    }

    fn doc(&self) -> &'static str {
        "a date is its days since 1970-01-01 in universal time, as a number; then of local time for each of cycles sine and cosine of 2 pi times the place \
         (of day: the part of the day; of month: (day - 1 + part) / 31; of year: (month - 1 + place in the month) / 12), 1 for its own of weekdays (Monday \
         0) and 0 else, the same of months (January 1); these are 0 if it is missing"
    }

    fn takes_missing(&self) -> bool {
        self.elapsed.impute.is_some()
    }

    fn is_sound(&self) -> bool {
        self.elapsed.is_sound()
    }

    fn number(&self) -> Option<&NumberFeature> {
        Some(&self.elapsed)
    }

    fn write(&self, cells: &mut ColumnRows<'_>, x: Inputs<'_, '_>) -> Result<()> {
        let (moments, elapsed) = (Moments::of(cells.column, self.order), &self.elapsed);
        for (at, inputs) in x.enumerate() {
            let row = cells.rows[at] as usize;
            let moment = moments.get(row);
            if let Some(text) = moments.unusable(row) {
                cells.unusable(at, format!("\"{text}\" is not a date like {}", self.range()[1]))?;
            } else if moment.is_none() && elapsed.impute.is_none() {
                cells.unusable(at, MISSING.into())?;
            } else {
                self.write_moment(moment, inputs);
                match moment {
                    Some(moment) if is_outside(elapsed, moment.universal) => cells.note(at, NoteKind::Outside)?,
                    None if !elapsed.has_gaps => cells.note(at, NoteKind::Filled)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

impl Cycle {
    /// The share of the cycle that has passed.
    fn place(self, days: f64) -> f64 {
        let [_, month, day] = calendar(days.floor() as i64);
        let of_day = days - days.floor();
        match self {
            Self::Day => of_day,
            Self::Month => ((day - 1) as f64 + of_day) / 31.0,
            // To a day, which is enough for seasons.
            Self::Year => ((month - 1) as f64 + ((day - 1) as f64 + of_day) / 31.0) / 12.0,
        }
    }
}

fn weekday(moment: &Moment) -> u32 {
    // The first day of 1970 was a Thursday.
    (moment.local.floor() as i64 + 3).rem_euclid(7) as u32
}

fn month(moment: &Moment) -> u32 {
    calendar(moment.local.floor() as i64)[1] as u32
}

/// The points in time of a column, by row, and the texts that are none.
pub(crate) struct Moments<'a> {
    cells: &'a Cells,
    levels: Vec<Option<Moment>>,
    /// Whether most of the texts are points in time, so that the others count as missing.
    is_fitting: bool,
}

impl<'a> Moments<'a> {
    pub(crate) fn of(column: &'a Column, order: DateOrder) -> Self {
        let cells = column.as_category();
        let (levels, is_fitting) = match cells {
            Cells::Numeric(_) => (Vec::new(), false),
            Cells::Categorical { levels, .. } => {
                (levels.iter().map(|text| Moment::parse(text, order)).collect(), is_written_in(levels, order))
            }
        };
        Self { cells, levels, is_fitting }
    }

    /// The text in a row that cannot be used, if it is one.
    pub(crate) fn unusable(&self, row: usize) -> Option<Cow<'_, str>> {
        self.cells.text(row).filter(|text| !self.is_fitting && self.get(row).is_none() && !missing::is_word(text))
    }

    /// The point in time in a row. `None` if the cell is missing or is another text.
    pub(crate) fn get(&self, row: usize) -> Option<Moment> {
        match self.cells {
            Cells::Numeric(_) => None,
            Cells::Categorical { codes, .. } => *self.levels.get(codes[row] as usize)?,
        }
    }

    /// Days since 1970 of every row; NaN where there is no point in time.
    pub(crate) fn days(&self) -> Vec<f64> {
        (0..self.cells.len()).map(|row| self.get(row).map_or(f64::NAN, |moment| moment.universal)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(texts: &[&str]) -> (DateFeature, Vec<f32>) {
        let moments: Vec<_> = texts.iter().map(|text| Moment::parse(text, DateOrder::YearFirst)).collect();
        let days: Vec<f64> = moments.iter().map(|moment| moment.map_or(f64::NAN, |moment| moment.universal)).collect();
        let rows: Vec<u32> = (0..days.len() as u32).collect();
        let measure = Measure::of(&days, &rows).unwrap();
        let date = DateFeature::fit("day", DateOrder::YearFirst, measure, &moments, true, 0);
        let mut x = vec![0.0; date.inputs()];
        date.write_moment(moments[0], &mut x);
        (date, x)
    }

    #[test]
    fn a_cycle_is_an_input_if_the_rows_span_it() {
        let (date, x) = fitted(&["2024-07-01", "2020-01-01", "2022-04-17"]);
        assert_eq!(date.cycles, [Cycle::Month, Cycle::Year]);
        assert_eq!((date.weekdays.as_slice(), date.months.as_slice()), (&[0, 2, 6][..], &[1, 4, 7][..]));
        // Of July the first, a Monday: 0 of the month, half of the year, weekday 0, month 7.
        let near =
            |x: &[f32], expected: &[f32]| x.iter().zip(expected).all(|(x, expected)| (x - expected).abs() < 1e-6);
        assert!(near(&x[1..], &[0.0, 1.0, 0.0, -1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]), "{x:?}");
        assert_eq!((date.range(), date.is_sound()), (["2020-01-01", "2024-07-01"].map(String::from), true));
        let (date, x) = fitted(&["06:00", "18:30"]);
        assert_eq!(
            (date.cycles, date.has_dates, date.weekdays.len() + date.months.len()),
            (vec![Cycle::Day], false, 0)
        );
        assert!(near(&x[1..], &[1.0, 0.0]), "{x:?}");
        let (date, x) = fitted(&["2024-07-01", "2024-07-02"]);
        assert_eq!((date.inputs(), x.len()), (1, 1));
    }

    #[test]
    fn every_month_of_the_training_rows_has_an_input() {
        // The first date makes the rows span more than a year.
        let months = (1..=12).map(|month| format!("2023-{month:02}-15"));
        let texts: Vec<String> = std::iter::once("2022-06-15".to_owned()).chain(months).collect();
        let (date, _) = fitted(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(date.months, (1..=12).collect::<Vec<u32>>());
        for (month, text) in texts[1..].iter().enumerate() {
            let mut x = vec![0.0; date.inputs()];
            date.write_moment(Moment::parse(text, DateOrder::YearFirst), &mut x);
            let mut expected = [0.0; 12];
            expected[month] = 1.0;
            assert_eq!(x[x.len() - 12..], expected, "{text}");
        }
    }
}
