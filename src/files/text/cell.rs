//! What the text of one cell means: a number, a missing value or a text, as the format of its file says.

use super::format::Format;
use super::missing;
use super::missing::trimmed;
use crate::host;

impl Format {
    /// Whether a cell is a number.
    pub fn is_number(&self, cell: &[u8]) -> bool {
        matches!(self.meaning(cell), Meaning::Number(_))
    }

    /// What a cell means; spaces around it are ignored.
    #[inline]
    pub(crate) fn meaning(&self, cell: &[u8]) -> Meaning {
        let cell = trimmed(cell);
        let is_usual = self.decimal == "." && self.thousands.is_none() && self.missing.is_empty();
        if let Some(value) = host::parse_plain(cell).filter(|_| is_usual) {
            return Meaning::Number(value);
        }
        if self.is_missing(cell) || missing::is_na(cell) && !self.keeps_words {
            return Meaning::Missing;
        }
        let Ok(text) = std::str::from_utf8(cell) else { return Meaning::Text };
        match self.number(text) {
            Some(value) if value.is_nan() => Meaning::Missing,
            Some(value) if self.is_sentinel(value) => Meaning::Missing,
            Some(value) => Meaning::Number(value),
            None => Meaning::Text,
        }
    }

    /// Whether a text, without spaces around it, means a missing cell in a column of texts, too.
    #[inline]
    pub(crate) fn is_missing(&self, cell: &[u8]) -> bool {
        let is_word = if self.keeps_words { cell.is_empty() } else { missing::is_always(cell) };
        is_word || self.missing.iter().any(|text| text.as_bytes() == cell)
    }

    /// Whether a number is declared to mean a missing cell, however it is written: `-9999` also declares `-9999.00` and `(9999)`.
    pub(crate) fn is_sentinel(&self, value: f64) -> bool {
        self.missing.iter().any(|text| self.number(text) == Some(value))
    }

    #[inline]
    fn number(&self, text: &str) -> Option<f64> {
        if self.decimal == "." && self.thousands.is_none() {
            return host::parse_number(text);
        }
        let plain = match &self.thousands {
            Some(mark) if text.contains(mark.as_str()) => without_groups(text, mark, &self.decimal)?,
            _ => text.to_owned(),
        };
        if self.decimal == "." {
            return host::parse_number(&plain);
        }
        (!plain.contains('.')).then(|| host::parse_number(&plain.replacen(',', ".", 1)))?
    }
}

/// The meaning of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Meaning {
    Missing,
    Number(f64),
    Text,
}

/// What a cell that is no number holds, among numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Odd {
    /// A common sign for a missing cell, such as `-` or `None`.
    Missing,
    /// A number in another notation: with a currency sign, or with groups of digits.
    Number(f64),
    /// A number of percent.
    Percent(f64),
    /// Any other text.
    Text,
}

impl Format {
    /// What a text holds that is no number in this format.
    pub(crate) fn odd(&self, text: &str) -> Odd {
        if !self.keeps_words && missing::is_among_numbers(text) {
            return Odd::Missing;
        }
        if let Some(value) = text.strip_suffix('%').and_then(|text| self.written(text.trim_end())) {
            return if self.is_sentinel(value) { Odd::Missing } else { Odd::Percent(value) };
        }
        match self.written(text) {
            Some(value) if self.is_sentinel(value) => Odd::Missing,
            Some(value) => Odd::Number(value),
            None => Odd::Text,
        }
    }

    /// A number with a currency sign or unmistakable groups of digits: `$1,234`, `-€5`, `1 000`, `1_000`, `1,234,567`, `1,234.5`, `12,34,567`;
    /// with a decimal comma, point and comma have each other's meaning. Also `5.25D+00` as Fortran writes it, the sign for minus of
    /// typesetting, and `(5)` and `5-` for -5 as accountants write it.
    fn written(&self, text: &str) -> Option<f64> {
        let point = self.decimal.as_str();
        let comma = if point == "," { "." } else { "," };
        let (is_negative, rest) = signed(text);
        let bare = rest.trim_matches(|c: char| is_currency(c) || c.is_whitespace());
        // The currency sign may be outside of the parentheses and before the sign.
        let (is_negative, bare) = if is_negative { (true, bare) } else { signed(bare) };
        let bare = bare.trim_matches(|c: char| is_currency(c) || c.is_whitespace());
        if !bare.starts_with(|c: char| c.is_ascii_digit()) && !bare.starts_with(point) {
            return None;
        }
        let has_sign = text.contains(is_currency);
        let mark = GROUP_MARKS.into_iter().chain([comma]).find(|mark| bare.contains(*mark));
        // One comma alone may be a decimal mark, unless a currency sign or a decimal point shows that it is not.
        let is_clear =
            |mark: &str| mark != comma || has_sign || bare.contains(point) || bare.matches(comma).count() > 1;
        let plain = match mark {
            Some(mark) if is_clear(mark) => without_groups(bare, mark, point)?,
            Some(_) => return None,
            None => bare.to_owned(),
        };
        let plain = plain.replacen(point, ".", 1);
        let value = host::parse_number(&plain).or_else(|| host::parse_number(&fortran(&plain)?));
        let value = value.filter(|value| value.is_finite())?;
        Some(if is_negative { -value } else { value })
    }
}

/// Marks between groups of digits that have no other meaning in a number.
pub(crate) const GROUP_MARKS: [&str; 8] = [" ", "\u{a0}", "\u{202f}", "\u{2009}", "\u{2007}", "'", "’", "_"];

/// Whether a letter is a currency sign.
pub(crate) fn is_currency(letter: char) -> bool {
    matches!(letter, '$' | '¢' | '£' | '¥' | '฿' | '\u{20a0}'..='\u{20c0}')
}

/// Signs for minus: that of a keyboard, that of typesetting, hyphens and dashes.
const MINUS: [char; 6] = ['-', '−', '‐', '‑', '‒', '–'];

/// A price without cents, such as `104.-`, `371,–` and `10,000/-`, without the sign that says so.
pub(crate) fn without_cents(text: &str) -> &str {
    let (whole, sign) = text.split_at(text.rfind(['.', ',', '/']).unwrap_or(text.len()));
    if is_no_cents(sign) && whole.ends_with(|c: char| c.is_ascii_digit()) { whole } else { text }
}

/// Whether a text is the sign of a price without cents.
pub(crate) fn is_no_cents(text: &str) -> bool {
    let dashes = text.strip_prefix(['.', ',', '/']).unwrap_or_default();
    !dashes.is_empty() && dashes.chars().all(|c| matches!(c, '-' | '−' | '–' | '—'))
}

/// Whether a text has a sign for minus, and what is left without signs: `(5)`, `5-` and `−5` are -5.
pub(crate) fn signed(text: &str) -> (bool, &str) {
    let text = without_cents(text);
    if let Some(inside) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        return (true, inside.trim());
    }
    if let Some(rest) = text.strip_prefix(MINUS) {
        return (true, rest.trim_start());
    }
    match text.strip_suffix(MINUS) {
        Some(rest) => (true, rest.trim_end()),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// The text without the marks between groups of digits; `None` if the groups before the decimal mark have other lengths: three digits each, or
/// as in India two each before the last three.
pub(crate) fn without_groups(text: &str, mark: &str, decimal: &str) -> Option<String> {
    let (whole, rest) = text.split_at(text.find(decimal).unwrap_or(text.len()));
    let groups: Vec<&str> = whole.trim_start_matches(['-', '+']).split(mark).collect();
    let [first, middle @ .., last] = groups.as_slice() else { return (!rest.contains(mark)).then(|| text.to_owned()) };
    let is_digits = |group: &&str| !group.is_empty() && group.bytes().all(|b| b.is_ascii_digit());
    let all_of = |length: usize| middle.iter().all(|group| group.len() == length);
    let has_lengths = first.len() <= 3 && all_of(3) || first.len() <= 2 && !middle.is_empty() && all_of(2);
    let is_grouped = has_lengths && last.len() == 3 && groups.iter().all(is_digits);
    (is_grouped && !rest.contains(mark)).then(|| whole.replace(mark, "") + rest)
}

/// A number with the exponent sign of Fortran's double precision, with the usual one.
fn fortran(text: &str) -> Option<String> {
    let (digits, exponent) = text.split_once(['D', 'd'])?;
    // Fortran writes a sign; without one it may be the label 12D1.
    let is_whole = exponent.strip_prefix(['+', '-']).is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
    is_whole.then(|| format!("{digits}e{exponent}"))
}

/// Whether a number is written like a code rather than a quantity: with leading zeros, or with more digits than a number keeps.
#[inline]
pub(crate) fn is_code(cell: &[u8]) -> bool {
    let cell = trimmed(cell);
    let digits = cell.strip_prefix(b"-").unwrap_or(cell);
    matches!(cell, [b'0', b'0'..=b'9', ..]) || (digits.len() > 15 && digits.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(format: &Format, text: &str) -> Option<f64> {
        match format.meaning(text.as_bytes()) {
            Meaning::Number(value) => Some(value),
            _ => None,
        }
    }

    #[test]
    fn a_format_says_how_numbers_are_written() {
        let german = Format { decimal: ",".into(), thousands: Some(".".into()), ..Format::default() };
        let cases = [
            ("1,5", Some(1.5)),
            ("1.234,5", Some(1234.5)),
            ("1.234", Some(1234.0)),
            ("12.34", None),
            ("-3", Some(-3.0)),
        ];
        for (text, expected) in cases {
            assert_eq!(number(&german, text), expected, "{text}");
        }
        let english = Format { thousands: Some(",".into()), ..Format::default() };
        for (text, expected) in
            [("1,234.5", Some(1234.5)), ("1,23", None), ("12", Some(12.0)), ("-1,000", Some(-1000.0))]
        {
            assert_eq!(number(&english, text), expected, "{text}");
        }
        let comma = Format { decimal: ",".into(), ..Format::default() };
        for (text, expected) in [("1,5", Some(1.5)), ("1.5", None), ("1,2,3", None)] {
            assert_eq!(number(&comma, text), expected, "{text}");
        }
        let missing = Format { missing: vec!["-999".into()], ..Format::default() };
        assert_eq!(
            [b" -999 ".as_slice(), b"NA", b"-999.00", b"-9.99e2"].map(|cell| missing.meaning(cell)),
            [Meaning::Missing; 4]
        );
        assert_eq!(
            [missing.is_missing(b"-999"), missing.is_missing(b"-999.0"), missing.is_missing(b"NA")],
            [true, false, false]
        );
        assert_eq!(
            ["(999)", "−999", "999-", "-$999", "-999 %"].map(|text| missing.odd(text)),
            [Odd::Missing; 5],
            "however it is written"
        );
        let kept = Format { keeps_words: true, ..Format::default() };
        assert_eq!([b"NA".as_slice(), b"null"].map(|cell| kept.meaning(cell)), [Meaning::Text; 2]);
        assert_eq!((kept.meaning(b""), kept.odd("none")), (Meaning::Missing, Odd::Text));
    }

    #[test]
    fn numbers_in_other_notations_are_recognised_only_if_unmistakable() {
        let cases = [
            ("$1,234", Odd::Number(1234.0)),
            ("-$5.5", Odd::Number(-5.5)),
            ("€ 12", Odd::Number(12.0)),
            ("1 000", Odd::Number(1000.0)),
            ("1_000", Odd::Number(1000.0)),
            ("1,234,567", Odd::Number(1_234_567.0)),
            ("1,234.5", Odd::Number(1234.5)),
            ("12,34,567", Odd::Number(1_234_567.0)),
            ("1\u{202f}000", Odd::Number(1000.0)),
            ("1’234.5", Odd::Number(1234.5)),
            ("(1,234.50)", Odd::Number(-1234.5)),
            ("(580.16)", Odd::Number(-580.16)),
            ("$(5)", Odd::Number(-5.0)),
            ("($5)", Odd::Number(-5.0)),
            ("$-5", Odd::Number(-5.0)),
            ("1,234.50-", Odd::Number(-1234.5)),
            ("12.5%", Odd::Percent(12.5)),
            ("(3%)", Odd::Text),
            ("1,23,45", Odd::Text),
            ("(1,5)", Odd::Text),
            ("-(5)-", Odd::Text),
            ("2024-", Odd::Number(-2024.0)),
            ("–5", Odd::Number(-5.0)),
            ("‐5", Odd::Number(-5.0)),
            ("104.-", Odd::Number(104.0)),
            ("CHF 104.-", Odd::Text),
            ("€ 1,040.—", Odd::Number(1040.0)),
            ("-104.-", Odd::Number(-104.0)),
            ("-3 %", Odd::Percent(-3.0)),
            ("-", Odd::Missing),
            ("None", Odd::Missing),
            (".", Odd::Missing),
            ("1,234", Odd::Text),
            ("1,5", Odd::Text),
            ("1 00", Odd::Text),
            ("12 Main", Odd::Text),
            ("$", Odd::Text),
            ("abc", Odd::Text),
            ("%", Odd::Text),
            ("", Odd::Text),
        ];
        for (text, expected) in cases {
            assert_eq!(Format::default().odd(text), expected, "{text:?}");
        }
        let german = Format { decimal: ",".into(), ..Format::default() };
        let cases = [
            ("€1.234", Odd::Number(1234.0)),
            ("1.234,5", Odd::Number(1234.5)),
            ("12,5%", Odd::Percent(12.5)),
            ("1.5", Odd::Text),
        ];
        for (text, expected) in cases {
            assert_eq!(german.odd(text), expected, "{text:?}");
        }
    }

    #[test]
    fn codes_are_distinguished_from_quantities() {
        for text in ["02139", "007", "9007199254740993", "-9007199254740993"] {
            assert!(is_code(text.as_bytes()), "{text}");
        }
        for text in ["0", "0.5", "10", "-0.5", "900719925474099", "1e300", ""] {
            assert!(!is_code(text.as_bytes()), "{text}");
        }
    }
}
