//! Dates with names: of months, and with the letters of weeks, quarters and halves of a year.

use super::{Date, DateOrder, Year, days_of};

/// A date without a year is one of this leap year.
const NO_YEAR: Year = Year { value: 1972, is_short: false };

/// Names of months, also short ones: in English, German, French and Spanish.
const MONTHS: [&str; 12] = [
    "january jan januar jän jänner janvier janv enero ene",
    "february feb februar fév févr février febrero",
    "march mar mär mrz märz mars marzo",
    "april apr avr avril abr abril",
    "may mai mayo",
    "june jun juni juin junio",
    "july jul juli juil juillet julio",
    "august aug août aou agosto ago",
    "september sep sept septembre septiembre",
    "october oct okt oktober octobre octubre",
    "november nov novembre noviembre",
    "december dec dez dezember déc décembre dic diciembre",
];

/// Words that say nothing more: weekdays, ordinals.
const SILENT: &str = "mon monday tue tues tuesday wed wednesday thu thur thurs thursday fri friday sat saturday sun sunday st nd rd th of de the";

/// The date and the time of day of a text; the year may be behind the time.
pub(super) fn parted(text: &str) -> (String, String) {
    let words: Vec<&str> = text.split_whitespace().collect();
    let Some(at) = words.iter().position(|word| word.contains(':')) else { return (text.to_owned(), String::new()) };
    let (mut date, mut time) = (words[..at].to_vec(), words[at..].to_vec());
    let is_year = |word: &&str| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    if time.len() > 1 && time.last().is_some_and(is_year) {
        date.extend(time.pop());
    }
    (date.join(" "), time.join(" "))
}

/// One part of a date.
#[derive(Clone, PartialEq)]
enum Part {
    /// A number, how many digits it has, and whether an apostrophe is before it.
    Number((i64, usize), bool),
    Word(String),
}

/// The date that a text with names means.
pub(super) fn days(text: &str, order: DateOrder) -> Option<Date> {
    let parts = parts(text)?;
    let word = parts.iter().position(|part| matches!(part, Part::Word(_)))?;
    let Part::Word(name) = &parts[word] else { return None };
    let number = |part: &Part| match part {
        Part::Number(number, is_short) => Some((*number, *is_short)),
        Part::Word(_) => None,
    };
    let before: Vec<_> = parts[..word].iter().map(number).collect::<Option<_>>()?;
    let after: Vec<_> = parts[word + 1..].iter().map(number).collect::<Option<_>>()?;
    match MONTHS.iter().position(|names| names.split(' ').any(|known| known == name)) {
        Some(month) => of_month(month as i64 + 1, &before, &after, order),
        None => of_part(name, &before, &after),
    }
}

/// A number, and whether an apostrophe shows that it is a year.
type Number = ((i64, usize), bool);

/// A date with the name of its month.
fn of_month(month: i64, before: &[Number], after: &[Number], order: DateOrder) -> Option<Date> {
    let is_year = |number: &Number| number.0.1 == 4 || number.1;
    let all = [before, after].concat();
    let (year, day) = match all.as_slice() {
        [one] if is_year(one) => (Year::of(one.0)?, (1, 1)),
        // Mar-31 is a day, or in other columns a year: the order of the column says which.
        [one] if before.is_empty() && order != DateOrder::MonthFirst => (Year::of(one.0)?, (1, 1)),
        [one] => (NO_YEAR, one.0),
        [year, day] if is_year(year) && !is_year(day) => (Year::of(year.0)?, day.0),
        [day, year] if before.len() < 2 || is_year(year) => (Year::of(year.0)?, day.0),
        _ => return None,
    };
    Date::of(year, month, day.0).filter(|_| day.1 <= 2)
}

/// A week, a quarter or a half of a year, or a month by its number: `2022-W16`, `2022-W16-3`, `Q3 2022`, `2022H1`, `2022M04`.
fn of_part(name: &str, before: &[Number], after: &[Number]) -> Option<Date> {
    let is_year = |number: &&Number| number.0.1 == 4 || number.1;
    let all = [before, after].concat();
    let (year, rest): (Vec<Number>, Vec<Number>) = all.iter().partition(is_year);
    let [year] = year.as_slice() else { return None };
    let year = Year::of(year.0)?;
    match (name, rest.as_slice()) {
        ("w" | "wk" | "kw" | "week", [(week, _)]) => monday(year.value, week.0, 1),
        ("w" | "wk" | "kw" | "week", [(week, _), ((day, 1), _)]) => monday(year.value, week.0, *day),
        ("q" | "qtr" | "quarter", [((quarter @ 1..=4, 1), _)]) => days_of(year.value, 3 * quarter - 2, 1),
        ("h" | "half", [((half @ 1..=2, 1), _)]) => days_of(year.value, 6 * half - 5, 1),
        ("m", [((month, 2), _)]) => days_of(year.value, *month, 1),
        _ => None,
    }
    .map(|days| Date { days, has_short_year: year.is_short })
}

/// The Monday on or before a day. The first day of 1970 was a Thursday.
fn monday_before(day: f64) -> f64 {
    day - ((day as i64 + 3).rem_euclid(7)) as f64
}

/// A day of a week of ISO 8601, Monday 1. The first week has the year's first Thursday.
fn monday(year: i64, week: i64, day: i64) -> Option<f64> {
    let fourth = days_of(year, 1, 4)?;
    let first = monday_before(fourth);
    let end = monday_before(days_of(year + 1, 1, 4)?);
    let start = first + 7.0 * (week - 1) as f64;
    (week >= 1 && start < end && (1..=7).contains(&day)).then(|| start + (day - 1) as f64)
}

/// The numbers and words of a date; `None` if there are too many, or a sign that no date has.
fn parts(text: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut is_short = false;
    while let Some(letter) = rest.chars().next() {
        let is_same = |c: char| if letter.is_ascii_digit() { c.is_ascii_digit() } else { c.is_alphabetic() };
        let end = rest.find(|c| !is_same(c)).unwrap_or(rest.len());
        let run = &rest[..end];
        if letter.is_ascii_digit() {
            parts.push(Part::Number(super::digits(run)?, is_short));
        } else if letter.is_alphabetic() {
            let word = run.to_lowercase();
            if !SILENT.split(' ').any(|known| known == word) {
                parts.push(Part::Word(word));
            }
        } else if !matches!(letter, ' ' | '-' | '/' | '.' | ',' | '\'' | '’') {
            return None;
        }
        is_short = matches!(letter, '\'' | '’');
        rest = &rest[end.max(letter.len_utf8())..];
    }
    (parts.len() <= 4).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::super::{Moment, text};
    use super::*;
    use DateOrder::{DayFirst, MonthFirst, YearFirst};

    fn shown(written: &str, order: DateOrder) -> Option<String> {
        Moment::parse(written, order).map(|moment| text(moment.universal, true))
    }

    #[test]
    fn dates_with_names() {
        let cases = [
            ("23-Apr-2022", "2022-04-23"),
            ("20-JUN-11", "2011-06-20"),
            ("23 April 2022", "2022-04-23"),
            ("April 23, 2022", "2022-04-23"),
            ("Apr. 23rd, 2022", "2022-04-23"),
            ("Sat, 23 Apr 2022 14:05:00 GMT", "2022-04-23T14:05"),
            ("Sat Apr 23 14:05:00 2022", "2022-04-23T14:05"),
            ("23Apr2022", "2022-04-23"),
            ("2022-Apr-23", "2022-04-23"),
            ("23-OCT-99 6:00 PM", "1999-10-23T18:00"),
            ("Apr-2022", "2022-04-01"),
            ("April 2022", "2022-04-01"),
            ("2022 Apr", "2022-04-01"),
            ("Apr '22", "2022-04-01"),
            ("31. März 2022", "2022-03-31"),
            ("2022-W01", "2022-01-03"),
            ("2022-W16", "2022-04-18"),
            ("2020-W53-7", "2021-01-03"),
            ("2022W16", "2022-04-18"),
            ("W16 2022", "2022-04-18"),
            ("2022-Q3", "2022-07-01"),
            ("Q3 2022", "2022-07-01"),
            ("3Q2022", "2022-07-01"),
            ("2022-H2", "2022-07-01"),
            ("2022M04", "2022-04-01"),
            ("2024-03-31 03:30:00 CEST", "2024-03-31T01:30"),
            ("2024-03-30 01:00:00 CET", "2024-03-30"),
            ("2024-03-30 01:00 PST", "2024-03-30T09:00"),
        ];
        for (written, expected) in cases {
            for order in [YearFirst, DayFirst, MonthFirst] {
                assert_eq!(shown(written, order).as_deref(), Some(expected), "{written} {order:?}");
            }
        }
        for written in [
            "2022-W54",
            "2021-W53",
            "2022-Q5",
            "April",
            "31-Apr-2022",
            "Q3 report 2022",
            "May 5 6 7",
            "12 Main",
            "5 mm",
            "W16",
        ] {
            assert_eq!(shown(written, YearFirst), None, "{written}");
        }
    }

    #[test]
    fn a_month_with_two_digits_has_a_day_or_a_year() {
        assert_eq!(shown("Mar-31", MonthFirst).as_deref(), Some("1972-03-31"));
        assert_eq!(shown("Mar-31", DayFirst).as_deref(), Some("2031-03-01"));
        assert_eq!(shown("31-Mar", DayFirst).as_deref(), Some("1972-03-31"));
        assert_eq!(shown("Mar-99", MonthFirst), None);
        assert_eq!(shown("Mar-99", YearFirst).as_deref(), Some("1999-03-01"));
    }
}
