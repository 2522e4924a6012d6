//! Looks before a column of texts becomes a category: whether its cells are numbers in a notation of their own, which one that is, and what a
//! person should know about it. Works on the different texts of the column, each with its number of rows.

use super::cell::{Meaning, Odd, is_currency};
use super::comma;
use super::duration::{Clock, hours};
use super::format::Format;
use super::notation::{Digits, Notation, Written, is_same_unit, singular};
use crate::files::moment;
use crate::files::{Cells, number_text};
use crate::host::parse_number;

/// What the texts of a column are.
pub(crate) struct Judged {
    /// The number of each different text, NaN for others, and how they are written; absent if the column holds texts.
    pub numbers: Option<(Vec<f64>, Notation)>,
    /// What a person should know, each with some of the cells it is about.
    pub warnings: Vec<(String, Vec<String>)>,
}

/// Largest number of cells and of units that a warning lists.
const LISTED: usize = 5;

/// Judges the texts of a column; `None` if nothing in them looks like numbers, or if a comma has an open meaning.
pub(crate) fn judge(cells: &Cells, format: &Format) -> Option<Judged> {
    let Cells::Categorical { codes, levels } = cells else { return None };
    let mut rows = vec![0_usize; levels.len()];
    for code in codes {
        if let Some(rows) = rows.get_mut(*code as usize) {
            *rows += 1;
        }
    }
    let texts = Texts { levels, kinds: levels.iter().map(|text| Kind::of(text, format)).collect(), rows, format };
    if let Some(judged) = texts.durations() {
        return Some(judged);
    }
    let numbers = texts.count(|kind| matches!(kind, Kind::Number(_)));
    if 2 * numbers < texts.total() || numbers == 0 || !moment::orders(levels).is_empty() {
        return None;
    }
    texts.numbers()
}

/// What one text is.
enum Kind<'a> {
    Missing,
    Number(Written<'a>),
    Text,
}

impl<'a> Kind<'a> {
    fn of(text: &'a str, format: &Format) -> Self {
        let sure =
            |value| Written { lead: "", tail: "", has_space: false, is_limit: false, digits: Digits::Sure(value) };
        let written = Written::parse(text, format);
        match (format.meaning(text.as_bytes()), format.odd(text)) {
            (Meaning::Missing, _) | (_, Odd::Missing) => Self::Missing,
            _ if written.as_ref().is_some_and(|written| written.is_sentinel(format)) => Self::Missing,
            _ if written.is_some() => written.map_or(Self::Text, Self::Number),
            (Meaning::Number(value), _) | (_, Odd::Number(value)) => Self::Number(sure(value)),
            _ => Self::Text,
        }
    }
}

/// The different texts of a column.
struct Texts<'a> {
    levels: &'a [String],
    kinds: Vec<Kind<'a>>,
    rows: Vec<usize>,
    format: &'a Format,
}

impl Texts<'_> {
    /// The number of rows whose text is of a kind.
    fn count(&self, is: impl Fn(&Kind<'_>) -> bool) -> usize {
        self.kinds.iter().zip(&self.rows).filter(|(kind, _)| is(kind)).map(|(_, rows)| rows).sum()
    }

    /// The number of rows that are not missing.
    fn total(&self) -> usize {
        self.count(|kind| !matches!(kind, Kind::Missing))
    }

    /// Numbers with their text and their rows.
    fn written(&self) -> impl Iterator<Item = (&Written<'_>, &str, usize)> {
        let all = self.kinds.iter().zip(self.levels).zip(&self.rows);
        all.filter_map(|((kind, text), rows)| match kind {
            Kind::Number(written) => Some((written, text.as_str(), *rows)),
            _ => None,
        })
    }

    /// The number of rows with such a number.
    fn rows_with(&self, is: impl Fn(&Written<'_>) -> bool) -> usize {
        self.written().filter(|(written, ..)| is(written)).map(|(.., rows)| rows).sum()
    }

    /// Some texts of numbers.
    fn some(&self, is: impl Fn(&Written<'_>) -> bool) -> Vec<String> {
        let found = self.written().filter(|(written, ..)| is(written));
        found.map(|(_, text, _)| text.to_owned()).take(LISTED).collect()
    }

    /// The column as durations, if they show that they are no times of day.
    fn durations(&self) -> Option<Judged> {
        let parts = |text: &str| text.matches(':').count();
        let clock = if self.levels.iter().any(|text| parts(text) == 2) { Clock::Minutes } else { Clock::Hours };
        let values: Vec<f64> = self.levels.iter().map(|text| hours(text, clock).unwrap_or(f64::NAN)).collect();
        let is_long = |(value, text): (&f64, &String)| {
            let first = text.split(':').next().and_then(parse_number);
            *value > 24.0 || *value < 0.0 || first.is_some_and(|first| first > 24.0) || text.contains("day")
        };
        let example = values.iter().zip(self.levels).find(|pair| is_long(*pair));
        let (value, text) = example?;
        let mut judged = self.as_numbers(values.clone(), Notation { clock, ..Notation::default() })?;
        let message = format!("durations are read as hours: \"{text}\" is {}", number_text(*value));
        judged.warnings.insert(0, (message, Vec::new()));
        Some(judged)
    }

    /// The column as numbers, or why it is not.
    fn numbers(&self) -> Option<Judged> {
        let refused = |message: String, cells| Some(Judged { numbers: None, warnings: vec![(message, cells)] });
        let has_comma = |(kind, text): (&Kind<'_>, &String)| matches!(kind, Kind::Text) && comma::is_number(text);
        if self.kinds.iter().zip(self.levels).any(has_comma) {
            return None;
        }
        let mut warnings = Vec::new();
        let mut notation =
            Notation { group: Some(self.group()?).filter(|mark| !mark.is_empty()), ..Notation::default() };
        if let Some((mark, text, value)) = notation.group.as_deref().and_then(|mark| self.grouped(mark)) {
            let name = if mark == "." { "points" } else { "commas" };
            let message = format!(
                "{name} are read as marks between groups of digits: \"{text}\" is {value}; the option thousands declares it"
            );
            warnings.push((message, self.some(|written| matches!(written.digits, Digits::Groups(..)))));
        }
        match self.unit() {
            Unit::None => {}
            Unit::Factors(unit) => {
                (notation.unit, notation.has_factors) = (unit, true);
                let is_factor = |written: &Written<'_>| !written.tail.is_empty();
                if let Some((_, text, _)) = self.written().find(|(written, ..)| is_factor(written)) {
                    let value = notation.value(text, self.format).map_or_else(String::new, number_text);
                    let message =
                        format!("letters behind numbers are read as thousands and more: \"{text}\" is {value}");
                    warnings.push((message, self.some(is_factor)));
                }
            }
            Unit::One(unit) => {
                let without = self.rows_with(|written| written.unit().is_empty());
                let more = match without {
                    0 => String::new(),
                    1 => ", and 1 number without it is read as such a number".into(),
                    rows => format!(", and {rows} numbers without it are read as such numbers"),
                };
                let message = format!(
                    "numbers with the unit {unit} are read without it{more}; name the column under categorical to keep texts"
                );
                warnings.push((message, self.some(|written| is_same_unit(&written.unit(), &unit))));
                notation.unit = unit;
            }
            Unit::Several(units, cells) => {
                let units = units.join(", ");
                let message = format!(
                    "its numbers have different units ({units}), so the column is a category; write them in one unit"
                );
                return refused(message, cells);
            }
            Unit::Unclear => return None,
        }
        let limits = self.rows_with(|written| written.is_limit);
        let all = self.rows_with(|_| true);
        if limits > 0 {
            let cells = self.some(|written| written.is_limit);
            let is_rough = cells.iter().any(|text| text.starts_with(['~', '≈']));
            let [one, many] = if is_rough { ["a rough number", "rough numbers"] } else { ["a limit", "limits"] };
            let cell = if limits == 1 { format!("1 cell is {one}") } else { format!("{limits} cells are {many}") };
            if 2 * limits > all && !is_rough {
                let message = format!("{limits} of {all} numbers are limits, so the column is a category");
                return refused(message, cells);
            }
            notation.has_limits = true;
            let reads = if limits == 1 { "is" } else { "are" };
            let message = format!(
                "{cell} and {reads} read as the number itself; the option na declares texts that mean a missing cell, categorical keeps texts"
            );
            warnings.push((message, cells));
        }
        let number = |(kind, text): (&Kind<'_>, &String)| match kind {
            Kind::Number(written) => {
                let sure = || match written.digits {
                    Digits::Sure(value) if written.tail.is_empty() && written.lead.is_empty() => Some(value),
                    _ => None,
                };
                notation.value(text, self.format).or_else(sure).unwrap_or(f64::NAN)
            }
            _ => f64::NAN,
        };
        let values = self.kinds.iter().zip(self.levels).map(number).collect();
        let mut judged = self.as_numbers(values, notation)?;
        warnings.append(&mut judged.warnings);
        Some(Judged { warnings, ..judged })
    }

    /// The column as these numbers, if nine of ten texts are numbers; with a warning about the others.
    fn as_numbers(&self, values: Vec<f64>, notation: Notation) -> Option<Judged> {
        let (mut numbers, mut texts, mut signs) = (0, (0, Vec::new()), (0, Vec::new()));
        for (((kind, value), text), rows) in self.kinds.iter().zip(&values).zip(self.levels).zip(&self.rows) {
            let seen = match kind {
                _ if !value.is_nan() => {
                    numbers += rows;
                    continue;
                }
                Kind::Missing => &mut signs,
                _ => &mut texts,
            };
            seen.0 += rows;
            if seen.1.len() < LISTED {
                seen.1.push(text.clone());
            }
        }
        let is_numeric = numbers > 0 && 10 * texts.0 <= numbers + texts.0;
        let warnings = missing_cells(texts, signs);
        is_numeric.then_some(Judged { numbers: Some((values, notation)), warnings })
    }

    /// The mark between groups of digits that only all cells together show, empty if there is none. `None` if a comma has an open meaning.
    fn group(&self) -> Option<String> {
        let (point, comma) = if self.format.decimal == "," { (',', '.') } else { ('.', ',') };
        let has = |is: &dyn Fn(&Written<'_>, &str) -> bool| self.written().any(|(written, text, _)| is(written, text));
        let is_open = |of: char| move |written: &Written<'_>, _: &str| matches!(written.digits, Digits::Groups(mark, _) if mark == of);
        if has(&is_open(comma)) {
            // A declared decimal comma leaves the point no other meaning.
            if point == ',' {
                return Some(comma.to_string());
            }
            let is_sure =
                |written: &Written<'_>, text: &str| matches!(written.digits, Digits::Sure(_)) && text.contains(comma);
            return has(&is_sure).then(|| comma.to_string());
        }
        let is_decimal = |written: &Written<'_>, text: &str| {
            text.contains(comma)
                || text.contains(point) && matches!(written.digits, Digits::Plain { grouped: None, .. })
        };
        // Four groups of three digits each in every cell may be addresses in a network.
        let is_address = |_: &Written<'_>, text: &str| text.matches(point).count() == 3;
        let is_number = has(&is_open(point)) && !has(&is_decimal) && has(&|written, text| !is_address(written, text));
        Some(if is_number { point.to_string() } else { String::new() })
    }

    /// An example of a number with this mark between groups.
    fn grouped<'m>(&self, mark: &'m str) -> Option<(&'m str, &str, String)> {
        self.written().find_map(|(written, text, _)| match written.digits {
            Digits::Groups(_, value) => Some((mark, text, number_text(value))),
            _ => None,
        })
    }

    /// What is before and behind the numbers.
    fn unit(&self) -> Unit {
        let all = self.rows_with(|_| true);
        let with = self.rows_with(|written| !written.unit().is_empty());
        if 10 * with <= all {
            // So few are texts among numbers, unless the letters are factors.
            return self.factors().filter(|_| with > 0).map_or(Unit::None, Unit::Factors);
        }
        if let Some(unit) = self.factors() {
            return Unit::Factors(unit);
        }
        let mut units: Vec<(String, usize, &str)> = Vec::new();
        for (written, text, rows) in self.written() {
            let unit = written.unit();
            match units.iter_mut().find(|(known, ..)| is_same_unit(known, &unit)) {
                _ if unit.is_empty() => {}
                Some((known, count, _)) => {
                    *count += rows;
                    if singular(known) == known && *known != unit {
                        *known = unit;
                    }
                }
                None => units.push((unit, rows, text)),
            }
        }
        units.sort_by_key(|(_, rows, _)| usize::MAX - rows);
        let (unit, rows, _) = &units[0];
        if 10 * rows >= 9 * all {
            // A plain number among numbers of percent could be a share.
            let is_open = unit == "%" && with < all;
            return if is_open { Unit::Unclear } else { Unit::One(unit.clone()) };
        }
        // Letters of codes such as 5A, and ordinals, are no units.
        let is_code = |unit: &str| unit.len() == 1 && unit.as_bytes()[0].is_ascii_alphabetic();
        let is_other =
            units.iter().all(|(unit, ..)| is_code(unit) || matches!(unit.as_str(), "st" | "nd" | "rd" | "th"));
        if is_other || units.len() > LISTED || units.len() == 1 && unit == "%" || 10 * with < 9 * all {
            return Unit::Unclear;
        }
        let names = units.iter().map(|(unit, ..)| unit.clone()).collect();
        Unit::Several(names, units.iter().map(|(.., text)| (*text).to_owned()).collect())
    }

    /// The unit behind letters that are factors, perhaps an empty one; `None` if they are no factors, or may be a unit.
    fn factors(&self) -> Option<String> {
        let mut found: Option<String> = None;
        let mut words: Vec<&str> = Vec::new();
        let mut has_spaces = true;
        for (written, ..) in self.written().filter(|(written, ..)| !written.tail.is_empty()) {
            let (_, unit) = written.factored()?;
            if found.get_or_insert_with(|| unit.clone()) != &unit {
                return None;
            }
            let word = written.factor_word().0;
            if !words.contains(&word) {
                words.push(word);
            }
            has_spaces &= written.has_space;
        }
        // One letter in every cell may be a unit: m, t, and K or B behind a space.
        let is_sure = |word: &str| {
            word.len() > 2
                || matches!(word, "mn" | "Mn" | "bn" | "Bn" | "BN" | "tn")
                || !has_spaces && matches!(word, "K" | "k" | "M" | "B")
        };
        let is_factor = words.len() > 1 || words.first().is_some_and(|word| is_sure(word));
        found.filter(|_| is_factor)
    }
}

/// What is before and behind the numbers of a column.
enum Unit {
    None,
    /// Letters for thousands and more, and a unit.
    Factors(String),
    One(String),
    /// Several units, and a cell of each.
    Several(Vec<String>, Vec<String>),
    /// Words of too many kinds to be units, or in too few cells.
    Unclear,
}

/// What a person should know about cells of a column of numbers that count as missing: texts, and words that mean a missing cell.
pub(crate) fn missing_cells(texts: (usize, Vec<String>), signs: (usize, Vec<String>)) -> Vec<(String, Vec<String>)> {
    if texts.0 > 0 {
        let what = if texts.0 == 1 { "cell is no number and counts" } else { "cells are no numbers and count" };
        return vec![(
            format!("{} {what} as missing; name the column under categorical to keep texts", texts.0),
            texts.1,
        )];
    }
    if signs.0 > 0 {
        let what = if signs.0 == 1 { "cell counts" } else { "cells count" };
        let message =
            format!("{} {what} as missing; name the column under categorical if they mean something", signs.0);
        return vec![(message, signs.1)];
    }
    Vec::new()
}

/// The currency sign in a text of a number.
pub(crate) fn currency_of(text: &str) -> Option<char> {
    text.chars().find(|letter| is_currency(*letter))
}
