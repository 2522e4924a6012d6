//! A column of a Parquet file: numbers as they are stored, everything else as texts.

use super::encoding::Values;
use super::pages::{Next, Page, Pages, Refusal, Refused, Stored};
use super::schema::{Field, Footer, Meaning, Physical};
use crate::error::{Error, Result};
use crate::files::kinds::grid::Texts;
use crate::files::kinds::iso;
use crate::files::kinds::memory::has_memory;
use crate::files::text::Format;
use crate::files::text::reading::Unread;
use crate::files::{Column, MISSING_CODE, number_text};
use crate::host::number;

/// Whole numbers from here on keep their digits as texts, like codes.
const EXACT: u64 = 1_000_000_000_000_000;

/// Reads a column. One that holds what is not read is no error; one that is damaged is.
pub(crate) fn read(bytes: &[u8], footer: &Footer, field: &Field, source: &str, format: &Format) -> Result<Column> {
    match cells(bytes, footer, field, source, format) {
        Err(Refusal::Unread(why)) => Ok(Column::unread(&field.name, footer.rows, Unread { why, is_error: false })),
        Err(Refusal::Damaged(what)) => Err(Error::new(format!("{source}: column \"{}\": {what}", field.name))),
        Ok(column) => column,
    }
}

fn cells(bytes: &[u8], footer: &Footer, field: &Field, source: &str, format: &Format) -> Refused<Result<Column>> {
    // Texts that mean a missing cell may be numbers.
    if field.is_number() && format.missing.is_empty() && !format.is_copied {
        let mut numbers = Numbers { values: Vec::new(), has_codes: false };
        each_page(bytes, footer, field, &mut numbers)?;
        if !numbers.has_codes {
            return Ok(Ok(Column::numeric(&field.name, numbers.values)));
        }
    }
    let mut cells = Cells { field, texts: Texts::default(), codes: Vec::new(), dictionary: Vec::new() };
    each_page(bytes, footer, field, &mut cells)?;
    Ok(cells.texts.column(&field.name, &cells.codes, source, format))
}

impl Field {
    fn is_number(&self) -> bool {
        let is_plain = matches!(self.meaning, Meaning::Plain | Meaning::Unsigned);
        is_plain && matches!(self.physical, Physical::Int32 | Physical::Int64 | Physical::Float | Physical::Double)
    }

    /// The number that is stored as an integer.
    fn whole(&self, value: i64) -> f64 {
        match (self.meaning, self.physical) {
            (Meaning::Unsigned, Physical::Int32) => f64::from(value as u32),
            (Meaning::Unsigned, _) => value as u64 as f64,
            _ => value as f64,
        }
    }
}

/// What takes the pages of a column.
trait Sink {
    fn dictionary(&mut self, field: &Field, values: &Values) -> Refused<()>;
    /// `page` has as many values as rows that have one.
    fn page(&mut self, field: &Field, page: Page, dictionary: &Values) -> Refused<()>;
}

fn each_page(bytes: &[u8], footer: &Footer, field: &Field, sink: &mut impl Sink) -> Refused<()> {
    for group in &footer.groups {
        let mut dictionary = Values::Ints(Vec::new());
        let mut pages = Pages::new(bytes, &group.chunks[field.chunk], field, group.rows);
        while let Some(next) = pages.next()? {
            match next {
                Next::Dictionary(values) => {
                    sink.dictionary(field, &values)?;
                    dictionary = values;
                }
                Next::Page(page) => {
                    if let Stored::Coded(codes) = &page.values
                        && codes.iter().any(|code| *code as usize >= dictionary.len())
                    {
                        return Err("is damaged: a value is not in the dictionary".into());
                    }
                    sink.page(field, page, &dictionary)?;
                }
            }
        }
    }
    Ok(())
}

/// Puts `values` where rows have one, and `missing` elsewhere.
fn spread<T: Copy>(out: &mut Vec<T>, page: &Page, missing: T, mut values: impl Iterator<Item = T>) {
    if page.present.is_empty() {
        return out.extend(values);
    }
    let cell = |level: &u32| if *level == 1 { values.next().unwrap_or(missing) } else { missing };
    out.extend(page.present[..page.rows].iter().map(cell));
}

/// A column of numbers.
struct Numbers {
    values: Vec<f64>,
    /// Whether some have more digits than a number keeps.
    has_codes: bool,
}

impl Sink for Numbers {
    fn dictionary(&mut self, field: &Field, values: &Values) -> Refused<()> {
        self.has_codes |= has_codes(field, values);
        Ok(())
    }

    fn page(&mut self, field: &Field, page: Page, dictionary: &Values) -> Refused<()> {
        let number = |values: &Values, at: usize| match values {
            Values::Ints(ints) => field.whole(ints[at]),
            Values::Numbers(numbers) => numbers[at],
            Values::Bytes(..) => f64::NAN,
        };
        match &page.values {
            Stored::Plain(values) => {
                self.has_codes |= has_codes(field, values);
                spread(&mut self.values, &page, f64::NAN, (0..values.len()).map(|at| number(values, at)));
            }
            Stored::Coded(codes) => {
                let values = codes.iter().map(|code| number(dictionary, *code as usize));
                spread(&mut self.values, &page, f64::NAN, values);
            }
        }
        Ok(())
    }
}

fn has_codes(field: &Field, values: &Values) -> bool {
    let Values::Ints(ints) = values else { return false };
    ints.iter().any(|value| match field.meaning {
        Meaning::Unsigned if field.physical == Physical::Int64 => *value as u64 >= EXACT,
        _ => value.unsigned_abs() >= EXACT,
    })
}

/// A column of texts.
struct Cells<'a> {
    field: &'a Field,
    texts: Texts,
    codes: Vec<u32>,
    /// The number of each text of the dictionary.
    dictionary: Vec<u32>,
}

impl Cells<'_> {
    fn add(&mut self, values: &Values) -> Refused<Vec<u32>> {
        let first = self.texts.len();
        for at in 0..values.len() {
            let text = text(self.field, values, at)?;
            self.texts.add(&text);
            if at % 4096 == 0 {
                has_memory(self.codes.len() as u64, self.texts.bytes())?;
            }
        }
        // The last number means a missing cell.
        if self.texts.len() >= MISSING_CODE as usize {
            return Err("has more texts than can be counted".into());
        }
        Ok((first as u32..self.texts.len() as u32).collect())
    }
}

impl Sink for Cells<'_> {
    fn dictionary(&mut self, _field: &Field, values: &Values) -> Refused<()> {
        self.dictionary = self.add(values)?;
        Ok(())
    }

    fn page(&mut self, _field: &Field, page: Page, _dictionary: &Values) -> Refused<()> {
        let codes = match &page.values {
            Stored::Plain(values) => self.add(values)?,
            Stored::Coded(codes) => codes.iter().map(|code| self.dictionary[*code as usize]).collect(),
        };
        spread(&mut self.codes, &page, MISSING_CODE, codes.into_iter());
        Ok(())
    }
}

/// A value as text; empty for a missing one.
fn text(field: &Field, values: &Values, at: usize) -> Refused<Vec<u8>> {
    let out_of_range =
        || Refusal::Unread(format!("holds the time {}, which is not in the years 0 to 9999", int(values, at)));
    let text = match (field.meaning, values) {
        (Meaning::Date, Values::Ints(ints)) => iso::date(ints[at]).ok_or_else(out_of_range)?,
        (Meaning::Time(unit), Values::Ints(ints)) => iso::time(ints[at].rem_euclid(iso::DAY_NS / unit) * unit),
        (Meaning::Moment(unit), Values::Ints(ints)) => iso::moment(ints[at], unit).ok_or_else(out_of_range)?,
        (Meaning::Decimal(scale), Values::Ints(ints)) => decimal(i128::from(ints[at]), scale),
        (Meaning::Decimal(scale), Values::Bytes(..)) => match wide(values.bytes(at)) {
            Some(value) => decimal(value, scale),
            None => return Err(Refusal::Unread("holds a decimal number of more than 128 bits".into())),
        },
        (Meaning::Unsigned, Values::Ints(ints)) => match field.physical {
            Physical::Int32 => (ints[at] as u32).to_string(),
            _ => (ints[at] as u64).to_string(),
        },
        (_, Values::Ints(ints)) if field.physical == Physical::Bool => (ints[at] == 1).to_string(),
        (_, Values::Ints(ints)) => ints[at].to_string(),
        (_, Values::Numbers(numbers)) if field.physical == Physical::Float => number(numbers[at] as f32).to_string(),
        (_, Values::Numbers(numbers)) => number_text(numbers[at]),
        (Meaning::Half, Values::Bytes(bytes, _)) => {
            number(half::f16::from_le_bytes([bytes[2 * at], bytes[2 * at + 1]]).to_f32()).to_string()
        }
        (Meaning::Uuid, Values::Bytes(..)) => uuid(values.bytes(at)),
        (_, Values::Bytes(..)) => {
            let bytes = values.bytes(at);
            if std::str::from_utf8(bytes).is_err() {
                return Err(Refusal::Unread("holds bytes that are not UTF-8 text".into()));
            }
            return Ok(bytes.to_vec());
        }
    };
    Ok(text.into_bytes())
}

fn int(values: &Values, at: usize) -> i64 {
    if let Values::Ints(ints) = values { ints[at] } else { 0 }
}

/// A whole number of at most 16 bytes, the highest first.
fn wide(bytes: &[u8]) -> Option<i128> {
    let sign = if bytes.first()? & 0x80 == 0 { 0 } else { -1 };
    (bytes.len() <= 16).then(|| bytes.iter().fold(sign, |value, byte| value << 8 | i128::from(*byte)))
}

/// 10^-scale of a whole number, with all its digits.
fn decimal(value: i128, scale: u32) -> String {
    // More than 38 digits do not fit in 128 bits; Parquet allows no larger scale.
    let scale = scale.min(38) as usize;
    let sign = if value < 0 { "-" } else { "" };
    let digits = format!("{:0>width$}", value.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let point = if scale == 0 { "" } else { "." };
    format!("{sign}{whole}{point}{fraction}")
}

fn uuid(bytes: &[u8]) -> String {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_keep_their_digits() {
        for (value, scale, expected) in [
            (1230, 2, "12.30"),
            (-5, 3, "-0.005"),
            (7, 0, "7"),
            (i128::MAX, 38, "1.70141183460469231731687303715884105727"),
        ] {
            assert_eq!(decimal(value, scale), expected);
        }
        assert_eq!([wide(&[0xff, 0xfe]), wide(&[1, 0]), wide(&[]), wide(&[0; 17])], [Some(-2), Some(256), None, None]);
    }
}
