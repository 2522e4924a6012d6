//! Recognises numbers that are dates written without marks: `20220107`, `202201`, `1.2015`.

use crate::host::number;

/// The first and the last year that such numbers may have.
const YEARS: std::ops::RangeInclusive<u64> = 1900..=2099;

/// What a person should know about a column of numbers that are all dates without marks, with one of them.
pub(super) fn dates(numbers: &[f64]) -> Option<(String, String)> {
    let first = *numbers.first().filter(|first| numbers.iter().any(|value| value != *first))?;
    let all =
        |of: fn(f64) -> Option<String>| Some(of(first)?).filter(|_| numbers.iter().all(|value| of(*value).is_some()));
    let date = all(day).or_else(|| all(month)).or_else(|| all(month_before_year))?;
    let text = number(first).to_string();
    Some((format!("its numbers look like dates, but are read as numbers; write them as {date} if they are"), text))
}

/// `20220107` as a date.
fn day(value: f64) -> Option<String> {
    let whole = whole(value)?;
    let (year, month, day) = (whole / 10_000, whole / 100 % 100, whole % 100);
    let is_date = YEARS.contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    is_date.then(|| format!("{year}-{month:02}-{day:02}"))
}

/// `202201` as a month.
fn month(value: f64) -> Option<String> {
    let whole = whole(value)?;
    let (year, month) = (whole / 100, whole % 100);
    (YEARS.contains(&year) && (1..=12).contains(&month)).then(|| format!("{year}-{month:02}"))
}

/// `1.2015` as a month.
fn month_before_year(value: f64) -> Option<String> {
    let scaled = (10_000.0 * value).round();
    let whole = whole(scaled).filter(|_| (10_000.0 * value - scaled).abs() < 1e-6)?;
    let (month, year) = (whole / 10_000, whole % 10_000);
    (YEARS.contains(&year) && (1..=12).contains(&month)).then(|| format!("{year}-{month:02}"))
}

fn whole(value: f64) -> Option<u64> {
    ((0.0..1e9).contains(&value) && value == value.trunc()).then_some(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_dates_are_named() {
        let cases: [(&[f64], Option<&str>); 8] = [
            (&[20_220_107.0, 20_211_231.0], Some("2022-01-07")),
            (&[20_220_107.0, 20_221_301.0], None),
            (&[202_201.0, 202_112.0], Some("2022-01")),
            (&[202_201.0, 202_113.0], None),
            (&[1.2015, 12.2018], Some("2015-01")),
            (&[1.2015, 13.2018], None),
            (&[1.2015, 2.5], None),
            (&[20_220_107.0, 20_220_107.0], None),
        ];
        for (numbers, expected) in cases {
            let got = dates(numbers).map(|(message, _)| message);
            let message = |date| {
                format!("its numbers look like dates, but are read as numbers; write them as {date} if they are")
            };
            assert_eq!(got, expected.map(message), "{numbers:?}");
        }
    }
}
