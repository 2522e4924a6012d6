//! Which cells of a workbook are points in time, by their number format, and what they are: a day counts as 1, and the time of day is the
//! fraction.

use super::xml::{Part, Xml};
use crate::files::kinds::iso;
use crate::files::number_text;

/// What a number format shows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Shows {
    /// A number, or a length of time.
    #[default]
    Number,
    /// A hundredth is shown as 1 %.
    Percent,
    Date,
    Time,
    Moment,
}

/// What each style of a cell shows, from the part `styles.xml`.
pub(crate) fn styles(text: &str) -> Vec<Shows> {
    let (mut formats, mut styles, mut is_cell) = (Vec::new(), Vec::new(), false);
    for part in Xml::new(text) {
        match part {
            Part::Start("numFmt", of) => {
                let id = of.get("numFmtId").and_then(|id| id.parse::<u32>().ok());
                formats.extend(id.zip(of.get("formatCode")).map(|(id, code)| (id, shown(&code))));
            }
            Part::Start("cellXfs", _) => is_cell = true,
            Part::End("cellXfs") => is_cell = false,
            Part::Start("xf", of) if is_cell => {
                let id = of.get("numFmtId").and_then(|id| id.parse::<u32>().ok()).unwrap_or(0);
                let own = formats.iter().find(|(known, _)| *known == id).map(|(_, shows)| *shows);
                styles.push(own.unwrap_or_else(|| built_in(id)));
            }
            _ => {}
        }
    }
    styles
}

/// Formats that every workbook has (ECMA-376, part 1, 18.8.30); 27 to 36 and 50 to 58 are dates of East Asian languages.
fn built_in(id: u32) -> Shows {
    match id {
        14..=17 | 27..=31 | 34..=36 | 50..=58 => Shows::Date,
        18..=21 | 32 | 33 | 45 | 47 => Shows::Time,
        22 => Shows::Moment,
        9 | 10 => Shows::Percent,
        _ => Shows::Number,
    }
}

/// What the code of a format shows, by its letters outside quotes and brackets, up to the first semicolon. `[h]` counts hours beyond a day.
fn shown(code: &str) -> Shows {
    let (mut has_date, mut has_time) = (false, false);
    let mut letters = code.chars();
    while let Some(letter) = letters.next() {
        match letter.to_ascii_lowercase() {
            '"' => drop(letters.by_ref().find(|c| *c == '"')),
            '\\' | '_' | '*' => drop(letters.next()),
            '[' => {
                let inside: String = letters.by_ref().take_while(|c| *c != ']').collect();
                if !inside.is_empty() && inside.chars().all(|c| matches!(c.to_ascii_lowercase(), 'h' | 'm' | 's')) {
                    return Shows::Number;
                }
            }
            ';' => break,
            'y' | 'd' => has_date = true,
            'h' | 's' => has_time = true,
            // `General` and exponents have no other letters of dates.
            'g' | 'e' | '0' | '#' | '?' if !has_date && !has_time => return number_format(code),
            _ => {}
        }
    }
    // Months alone, as in `mmmm`, are minutes only next to hours or seconds.
    has_date |= !has_time && code.to_ascii_lowercase().contains("mm");
    match (has_date, has_time) {
        (true, true) => Shows::Moment,
        (true, false) => Shows::Date,
        (false, true) => Shows::Time,
        (false, false) => Shows::Number,
    }
}

/// Whether a format of numbers has a percent sign, outside quotes and up to the first semicolon.
fn number_format(code: &str) -> Shows {
    let mut letters = code.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => drop(letters.by_ref().find(|c| *c == '"')),
            '\\' | '_' | '*' => drop(letters.next()),
            ';' => break,
            '%' => return Shows::Percent,
            _ => {}
        }
    }
    Shows::Number
}

/// The number in 15 significant digits, which removes the rounding of a product: 100 · 0.07 is 7.000000000000001.
fn in_15_digits(value: f64) -> f64 {
    let places = 14_i32.saturating_sub(value.abs().log10().floor() as i32);
    // Powers of ten up to 22 are exact, so that one operation rounds once.
    if !(0..=22).contains(&places) {
        return value;
    }
    let power = 10_f64.powi(places);
    (value * power).round() / power
}

/// The text of a number that is shown as a percentage, which has a hundred times its digits.
pub(crate) fn percent(value: f64) -> String {
    format!("{}%", number_text(in_15_digits(100.0 * value)))
}

/// The text of a number of days, or `None` if the format cannot show it. The count begins at 1904, or at 1900, a year to which the
/// format gives a 29 February.
pub(crate) fn text(days: f64, shows: Shows, is_1904: bool) -> Option<String> {
    if matches!(shows, Shows::Number | Shows::Percent) || !(0.0..2_958_466.0).contains(&days) {
        return None;
    }
    // Milliseconds are the finest that Excel shows; a day in binary is not exact.
    let ms = (days * 86_400_000.0).round() as i64;
    let (day, ms) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
    let epoch = if is_1904 { -24_107 } else { -25_569 + i64::from(day < 60) };
    let time = iso::time(ms * 1_000_000);
    match shows {
        Shows::Time if day == 0 => Some(time),
        Shows::Date if ms == 0 => iso::date(day + epoch),
        _ => Some(format!("{}T{time}", iso::date(day + epoch)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_of_dates_are_recognised() {
        let cases = [
            ("General", Shows::Number),
            ("0.00E+00", Shows::Number),
            ("#,##0.00 \"days\"", Shows::Number),
            ("[Red]0.00;[Blue]-0.00", Shows::Number),
            ("[h]:mm:ss", Shows::Number),
            ("0%", Shows::Percent),
            ("#,##0.00\\ %;[Red]-0.00%", Shows::Percent),
            ("0.0\"% of\"", Shows::Number),
            ("0;0%", Shows::Number),
            ("yyyy-mm-dd", Shows::Date),
            ("[$-409]d\\-mmm\\-yy;@", Shows::Date),
            ("mmmm", Shows::Date),
            ("hh:mm", Shows::Time),
            ("h:mm AM/PM", Shows::Time),
            ("mm:ss.0", Shows::Time),
            ("yyyy-mm-dd hh:mm:ss", Shows::Moment),
            ("YYYY\\-MM\\-DD\\ HH:MM", Shows::Moment),
        ];
        for (code, expected) in cases {
            assert_eq!(shown(code), expected, "{code}");
        }
    }

    #[test]
    fn days_become_texts() {
        let cases = [
            (45352.0, Shows::Date, false, "2024-03-01"),
            (45352.0, Shows::Moment, false, "2024-03-01T00:00:00"),
            (45352.520833333336, Shows::Moment, false, "2024-03-01T12:30:00"),
            (45352.5, Shows::Date, false, "2024-03-01T12:00:00"),
            (0.52083333333, Shows::Time, false, "12:30:00"),
            (1.0, Shows::Date, false, "1900-01-01"),
            (61.0, Shows::Date, false, "1900-03-01"),
            (43890.0, Shows::Date, true, "2024-03-01"),
        ];
        for (days, shows, is_1904, expected) in cases {
            assert_eq!(text(days, shows, is_1904).as_deref(), Some(expected), "{days}");
        }
        for days in [-1.0, 3e6, f64::NAN, f64::INFINITY] {
            assert_eq!(text(days, Shows::Date, false), None);
        }
    }

    #[test]
    fn styles_refer_to_formats() {
        let text = "<styleSheet><numFmts><numFmt numFmtId=\"164\" formatCode=\"yyyy\"/></numFmts>\
                    <cellStyleXfs><xf numFmtId=\"14\"/></cellStyleXfs>\
                    <cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"164\"/><xf numFmtId=\"22\"/></cellXfs></styleSheet>";
        assert_eq!(styles(text), [Shows::Number, Shows::Date, Shows::Moment]);
    }

    #[test]
    fn formats_that_every_workbook_has_are_known_by_their_numbers() {
        let numbers = [0, 8, 11, 13, 23, 44, 46, 48].map(|id| (id, Shows::Number));
        let percents = [9, 10].map(|id| (id, Shows::Percent));
        let dates = [14, 15, 16, 17].map(|id| (id, Shows::Date));
        let times = [18, 19, 20, 21, 45, 47].map(|id| (id, Shows::Time));
        let cases = [&numbers[..], &percents, &dates, &times, &[(22, Shows::Moment)]].concat();
        let cells: String = cases.iter().map(|(id, _)| format!("<xf numFmtId=\"{id}\"/>")).collect();
        let got = styles(&format!("<styleSheet><cellXfs>{cells}</cellXfs></styleSheet>"));
        for ((id, expected), got) in cases.iter().zip(&got) {
            assert_eq!(got, expected, "format {id}");
        }
        assert_eq!(got.len(), cases.len());
    }

    #[test]
    fn a_percentage_has_no_rounding_of_the_product() {
        let cases = [
            (0.07, "7%"),
            (0.5, "50%"),
            (-0.29, "-29%"),
            (0.134_364_244_112_401, "13.4364244112401%"),
            (0.0, "0%"),
            (12.0, "1200%"),
            (1e-9, "1e-7%"),
            (f64::NAN, "NaN%"),
        ];
        for (value, text) in cases {
            assert_eq!(percent(value), text);
        }
    }
}
