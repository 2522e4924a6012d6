//! Texts of points in time: `2024-03-01`, `1.3.2024`, `3/1/24`, `1 March 2024`, `2024-W09`, `2024-Q1`, each perhaps with a time of day and a zone, and
//! `12:30` alone.

mod clock;
mod named;
mod order;

use super::text::missing::trimmed_text;
use crate::record;
use clock::time_of_day;
pub(crate) use order::{is_written_in, order_of, orders, share_of_dates};

/// The order of year, month and day in the dates of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DateOrder {
    /// `2024-03-01`
    #[default]
    YearFirst,
    /// `1.3.2024`
    DayFirst,
    /// `3/1/2024`
    MonthFirst,
}

record! { enum DateOrder { YearFirst, DayFirst, MonthFirst } }

impl DateOrder {
    /// Every order, with the name of its option.
    pub const ALL: [(&'static str, Self); 3] =
        [("dmy", Self::DayFirst), ("mdy", Self::MonthFirst), ("ymd", Self::YearFirst)];

    /// The order with a name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, order)| *order)
    }
}

/// A point in time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Moment {
    /// Days since the beginning of 1970, at the place of the text.
    pub local: f64,
    /// The same in universal time, if the text has an offset from it; else equal to `local`.
    pub universal: f64,
    /// Whether there is a date; without one the day is that of 1970-01-01.
    pub has_date: bool,
    /// Whether the year has two digits: 69 to 99 are of the 20th century, the others of the 21st.
    pub has_short_year: bool,
    /// Whether its zone has several meanings or none that is known, then that of universal time.
    pub is_zone_open: bool,
}

impl Moment {
    /// The point in time that a text means. `None` for another text, and for a date that no calendar has.
    pub(crate) fn parse(text: &str, order: DateOrder) -> Option<Self> {
        const LONGEST: usize = 64;
        let text = trimmed_text(text);
        if text.len() > LONGEST || !text.bytes().any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        if let Some((time, zone)) = time_of_day(text) {
            let universal = time - zone.offset;
            return Some(Self { local: time, universal, is_zone_open: zone.is_open, ..Self::default() });
        }
        let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, ""));
        if let Some(date) = days(date, order) {
            return date.at(time);
        }
        let (date, time) = named::parted(text);
        named::days(&date, order)?.at(&time)
    }
}

/// A day.
#[derive(Clone, Copy)]
struct Date {
    /// Days since the beginning of 1970.
    days: f64,
    has_short_year: bool,
}

impl Date {
    /// The date of a calendar; `None` if it has none.
    fn of(year: Year, month: i64, day: i64) -> Option<Self> {
        let days = days_of(year.value, month, day)?;
        Some(Self { days, has_short_year: year.is_short })
    }

    /// The moment at a time of day, if one is given.
    fn at(self, time: &str) -> Option<Moment> {
        let (time, zone) = if time.is_empty() { Default::default() } else { time_of_day(time.trim())? };
        let local = self.days + time;
        Some(Moment {
            local,
            universal: local - zone.offset,
            has_date: true,
            has_short_year: self.has_short_year,
            is_zone_open: zone.is_open,
        })
    }
}

/// A year.
#[derive(Clone, Copy)]
struct Year {
    value: i64,
    is_short: bool,
}

impl Year {
    /// Of four digits, or of two, with the turn of the century that POSIX has. `None` for others.
    fn of((value, digits): (i64, usize)) -> Option<Self> {
        match digits {
            4 => Some(Self { value, is_short: false }),
            2 => Some(Self { value: if value < 69 { 2000 + value } else { 1900 + value }, is_short: true }),
            _ => None,
        }
    }
}

/// A date of numbers; a month without a day is its first, and has a year of four digits.
fn days(text: &str, order: DateOrder) -> Option<Date> {
    let mark = text.chars().find(|c| matches!(c, '-' | '/' | '.'))?;
    let mut parts = text.split(mark).map(digits);
    let (first, second, third) = (parts.next()??, parts.next()??, parts.next());
    let third = match third {
        None if first.1 == 4 => (1, 2),
        // A month and a year; with a point it is a number.
        None if second.1 == 4 && mark != '.' => {
            return Date::of(Year::of(second)?, first.0, 1).filter(|_| first.1 <= 2);
        }
        third => third??,
    };
    let (year, month, day) = match order {
        // ISO 8601 in every column: as JavaScript and other files write dates.
        _ if first.1 == 4 => (first, second, third),
        DateOrder::YearFirst => (first, second, third),
        DateOrder::DayFirst => (third, second, first),
        DateOrder::MonthFirst => (third, first, second),
    };
    let has_form = month.1 <= 2 && day.1 <= 2 && parts.next().is_none();
    if !has_form {
        return None;
    }
    Date::of(Year::of(year)?, month.0, day.0)
}

/// Days from 1970-01-01 to a date; `None` if the calendar does not have it.
fn days_of(year: i64, month: i64, day: i64) -> Option<f64> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if !(1..=12).contains(&month) || !(1..=longest).contains(&day) {
        return None;
    }
    // Howard Hinnant's days_from_civil: years from March on, in eras of 400 years.
    let year = year - i64::from(month <= 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some((era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468) as f64)
}

/// A number of up to four digits, and how many they are.
fn digits(text: &str) -> Option<(i64, usize)> {
    let is_number = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| (text.bytes().fold(0, |value, byte| 10 * value + i64::from(byte - b'0')), text.len()))
}

/// Year, month (from 1) and day (from 1) so many days after 1970-01-01, which may be millions.
pub(crate) fn calendar(days: i64) -> [i64; 3] {
    // Howard Hinnant's civil_from_days: years from March on, in eras of 400 years.
    let shifted = days + 719_468;
    let (era, day) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    [year + 400 * era + i64::from(month <= 2), month, date]
}

/// A point in time as a text: `2024-03-01`, with its time of day, to the second, unless that is midnight; `12:30` without a date.
pub(crate) fn text(days: f64, has_date: bool) -> String {
    let seconds = ((days - days.floor()) * 86_400.0).round() as i64;
    let [year, month, day] = calendar(days.floor() as i64 + seconds / 86_400);
    let seconds = seconds % 86_400;
    let time = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    let time = time.strip_suffix(":00").unwrap_or(&time);
    match (has_date, seconds) {
        (false, _) => time.to_owned(),
        (true, 0) => format!("{year:04}-{month:02}-{day:02}"),
        (true, _) => format!("{year:04}-{month:02}-{day:02}T{time}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use DateOrder::{DayFirst, MonthFirst, YearFirst};

    #[test]
    fn points_in_time_are_read_and_written() {
        let cases = [
            ("1970-01-01", YearFirst, Some(0.0)),
            ("2024-03-01", YearFirst, Some(19_783.0)),
            ("2024/3/1", YearFirst, Some(19_783.0)),
            ("2024-03", YearFirst, Some(19_783.0)),
            ("2000-02-29", YearFirst, Some(11_016.0)),
            ("1900-02-29", YearFirst, None),
            ("2023-02-29", YearFirst, None),
            ("2024-13-01", YearFirst, None),
            ("24-03-01", YearFirst, Some(19_783.0)),
            ("4-03-01", YearFirst, None),
            ("2024-03-01-04", YearFirst, None),
            ("2024", YearFirst, None),
            ("1.3.2024", DayFirst, Some(19_783.0)),
            ("3/1/2024", MonthFirst, Some(19_783.0)),
            ("13/1/2024", MonthFirst, None),
            ("3/1/24", MonthFirst, Some(19_783.0)),
            ("1.3.24", DayFirst, Some(19_783.0)),
            ("12/31/69", MonthFirst, Some(-1.0)),
            ("1/1/69", MonthFirst, Some(-365.0)),
            ("1/1/68", MonthFirst, Some(35_794.0)),
            ("1/1/9", MonthFirst, None),
            ("1969-12-31T12:00", YearFirst, Some(-0.5)),
            ("2024-03-01 18:00:00.0", YearFirst, Some(19_783.75)),
            ("3/1/2024 6:00 PM", MonthFirst, Some(19_783.75)),
            ("3/1/2024 12:00 AM", MonthFirst, Some(19_783.0)),
            ("06:00", YearFirst, Some(0.25)),
            ("24:00", YearFirst, Some(1.0)),
            ("24:01", YearFirst, None),
            ("2024-02-29 24:00", YearFirst, Some(19_783.0)),
            ("03/2024", DayFirst, Some(19_783.0)),
            ("3-2024", MonthFirst, Some(19_783.0)),
            ("13/2024", MonthFirst, None),
            ("003/2024", MonthFirst, None),
            ("6:0", YearFirst, None),
            ("12:30:5", YearFirst, None),
            ("12:30:15:10", YearFirst, None),
            ("2024-03-01T", YearFirst, Some(19_783.0)),
            ("2024-03-01T12", YearFirst, None),
            ("2024-03-01", DayFirst, Some(19_783.0)),
            ("3.2024", DayFirst, None),
            ("abc", YearFirst, None),
            ("-", YearFirst, None),
            ("", YearFirst, None),
            ("é:30", YearFirst, None),
            ("12:30é", YearFirst, None),
        ];
        for (text, order, expected) in cases {
            assert_eq!(Moment::parse(text, order).map(|moment| moment.local), expected, "{text}");
        }
        for (text, offset) in [("Z", 0.0), (" UTC", 0.0), ("+01:30", 90.0), ("-0500", -300.0), ("+02", 120.0)] {
            let moment = Moment::parse(&format!("2024-03-01T12:00{text}"), YearFirst).unwrap();
            assert_eq!(moment.local, 19_783.5);
            assert!((moment.local - moment.universal - offset / 1440.0).abs() < 1e-9, "{text}");
        }
        for (days, expected) in [
            (19_783.0, "2024-03-01"),
            (19_783.75, "2024-03-01T18:00"),
            (19_782.999_999_9, "2024-03-01"),
            (-0.5 + 1.0 / 86_400.0, "1969-12-31T12:00:01"),
        ] {
            assert_eq!(text(days, true), expected);
        }
        assert_eq!(text(0.25, false), "06:00");
        for days in (-700_000..1_000_000).step_by(997) {
            let days = f64::from(days);
            assert_eq!(Moment::parse(&text(days, true), YearFirst).map(|moment| moment.local), Some(days));
        }
    }

    #[test]
    fn hours_of_a_clock_with_am_and_pm() {
        let cases = [
            ("12:30 AM", Some(30.0)),
            ("1:00 am", Some(60.0)),
            ("11:59 AM", Some(719.0)),
            ("12:00 PM", Some(720.0)),
            ("12:30 PM", Some(750.0)),
            ("1:00 pm", Some(780.0)),
            ("11:59 PM", Some(1439.0)),
            ("0:30 PM", None),
            ("13:00 PM", None),
            ("0:30 am", None),
        ];
        for (text, minutes) in cases {
            let expected = minutes.map(|minutes: f64| minutes / 1440.0);
            assert_eq!(Moment::parse(text, YearFirst).map(|moment| moment.local), expected, "{text}");
        }
    }
}
