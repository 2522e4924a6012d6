//! How the numbers of a column are written beyond the format of their file: with a unit, with letters for thousands and millions, as limits, with
//! marks between groups of digits, as durations. [`super::judge`] finds the notation of a column; a model keeps that of its training rows.

use super::cell::{GROUP_MARKS, is_currency, is_no_cents, signed, without_groups};
use super::duration::{Clock, hours};
use super::format::Format;
use super::missing::trimmed_text;
use crate::host;
use crate::record;

/// How the numbers of a column are written; the default is the format of its file alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notation {
    /// The unit or currency of every number; empty if there is none.
    pub unit: String,
    /// Whether letters behind numbers are factors: `4.3M` is 4300000.
    pub has_factors: bool,
    /// Whether a limit is read as its number: `<0.1` is 0.1.
    pub has_limits: bool,
    /// The mark between groups of digits, if only other cells show that it is none of decimals: the point of `1.234` beside `1.234.567`.
    pub group: Option<String>,
    /// Whether the numbers are durations, in hours: `25:30:00` is 25.5.
    pub clock: Clock,
}

record! { Notation { unit, has_factors, has_limits, group, clock } }

impl Notation {
    /// Whether it is that of the file alone.
    pub(crate) fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// The number that a text means in this notation. A number without a unit has the usual one.
    pub(crate) fn value(&self, text: &str, format: &Format) -> Option<f64> {
        if self.clock != Clock::None {
            return hours(text, self.clock).or_else(|| Self::default().value(text, format));
        }
        let written = Written::parse(text, format)?;
        let (factor, unit) = if self.has_factors { written.factored()? } else { (1.0, written.unit()) };
        let has_unit = unit.is_empty() || is_same_unit(&unit, &self.unit);
        let may_be = has_unit && (self.has_limits || !written.is_limit);
        let value = match written.digits {
            Digits::Groups(mark, value) | Digits::Plain { grouped: Some((mark, value)), .. } if self.is_group(mark) => {
                value
            }
            Digits::Groups(..) => return None,
            // Where points are marks between groups, the one of 12.5 is neither that nor surely a decimal mark.
            Digits::Plain { .. } if self.has_wrong_point(text, format) => return None,
            Digits::Sure(value) | Digits::Plain { value, .. } => value,
        };
        may_be.then_some(value * factor)
    }

    fn has_wrong_point(&self, text: &str, format: &Format) -> bool {
        self.group.as_deref() == Some(format.decimal.as_str()) && text.contains(format.decimal.as_str())
    }

    fn is_group(&self, mark: char) -> bool {
        self.group.as_deref().is_some_and(|group| group.starts_with(mark))
    }
}

/// Whether two units are the same but for the plural: `year` and `years`.
pub(crate) fn is_same_unit(a: &str, b: &str) -> bool {
    singular(a) == singular(b)
}

/// A unit without the s of the plural.
pub(crate) fn singular(unit: &str) -> &str {
    unit.strip_suffix('s').filter(|rest| rest.len() > 2).unwrap_or(unit)
}

/// A number as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Written<'a> {
    /// What is before the number: a currency.
    pub lead: &'a str,
    /// What is behind the number, without spaces around it.
    pub tail: &'a str,
    /// Whether a space is between the number and what is behind it.
    pub has_space: bool,
    /// Whether it is a limit.
    pub is_limit: bool,
    pub digits: Digits,
}

/// The digits of a number with their marks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Digits {
    /// They have one meaning.
    Sure(f64),
    /// A number whose decimal mark may be a mark between groups; then it is another number.
    Plain { value: f64, grouped: Option<(char, f64)> },
    /// Groups of digits with a mark; `1,234` could also be meant as 1.234.
    Groups(char, f64),
}

impl<'a> Written<'a> {
    /// The number that a text begins with, after a currency; `None` if there is none, or if what is behind it cannot be a unit.
    pub(crate) fn parse(text: &'a str, format: &Format) -> Option<Self> {
        let text = trimmed_text(text);
        let (is_below, bare) = limit(text);
        let (outer, bare) = signed(bare);
        let (lead, bare) = currency(bare);
        let (inner, bare) = if outer { (false, bare) } else { signed(bare) };
        let end = end_of_digits(bare)?;
        let (body, rest) = bare.split_at(end);
        let rest = without_cents_before(rest);
        let (is_above, rest) = rest.strip_prefix('+').map_or((false, rest), |rest| (true, rest));
        let tail = trimmed_text(rest);
        if !tail.is_empty() && !is_unit(tail) {
            return None;
        }
        let is_negative = outer || inner;
        let digits = match digits(body, format)?.with_sign(is_negative) {
            // A currency shows that the comma of 1,234 is no decimal mark.
            Digits::Groups(_, value) if !lead.is_empty() || tail.starts_with(is_currency) => Digits::Sure(value),
            digits => digits,
        };
        Some(Self {
            lead,
            tail,
            has_space: rest.len() > rest.trim_start().len(),
            is_limit: is_below || is_above,
            digits,
        })
    }

    /// Whether its number is declared to mean a missing cell.
    pub(crate) fn is_sentinel(&self, format: &Format) -> bool {
        match self.digits {
            Digits::Sure(value) | Digits::Plain { value, .. } | Digits::Groups(_, value) => format.is_sentinel(value),
        }
    }

    /// The unit, if no letter is a factor.
    pub(crate) fn unit(&self) -> String {
        joined(self.lead, self.tail)
    }

    /// The factor of the letters behind the number, and the unit; `None` if the first of them are no factor. A plain number has the factor 1.
    pub(crate) fn factored(&self) -> Option<(f64, String)> {
        if self.tail.is_empty() {
            return Some((1.0, self.unit()));
        }
        let (word, rest) = self.factor_word();
        let (_, factor) = FACTORS.iter().find(|(words, _)| words.split(' ').any(|known| known == word))?;
        Some((*factor, joined(self.lead, rest)))
    }

    /// The word that may be a factor, and the rest of what is behind the number.
    pub(crate) fn factor_word(&self) -> (&'a str, &'a str) {
        let (word, rest) = self.tail.split_once(' ').unwrap_or((self.tail, ""));
        // 4.3M€
        let at = word.find(is_currency).unwrap_or(word.len());
        if at > 0 && at < word.len() { (&word[..at], &word[at..]) } else { (word, rest.trim()) }
    }
}

fn joined(lead: &str, tail: &str) -> String {
    let space = if lead.is_empty() || tail.is_empty() { "" } else { " " };
    format!("{lead}{space}{tail}")
}

/// What is behind the digits of a price, without the sign that it has no cents: ` €` of `371,- €`.
fn without_cents_before(rest: &str) -> &str {
    let (sign, unit) = rest.split_at(rest.find([' ', '\u{a0}']).unwrap_or(rest.len()));
    if is_no_cents(sign) { unit } else { rest }
}

/// Words that multiply, in English, German, French and Spanish.
const FACTORS: [(&str, f64); 4] = [
    ("K k thousand Thousand Tsd Tsd. tsd", 1e3),
    ("M m MM mm mn Mn mio Mio mio. Mio. million Million millions", 1e6),
    ("B b bn Bn BN mrd Mrd mrd. Mrd. billion Billion", 1e9),
    ("T t tn trillion", 1e12),
];

/// Codes and names of currencies that are written before a number.
const CURRENCIES: &str = "USD EUR GBP JPY CHF CAD AUD NZD CNY INR BRL MXN SEK NOK DKK PLN CZK HUF RUB TRY ZAR KRW SGD HKD ILS THB IDR MYR PHP \
                          RON BGN UAH AED SAR EGP NGN KES ARS CLP COP PEN VND Rs Rs. R$ US$ A$ C$ NZ$ HK$ S$ kr kr. Fr. zł Kč Ft";

/// Whether a text begins with a sign of a limit or of a rough number, and what follows it.
fn limit(text: &str) -> (bool, &str) {
    let rest = text.strip_prefix(['<', '>', '≤', '≥', '~', '≈']);
    rest.map_or((false, text), |rest| (true, rest.strip_prefix('=').unwrap_or(rest).trim_start()))
}

/// The currency that a text begins with, and what follows it.
fn currency(text: &str) -> (&str, &str) {
    let end =
        text.find(|c: char| c.is_ascii_digit() || matches!(c, '-' | '−' | '(' | '+' | ' ' | '\u{a0}')).unwrap_or(0);
    let (lead, rest) = text.split_at(end);
    let is_sign = !lead.is_empty() && lead.chars().all(is_currency);
    if is_sign || CURRENCIES.split_whitespace().any(|known| known == lead) {
        (lead, trimmed_text(rest))
    } else {
        ("", text)
    }
}

/// Where the digits at the start of a text end: with their marks, each before a digit, and an exponent.
fn end_of_digits(text: &str) -> Option<usize> {
    let is_digit_at = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let mut end = 0;
    for (at, letter) in text.char_indices() {
        let next = at + letter.len_utf8();
        let is_mark = matches!(letter, '.' | ',') || GROUP_MARKS.iter().any(|mark| mark.starts_with(letter));
        if letter.is_ascii_digit() || letter == '.' && at > 0 && next == text.len() {
            end = next;
        } else if !is_mark || !is_digit_at(next) {
            break;
        }
    }
    if end == 0 {
        return None;
    }
    let rest = text[end..].strip_prefix(['e', 'E']).map(|rest| rest.strip_prefix(['+', '-']).unwrap_or(rest));
    let digits = rest.map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
    Some(match rest {
        Some(rest) if digits > 0 => text.len() - rest.len() + digits,
        _ => end,
    })
}

/// Whether what is behind a number can be a unit: letters, and signs and powers among them.
fn is_unit(text: &str) -> bool {
    let starts = |c: char| c.is_alphabetic() || is_currency(c) || matches!(c, '°' | '%' | '‰' | '"' | '″' | '′' | '/');
    let mut last = ' ';
    let mut is_part = |c: char| {
        // One digit alone is a power: 22 behind Q or / is a year.
        let is_power =
            matches!(c, '1'..='4' | '²' | '³' | '⁻' | '¹' | '^' | '-') && !matches!(last, ' ' | '0'..='9' | '/');
        let is_part = starts(c) || is_power || matches!(c, ' ' | '\u{a0}' | '.' | '·' | '*');
        last = c;
        is_part
    };
    text.starts_with(starts) && text.chars().count() <= 16 && text.chars().all(&mut is_part)
}

/// What digits and their marks mean.
fn digits(body: &str, format: &Format) -> Option<Digits> {
    let (point, comma) = if format.decimal == "," { (',', '.') } else { ('.', ',') };
    let has = |mark: char| body.contains(mark);
    let of = |mark: char, decimal: char| {
        let plain = without_groups(body, mark.encode_utf8(&mut [0; 4]), decimal.encode_utf8(&mut [0; 4]))?;
        host::parse_number(&plain.replacen(decimal, ".", 1))
    };
    if let Some(mark) = GROUP_MARKS.into_iter().find(|mark| body.contains(*mark)) {
        let plain = without_groups(body, mark, point.encode_utf8(&mut [0; 4]))?;
        return (!plain.contains(comma)).then(|| host::parse_number(&plain.replacen(point, ".", 1)))?.map(Digits::Sure);
    }
    if format.thousands.as_deref().is_some_and(|mark| mark.starts_with(comma)) && has(comma) {
        return of(comma, point).map(Digits::Sure);
    }
    if has(comma) {
        let is_sure = has(point) || body.matches(comma).count() > 1;
        return of(comma, point).map(|value| if is_sure { Digits::Sure(value) } else { Digits::Groups(comma, value) });
    }
    let grouped = of(point, comma).filter(|_| has(point) && !body.starts_with('0'));
    if body.matches(point).count() > 1 {
        return grouped.map(|value| Digits::Groups(point, value));
    }
    let value = host::parse_number(&body.replacen(point, ".", 1))?;
    Some(Digits::Plain { value, grouped: grouped.map(|value| (point, value)) })
}

impl Digits {
    fn with_sign(self, is_negative: bool) -> Self {
        let signed = |value: f64| if is_negative { -value } else { value };
        match self {
            Self::Sure(value) => Self::Sure(signed(value)),
            Self::Groups(mark, value) => Self::Groups(mark, signed(value)),
            Self::Plain { value, grouped } => {
                Self::Plain { value: signed(value), grouped: grouped.map(|(mark, value)| (mark, signed(value))) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(notation: &Notation, text: &str) -> Option<f64> {
        notation.value(text, &Format::default())
    }

    #[test]
    fn numbers_in_a_notation() {
        let plain = Notation::default;
        let unit = |unit: &str| Notation { unit: unit.into(), ..plain() };
        let factors = Notation { has_factors: true, ..plain() };
        let group = |mark: &str| Notation { group: Some(mark.into()), ..plain() };
        let limits = Notation { has_limits: true, ..plain() };
        let cases = [
            (unit("mm"), "-7.05 mm", Some(-7.05)),
            (unit("mm"), "7mm", Some(7.0)),
            (unit("mm"), "7", Some(7.0)),
            (unit("mm"), "7 cm", None),
            (unit("years"), "1 year", Some(1.0)),
            (unit("°C"), "21.5 °C", Some(21.5)),
            (unit("m/s²"), "9.81 m/s²", Some(9.81)),
            (unit("EUR"), "EUR 1,234.50", Some(1234.5)),
            (unit("€"), "371,- €", Some(371.0)),
            (unit("€"), "371,-x €", None),
            (unit("EUR"), "1 234 EUR", Some(1234.0)),
            (unit("EUR"), "USD 5", None),
            (unit("€"), "(€5)", Some(-5.0)),
            (unit("$"), "$(5.5)", Some(-5.5)),
            (unit(""), "7 mm", None),
            (unit("st"), "12 Main St", None),
            (factors.clone(), "4.3M", Some(4.3e6)),
            (factors.clone(), "812.0K", Some(812_000.0)),
            (factors.clone(), "1.5 Mrd", Some(1.5e9)),
            (factors.clone(), "7", Some(7.0)),
            (factors.clone(), "7 km", None),
            (Notation { unit: "$".into(), ..factors.clone() }, "-$4.3M", Some(-4.3e6)),
            (Notation { unit: "€".into(), ..factors }, "4.3M€", Some(4.3e6)),
            (limits.clone(), "<0.1", Some(0.1)),
            (limits.clone(), ">= 100", Some(100.0)),
            (limits.clone(), "65+", Some(65.0)),
            (limits, "0.5", Some(0.5)),
            (plain(), "<0.1", None),
            (plain(), "1.234", Some(1.234)),
            (plain(), "1.234.567", None),
            (plain(), "1,234", None),
            (group("."), "1.234", Some(1234.0)),
            (group("."), "1.234.567", Some(1_234_567.0)),
            (group("."), "11", Some(11.0)),
            (group(","), "1,234", Some(1234.0)),
            (group(","), "1.234", Some(1.234)),
            (plain(), "1e-3", Some(1e-3)),
            (plain(), "1.2.3", None),
            (plain(), "abc", None),
            (plain(), "", None),
        ];
        for (notation, text, expected) in cases {
            let got = value(&notation, text);
            let is_near =
                got.zip(expected).is_some_and(|(got, expected)| (got - expected).abs() <= 1e-9 * expected.abs());
            assert!(is_near || got == expected, "{text}: {got:?}, expected {expected:?} in {notation:?}");
        }
    }
}
