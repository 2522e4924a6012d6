//! Times of day, and the zones that they are in.

use super::digits;

/// A zone of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Zone {
    /// Days ahead of universal time.
    pub offset: f64,
    /// Whether its name has several meanings, or none that is known.
    pub is_open: bool,
}

/// Names of zones by their minutes ahead of universal time.
const ZONES: [(&str, i64); 36] = [
    ("Z", 0),
    ("z", 0),
    ("UTC", 0),
    ("GMT", 0),
    ("UT", 0),
    ("WET", 0),
    ("BST", 60),
    ("WEST", 60),
    ("CET", 60),
    ("MEZ", 60),
    ("CEST", 120),
    ("MESZ", 120),
    ("EET", 120),
    ("SAST", 120),
    ("EEST", 180),
    ("MSK", 180),
    ("PKT", 300),
    ("WIB", 420),
    ("AWST", 480),
    ("HKT", 480),
    ("SGT", 480),
    ("JST", 540),
    ("KST", 540),
    ("AEST", 600),
    ("AEDT", 660),
    ("NZST", 720),
    ("NZDT", 780),
    ("BRT", -180),
    ("EDT", -240),
    ("EST", -300),
    ("CDT", -300),
    ("MDT", -360),
    ("MST", -420),
    ("PDT", -420),
    ("PST", -480),
    ("HST", -600),
];

/// Names of several zones, by the minutes of the one that most people mean: of North America and of India.
const OPEN_ZONES: [(&str, i64); 3] = [("CST", -360), ("AST", -240), ("IST", 330)];

/// A time of day in days, and its zone: `9:05`, `09:05:30.25`, `9:05 pm`, `09:05Z`, `09:05+01:30`, `09:05 CEST`.
pub(super) fn time_of_day(text: &str) -> Option<(f64, Zone)> {
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
    let (half, rest) = half_of_day(rest);
    let hour = match half {
        None => hour,
        Some(half) if (1..=12).contains(&hour) => hour % 12 + half,
        Some(_) => return None,
    };
    // 24:00 is the midnight behind a day.
    let is_time = (hour < 24 || (hour, minute, second) == (24, 0, 0) && half.is_none())
        && minute < 60
        && second < 61
        && parts.next().is_none();
    is_time.then_some(())?;
    Some(((((hour * 60 + minute) * 60 + second) as f64 + fraction) / 86_400.0, zone(rest)?))
}

/// The hours before the half of the day that a text begins with, and the rest.
fn half_of_day(text: &str) -> (Option<i64>, &str) {
    for (words, hours) in [(["am", "a.m."], 0), (["pm", "p.m."], 12)] {
        for word in words {
            let is_word = text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
            let rest = if is_word { &text[word.len()..] } else { "x" };
            if rest.is_empty() || rest.starts_with(' ') {
                return (Some(hours), rest.trim());
            }
        }
    }
    (None, text)
}

/// The zone that a text means; `None` if it can be none. Behind an offset there may be a name in brackets.
fn zone(text: &str) -> Option<Zone> {
    let known = |minutes: i64, is_open: bool| Some(Zone { offset: minutes as f64 / 1440.0, is_open });
    let text = match text.find(['[', '(']) {
        Some(at) if text.ends_with([']', ')']) => text[..at].trim(),
        _ => text,
    };
    // +0000 UTC, as Go writes it
    let text = match text.split_once(' ') {
        Some((first, name)) if offset(first).is_some() && name.bytes().all(|byte| byte.is_ascii_uppercase()) => first,
        _ => text,
    };
    if text.is_empty() {
        return Some(Zone::default());
    }
    for (zones, is_open) in [(&ZONES[..], false), (&OPEN_ZONES[..], true)] {
        if let Some((_, minutes)) = zones.iter().find(|(name, _)| *name == text) {
            return known(*minutes, is_open);
        }
    }
    let behind = text.strip_prefix("UTC").or(text.strip_prefix("GMT")).unwrap_or(text);
    if let Some(minutes) = offset(behind) {
        return known(minutes, false);
    }
    let is_short = (3..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_place =
        text.split('/').count() > 1 && text.split('/').all(|part| part.starts_with(|c: char| c.is_ascii_uppercase()));
    (is_short || is_place).then_some(Zone { offset: 0.0, is_open: true })
}

/// `+01:30`, `-0500`, `+02` or `+2`, in minutes.
fn offset(text: &str) -> Option<i64> {
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = match text[1..].split_once(':') {
        Some((hours, minutes)) => (digits(hours)?, digits(minutes)?),
        None => match digits(&text[1..])? {
            (both, 4) => ((both / 100, 2), (both % 100, 2)),
            hours => (hours, (0, 2)),
        },
    };
    let is_offset = hours.1 <= 2 && hours.0 < 24 && minutes.1 == 2 && minutes.0 < 60;
    is_offset.then(|| sign * (hours.0 * 60 + minutes.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_by_name_and_offset() {
        let cases = [
            ("", Some((0, false))),
            ("CET", Some((60, false))),
            ("CEST", Some((120, false))),
            ("EST", Some((-300, false))),
            ("PDT", Some((-420, false))),
            ("UTC+2", Some((120, false))),
            ("GMT-05:30", Some((-330, false))),
            ("+02:00[Europe/Berlin]", Some((120, false))),
            ("+0200 (CEST)", Some((120, false))),
            ("+0530 IST", Some((330, false))),
            ("IST +0530", None),
            ("CST", Some((-360, true))),
            ("IST", Some((330, true))),
            ("XYZT", Some((0, true))),
            ("Europe/Berlin", Some((0, true))),
            ("x", None),
            ("Main", None),
            ("+25:00", None),
        ];
        for (text, expected) in cases {
            let got = zone(text).map(|zone| ((zone.offset * 1440.0).round() as i64, zone.is_open));
            assert_eq!(got, expected, "{text}");
        }
        assert_eq!(time_of_day("6:00 p.m. EST").map(|(time, _)| time), Some(0.75));
    }
}
