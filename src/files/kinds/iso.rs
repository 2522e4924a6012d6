//! Points in time as texts of ISO 8601: `2024-03-01`, `12:30:00`, `2024-03-01T12:30:00`, with a fraction of the second if there is one.

use crate::files::moment::calendar;

/// Nanoseconds of a day.
pub(crate) const DAY_NS: i64 = 86_400_000_000_000;

/// Largest number of days before and after 1970 whose year has four digits, with room to spare.
const MOST_DAYS: u64 = 3_000_000;

/// The date `days` after 1970-01-01. `None` if its year does not have four digits.
pub(crate) fn date(days: i64) -> Option<String> {
    if days.unsigned_abs() > MOST_DAYS {
        return None;
    }
    let [year, month, day] = calendar(days);
    (0..=9999).contains(&year).then(|| format!("{year:04}-{month:02}-{day:02}"))
}

/// The time of day after so many nanoseconds, of one day.
pub(crate) fn time(ns: i64) -> String {
    let (seconds, rest) = (ns / 1_000_000_000, ns % 1_000_000_000);
    let text = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if rest == 0 { text } else { format!("{text}.{rest:09}").trim_end_matches('0').to_owned() }
}

/// The date and time so many `units` of `unit_ns` nanoseconds after 1970-01-01.
pub(crate) fn moment(units: i64, unit_ns: i64) -> Option<String> {
    let per_day = DAY_NS / unit_ns;
    Some(format!("{}T{}", date(units.div_euclid(per_day))?, time(units.rem_euclid(per_day) * unit_ns)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times() {
        for (days, expected) in [(0, "1970-01-01"), (-1, "1969-12-31"), (19_783, "2024-03-01"), (11_016, "2000-02-29")]
        {
            assert_eq!(date(days).as_deref(), Some(expected));
        }
        assert_eq!((date(2_932_896).as_deref(), date(2_932_897)), (Some("9999-12-31"), None));
        assert_eq!((date(-719_528).as_deref(), date(-719_529), date(i64::MIN)), (Some("0000-01-01"), None, None));
        assert_eq!(moment(1_709_296_200, 1_000_000_000).as_deref(), Some("2024-03-01T12:30:00"));
        assert_eq!(moment(-1, 1_000_000).as_deref(), Some("1969-12-31T23:59:59.999"));
        assert_eq!(moment(i64::MAX, 1_000_000_000), None);
        assert_eq!((time(0).as_str(), time(DAY_NS - 1).as_str()), ("00:00:00", "23:59:59.999999999"));
    }
}
