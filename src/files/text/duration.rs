//! Durations: `25:30:00`, `2 days 03:00:00`.

use super::cell::signed;
use super::missing::trimmed_text;
use crate::host;
use crate::record;

/// What the parts of a duration mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// The cells are no durations.
    #[default]
    None,
    /// `25:30` has hours and minutes.
    Hours,
    /// `25:30` has minutes and seconds, as other cells have all three.
    Minutes,
}

record! { enum Clock { None, Hours, Minutes } }

/// Hours of a duration: `25:30:00`, `-1:30`, `2 days 03:00:00`, `1d 3:00`.
pub(crate) fn hours(text: &str, clock: Clock) -> Option<f64> {
    let (is_negative, text) = signed(trimmed_text(text));
    let (days, time) = match text.rsplit_once([' ', ',']) {
        Some((days, time)) => {
            let days = days.trim_end_matches([',', ' ']);
            let count = days.trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim_end();
            let word = days[count.len()..].trim_start();
            if !matches!(word, "d" | "day" | "days") {
                return None;
            }
            (host::parse_number(count)?, time)
        }
        None => (0.0, text),
    };
    let mut parts = time.split(':');
    let (first, second, third) = (parts.next()?, parts.next()?, parts.next());
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let below_60 = |text: &str| {
        let whole = text.split('.').next()?;
        host::parse_number(text).filter(|value| whole.len() == 2 && is_digits(whole) && *value < 60.0)
    };
    let first_value = host::parse_number(first).filter(|_| is_digits(first) && first.len() <= 9)?;
    let hours = match third {
        Some(third) if is_digits(second) => first_value + below_60(second)? / 60.0 + below_60(third)? / 3600.0,
        None if clock == Clock::Minutes => first_value / 60.0 + below_60(second)? / 3600.0,
        None if is_digits(second) => first_value + below_60(second)? / 60.0,
        _ => return None,
    };
    let hours = 24.0 * days + hours;
    parts.next().is_none().then_some(if is_negative { -hours } else { hours })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_hours() {
        let cases = [
            ("25:30:00", Clock::Hours, Some(25.5)),
            ("100:15", Clock::Hours, Some(100.25)),
            ("30:36", Clock::Minutes, Some(0.51)),
            ("-1:30:00", Clock::Hours, Some(-1.5)),
            ("2 days 03:00:00", Clock::Hours, Some(51.0)),
            ("1 day, 0:00:36", Clock::Minutes, Some(24.01)),
            ("25:60:00", Clock::Hours, None),
            ("2024-03-01 10:00", Clock::Hours, None),
            ("25", Clock::Hours, None),
            ("1:2:3:4", Clock::Hours, None),
        ];
        for (text, clock, expected) in cases {
            let got = hours(text, clock);
            assert!(got == expected || got.zip(expected).is_some_and(|(a, b)| (a - b).abs() < 1e-9), "{text}: {got:?}");
        }
    }
}
