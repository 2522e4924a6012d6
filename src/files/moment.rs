//! Texts of points in time: `2024-03-01`, `1.3.2024`, `3/1/2024`, each perhaps with a time of day, and `12:30` alone.

use super::text::Format;
use super::text::cell::Odd;
use crate::record;

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

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Moment {
    /// Days since the beginning of 1970, at the place of the text.
    pub local: f64,
    /// The same in universal time, if the text has an offset from it; else equal to `local`.
    pub universal: f64,
    /// Whether there is a date; without one the day is that of 1970-01-01.
    pub has_date: bool,
}

impl Moment {
    /// The point in time that a text means. `None` for another text, and for a date that no calendar has.
    pub(crate) fn parse(text: &str, order: DateOrder) -> Option<Self> {
        let text = text.trim();
        if let Some((time, offset)) = time_of_day(text) {
            return Some(Self { local: time, universal: time - offset, has_date: false });
        }
        let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, ""));
        let day = days(date, order)?;
        let (time, offset) = if time.is_empty() { (0.0, 0.0) } else { time_of_day(time.trim())? };
        Some(Self { local: day + time, universal: day + time - offset, has_date: true })
    }
}

/// How the dates of some texts are written; `None` unless nine of ten are dates, all in one order. Signs for a missing cell do not count.
pub(crate) fn date_order(texts: &[String]) -> Option<DateOrder> {
    match fitting(texts)[..] {
        [order] => Some(order),
        _ => None,
    }
}

/// Whether some texts are dates of which it is open whether the day or the month is first.
pub(crate) fn is_order_open(texts: &[String]) -> bool {
    fitting(texts).len() > 1
}

/// Whether nine of ten texts are dates in this order.
pub(crate) fn is_written_in(texts: &[String], order: DateOrder) -> bool {
    let texts = || texts.iter().filter(|text| !is_missing(text));
    let dates = texts().filter(|text| Moment::parse(text, order).is_some()).count();
    dates > 0 && 10 * dates >= 9 * texts().count()
}

/// Whether a text is a common sign for a missing cell.
pub(crate) fn is_missing(text: &str) -> bool {
    Format::default().odd(text) == Odd::Missing
}

/// The orders in which texts are dates.
fn fitting(texts: &[String]) -> Vec<DateOrder> {
    let [year, day, month] = [DateOrder::YearFirst, DateOrder::DayFirst, DateOrder::MonthFirst].map(|order| {
        let dates = texts.iter().filter(|text| Moment::parse(text, order).is_some()).count();
        is_written_in(texts, order).then_some((dates, order))
    });
    // Times alone fit every order. A text that only one order can read decides between the two others.
    match (year, day, month) {
        (Some((_, order)), ..) => vec![order],
        (_, Some((of_day, day)), Some((of_month, month))) if of_day == of_month => vec![day, month],
        (_, Some((of_day, day)), Some((of_month, _))) if of_day > of_month => vec![day],
        (.., Some((_, month))) => vec![month],
        (_, Some((_, day)), _) => vec![day],
        _ => Vec::new(),
    }
}

/// Days from 1970-01-01 to a date; a month without a day is its first.
fn days(text: &str, order: DateOrder) -> Option<f64> {
    let mark = text.chars().find(|c| matches!(c, '-' | '/' | '.'))?;
    let mut parts = text.split(mark).map(digits);
    let [first, second, third] = [parts.next()??, parts.next()??, parts.next().unwrap_or(Some((1, 2)))?];
    let (year, month, day) = match order {
        // ISO 8601 in every column: as JavaScript and other files write dates.
        _ if first.1 == 4 => (first, second, third),
        DateOrder::YearFirst => (first, second, third),
        DateOrder::DayFirst => (third, second, first),
        DateOrder::MonthFirst => (third, first, second),
    };
    let has_form = year.1 == 4 && month.1 <= 2 && day.1 <= 2 && parts.next().is_none();
    let (year, month, day) = (year.0, month.0, day.0);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if !has_form || !(1..=12).contains(&month) || !(1..=longest).contains(&day) {
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

/// A time of day and its offset from universal time, in days: `9:05`, `09:05:30.25`, `9:05 pm`, `09:05Z`, `09:05+01:30`.
fn time_of_day(text: &str) -> Option<(f64, f64)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.').unwrap_or(text.len());
    let (clock, rest) = text.split_at(end);
    let (mut parts, rest) = (clock.split(':'), rest.trim());
    let [(hour, _), (minute, 2)] = [digits(parts.next()?)?, digits(parts.next()?)?] else { return None };
    let (seconds, fraction) = parts.next().map_or(("00", ""), |text| text.split_once('.').unwrap_or((text, "")));
    let (second, 2) = digits(seconds)? else { return None };
    let fraction = fraction
        .bytes()
        .rev()
        .try_fold(0.0, |value, byte| byte.is_ascii_digit().then(|| (value + f64::from(byte - b'0')) / 10.0))?;
    let (hour, offset) = match rest {
        "" | "Z" | "z" | "UTC" => (hour, 0.0),
        "am" | "AM" if (1..=12).contains(&hour) => (hour % 12, 0.0),
        "pm" | "PM" if (1..=12).contains(&hour) => (hour % 12 + 12, 0.0),
        _ => (hour, offset(rest)?),
    };
    let is_time = hour < 24 && minute < 60 && second < 61 && parts.next().is_none();
    is_time.then(|| ((((hour * 60 + minute) * 60 + second) as f64 + fraction) / 86_400.0, offset))
}

/// `+01:30`, `-0500` or `+02`, in days.
fn offset(text: &str) -> Option<f64> {
    let sign = match text.as_bytes().first()? {
        b'+' => 1.0,
        b'-' => -1.0,
        _ => return None,
    };
    let (hours, minutes) = match text[1..].split_once(':') {
        Some((hours, minutes)) => (digits(hours)?, digits(minutes)?),
        None => match digits(&text[1..])? {
            (both, 4) => ((both / 100, 2), (both % 100, 2)),
            hours => (hours, (0, 2)),
        },
    };
    let is_offset = hours.1 == 2 && hours.0 < 24 && minutes.1 == 2 && minutes.0 < 60;
    is_offset.then(|| sign * (hours.0 * 60 + minutes.0) as f64 / 1440.0)
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
            ("24-03-01", YearFirst, None),
            ("2024-03-01-04", YearFirst, None),
            ("2024", YearFirst, None),
            ("1.3.2024", DayFirst, Some(19_783.0)),
            ("3/1/2024", MonthFirst, Some(19_783.0)),
            ("13/1/2024", MonthFirst, None),
            ("1969-12-31T12:00", YearFirst, Some(-0.5)),
            ("2024-03-01 18:00:00.0", YearFirst, Some(19_783.75)),
            ("3/1/2024 6:00 PM", MonthFirst, Some(19_783.75)),
            ("3/1/2024 12:00 AM", MonthFirst, Some(19_783.0)),
            ("06:00", YearFirst, Some(0.25)),
            ("24:00", YearFirst, None),
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
        for (text, order, wanted) in cases {
            assert_eq!(Moment::parse(text, order).map(|moment| moment.local), wanted, "{text}");
        }
        for (text, offset) in [("Z", 0.0), (" UTC", 0.0), ("+01:30", 90.0), ("-0500", -300.0), ("+02", 120.0)] {
            let moment = Moment::parse(&format!("2024-03-01T12:00{text}"), YearFirst).unwrap();
            assert_eq!(moment.local, 19_783.5);
            assert!((moment.local - moment.universal - offset / 1440.0).abs() < 1e-9, "{text}");
        }
        for (days, wanted) in [
            (19_783.0, "2024-03-01"),
            (19_783.75, "2024-03-01T18:00"),
            (19_782.999_999_9, "2024-03-01"),
            (-0.5 + 1.0 / 86_400.0, "1969-12-31T12:00:01"),
        ] {
            assert_eq!(text(days, true), wanted);
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
            let wanted = minutes.map(|minutes: f64| minutes / 1440.0);
            assert_eq!(Moment::parse(text, YearFirst).map(|moment| moment.local), wanted, "{text}");
        }
    }

    #[test]
    fn the_order_is_that_of_all_texts() {
        let order = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(ToString::to_string).collect();
            (date_order(&texts), is_order_open(&texts))
        };
        let cases: [(&[&str], _); 9] = [
            (&["2024-03-01", "2024-12-31"], (Some(YearFirst), false)),
            (&["1.3.2024", "31.12.2024"], (Some(DayFirst), false)),
            (&["3/1/2024", "12/31/2024"], (Some(MonthFirst), false)),
            (&["3/1/2024", "4/2/2024"], (None, true)),
            (&["06:00", "7:30 pm"], (Some(YearFirst), false)),
            (&["2024-03-01", "-", "None"], (Some(YearFirst), false)),
            (&["2024-03-01", "red"], (None, false)),
            (&["-"], (None, false)),
            (&[], (None, false)),
        ];
        for (texts, wanted) in cases {
            assert_eq!(order(texts), wanted, "{texts:?}");
        }
    }
}
