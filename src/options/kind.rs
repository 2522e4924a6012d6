//! Types of options: what values each accepts, in a caller's words.

use super::{Naming, Value};
use crate::error::{Error, Result, hint, listed, similar};
use crate::host::parse_number;

/// The finite numbers that an option accepts.
#[derive(Clone, Copy, Debug)]
pub enum Range {
    /// x > 0.
    Positive,
    /// x ≥ 0.
    NotNegative,
    /// 0 ≤ x < 1.
    Share,
    /// 0 ≤ x ≤ 1.
    Unit,
    /// 0 < x < 1.
    Probability,
    /// The numbers of a constant.
    Of {
        /// Whether a number is one of them.
        is_valid: fn(f32) -> bool,
        /// The numbers, in words.
        expected: &'static str,
    },
}

impl Range {
    fn contains(self, x: f64) -> bool {
        match self {
            Self::Positive => x.is_finite() && x > 0.0,
            Self::NotNegative => x.is_finite() && x >= 0.0,
            Self::Share => (0.0..1.0).contains(&x),
            Self::Unit => (0.0..=1.0).contains(&x),
            Self::Probability => x > 0.0 && x < 1.0,
            Self::Of { is_valid, .. } => is_valid(x as f32),
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Self::Positive => "a finite number above 0",
            Self::NotNegative => "a finite number of at least 0",
            Self::Share => "a number of at least 0 and less than 1",
            Self::Unit => "a number from 0 to 1",
            Self::Probability => "a probability between 0 and 1",
            Self::Of { expected, .. } => expected,
        }
    }

    /// The range in symbols.
    pub(super) fn symbols(self) -> &'static str {
        match self {
            Self::Positive => "number > 0",
            Self::NotNegative => "number ≥ 0",
            Self::Share => "number in [0, 1)",
            Self::Unit => "number in [0, 1]",
            Self::Probability => "number in (0, 1)",
            Self::Of { expected, .. } => expected,
        }
    }
}

/// The names of built-ins, each with one line about it.
pub type Names = fn() -> Vec<(&'static str, &'static str)>;

/// Type and range of an option.
pub enum Kind {
    /// true or false; on the command line a flag without a value.
    Flag,
    /// true, unless it is switched off; on the command line a flag `--no-NAME`, whose help is "Do not" and its doc, which begins with a verb.
    Switch,
    /// A number that is used in single precision.
    Number(Range),
    /// A number that is used in double precision.
    Double(Range),
    /// A whole number from `least` to `most`, which is at most 2^53.
    Whole {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// One of these names.
    Name(Names),
    /// One of these names, or a formula.
    Formula(Names),
    /// A string; what it is, for messages and help.
    Text(&'static str),
    /// A list of strings.
    Texts,
    /// A list of whole numbers above 0; if `length` is given, of so many of at least 0.
    Wholes {
        /// The number of items.
        length: Option<usize>,
    },
    /// Named values: an object in JavaScript, `NAME=VALUE` as often as needed on the command line.
    Fields {
        /// The names, if not any name will do.
        names: Option<Names>,
        /// Whether values may be numbers; else they are strings.
        has_numbers: bool,
        /// A field as an example: its name, its value.
        example: [&'static str; 2],
    },
    /// Numbers by name: `{ a: 1 }` in JavaScript, `a=1,b=0.1` on the command line.
    Numbers,
    /// Ranges by name, whose ends may be open: `{ a: [0, 10], b: [null, 5] }` in JavaScript, `a=0:10,b=:5` on the command line.
    Ranges,
}

/// Whole numbers up to this are exact in JavaScript.
pub(super) const MOST_EXACT: u64 = 1 << 53;

impl Kind {
    /// A whole number of at least `least` that fits 32 bits.
    pub const fn whole(least: u64) -> Self {
        Self::Whole { least, most: u32::MAX as u64 }
    }

    /// A whole number that is exact in every face.
    pub const EXACT: Self = Self::Whole { least: 0, most: MOST_EXACT };

    /// Refuses a value of another type or out of range. `name` is the option as the message shows it.
    pub fn check(&self, value: &Value, name: &str, naming: Naming) -> Result<()> {
        let refused = |place: &str, value: &Value, expected: String| {
            Err(Error::usage(format!("{name}{place}: got {}, expected {expected}", value.shown())))
        };
        match (self, value) {
            (Self::Flag | Self::Switch, Value::Flag(_)) | (Self::Formula(_) | Self::Text(_), Value::Text(_)) => Ok(()),
            (Self::Double(range), Value::Number(x)) if range.contains(*x) => Ok(()),
            (Self::Number(range), Value::Number(x)) if range.contains(*x) => {
                // 1e-300 is 0 in single precision.
                if range.contains(f64::from(*x as f32)) {
                    Ok(())
                } else {
                    refused("", value, format!("{} in single precision", range.expected()))
                }
            }
            (Self::Whole { least, most }, Value::Number(x)) if is_whole(*x, *least, *most) => Ok(()),
            (Self::Name(names), Value::Text(text)) => {
                let names: Vec<&str> = names().into_iter().map(|(name, _)| name).collect();
                if names.contains(&text.as_str()) {
                    return Ok(());
                }
                let near = hint(text, names.iter().copied());
                refused("", value, format!("{}{near}", self.expected(naming)))
            }
            (Self::Texts, Value::List(items)) => match items.iter().position(|item| !matches!(item, Value::Text(_))) {
                Some(at) => refused(&format!("[{at}]"), &items[at], "a string".into()),
                None => Ok(()),
            },
            (Self::Wholes { length }, Value::List(items)) => {
                if length.is_some_and(|length| length != items.len()) {
                    let (got, expected) = (items.len(), self.expected(naming));
                    let plural = if got == 1 { "" } else { "s" };
                    return Err(Error::usage(format!("{name}: got {got} value{plural}, expected {expected}")));
                }
                let (least, most) = (u64::from(length.is_none()), u64::from(u32::MAX));
                let is_item = |item: &Value| matches!(item, Value::Number(x) if is_whole(*x, least, most));
                match items.iter().position(|item| !is_item(item)) {
                    Some(at) => refused(&format!("[{at}]"), &items[at], Self::Whole { least, most }.expected(naming)),
                    None => Ok(()),
                }
            }
            (Self::Fields { names, has_numbers, .. }, Value::Fields(fields)) => {
                for (field, value) in fields {
                    check_field(name, field, *names)?;
                    let is_fine = matches!(value, Value::Text(_)) || *has_numbers && matches!(value, Value::Number(_));
                    if !is_fine {
                        let expected = if *has_numbers { "a number or a string" } else { "a string" };
                        return refused(&format!(".{field}"), value, expected.into());
                    }
                }
                Ok(())
            }
            (Self::Numbers | Self::Ranges, Value::Fields(fields)) => {
                let is_fine = |value: &Value| match (self, value) {
                    (Self::Numbers, Value::Number(_)) => true,
                    (Self::Ranges, Value::List(ends)) => ends.len() == 2 && ends.iter().all(Value::is_end),
                    _ => false,
                };
                for (at, (field, value)) in fields.iter().enumerate() {
                    if fields[..at].iter().any(|(other, _)| other == field) {
                        return Err(Error::usage(format!("{name}: \"{field}\" is given twice")));
                    }
                    if !is_fine(value) {
                        let expected = match (self, naming) {
                            (Self::Numbers, _) => "a number",
                            (_, Naming::Command) => "low:high, such as 0:10, 0: or :10",
                            (_, Naming::Rust) => "[low, high], such as [0, 10] or [0, inf]",
                            _ => "[low, high], such as [0, 10] or [0, null]",
                        };
                        return refused(&format!(": {field}"), value, expected.into());
                    }
                }
                Ok(())
            }
            _ => refused("", value, self.expected(naming)),
        }
    }

    /// What is accepted, for messages.
    fn expected(&self, naming: Naming) -> String {
        let is_command = naming == Naming::Command;
        match self {
            Self::Flag | Self::Switch => "true or false".into(),
            Self::Number(range) | Self::Double(range) => range.expected().into(),
            Self::Whole { least, most } => format!("a whole number from {least} to {most}"),
            Self::Name(names) => {
                format!("one of {}", listed(&names().into_iter().map(|(name, _)| name).collect::<Vec<_>>()))
            }
            Self::Formula(_) => "a name or a formula as a string".into(),
            Self::Text(what) => format!("{what} as a string"),
            Self::Texts => "an array of strings".into(),
            Self::Wholes { length: Some(length) } if is_command => format!("{length} whole numbers such as 3,2"),
            Self::Wholes { length: Some(length) } => format!("an array of {length} whole numbers"),
            Self::Wholes { .. } if is_command => "positive whole numbers such as 64,64, or none".into(),
            Self::Wholes { .. } => "an array of whole numbers".into(),
            Self::Fields { example: [name, value], .. } if is_command => format!("{name}={value}"),
            Self::Fields { example: [name, value], has_numbers: true, .. } => {
                format!("an object such as {{ {name}: {value} }}")
            }
            Self::Fields { example: [name, value], .. } => format!("an object such as {{ {name}: \"{value}\" }}"),
            Self::Numbers if is_command => "name=value, such as a=1,b=0.1".into(),
            Self::Ranges if is_command => "name=low:high, such as a=0:10,b=:5".into(),
            Self::Numbers => "an object of numbers by name".into(),
            Self::Ranges => "an object of ranges by name, such as { a: [0, 10], b: [null, 5] }".into(),
        }
    }

    /// The value that `text` gives on the command line. What cannot be read stays text, which `check` refuses.
    pub fn parse(&self, text: &str) -> Value {
        let number = |text: &str| parse_number(text.trim()).map_or_else(|| Value::Text(text.into()), Value::Number);
        match self {
            Self::Flag => Value::Flag(true),
            Self::Switch => Value::Flag(false),
            Self::Number(_) | Self::Double(_) | Self::Whole { .. } => number(text),
            Self::Name(_) | Self::Formula(_) | Self::Text(_) => Value::Text(text.into()),
            Self::Texts => Value::List(names(text).into_iter().map(Value::Text).collect()),
            Self::Wholes { .. } if text == "none" => Value::List(Vec::new()),
            Self::Wholes { .. } => {
                let items: Vec<Value> = text.split(',').map(number).collect();
                let is_list = items.iter().all(|item| matches!(item, Value::Number(_)));
                if is_list { Value::List(items) } else { Value::Text(text.into()) }
            }
            Self::Fields { has_numbers, .. } => match text.split_once('=') {
                Some((name, value)) => {
                    let value = if *has_numbers { number(value) } else { Value::Text(value.into()) };
                    Value::Fields(vec![(name.into(), value)])
                }
                None => Value::Text(text.into()),
            },
            Self::Numbers => pairs(text, &number),
            Self::Ranges => pairs(text, &|range| match range.split_once(':') {
                Some((low, high)) => Value::List(vec![end(low, f64::NEG_INFINITY), end(high, f64::INFINITY)]),
                None => Value::Text(range.into()),
            }),
        }
    }
}

/// `a=1,b=2` as fields, whose values `value` reads. What has no name stays text.
fn pairs(text: &str, value: &dyn Fn(&str) -> Value) -> Value {
    let pair = |pair: &str| {
        let (name, text) = pair.split_once('=').map(|(name, text)| (name.trim(), text.trim()))?;
        (!name.is_empty() && !text.is_empty()).then(|| (name.to_owned(), value(text)))
    };
    let all: Option<Vec<_>> = text.split(',').map(pair).collect();
    all.map_or_else(|| Value::Text(text.into()), Value::Fields)
}

/// An end of a range; without a text it is open.
fn end(text: &str, open: f64) -> Value {
    let text = text.trim();
    if text.is_empty() {
        return Value::Number(open);
    }
    parse_number(text).map_or_else(|| Value::Text(text.into()), Value::Number)
}

fn check_field(name: &str, field: &str, names: Option<Names>) -> Result<()> {
    let Some(names) = names else { return Ok(()) };
    let names: Vec<&str> = names().into_iter().map(|(name, _)| name).collect();
    if names.contains(&field) {
        return Ok(());
    }
    let hint = similar(field, names.iter().copied());
    let hint =
        hint.map_or_else(|| format!("expected one of {}", listed(&names)), |near| format!("did you mean \"{near}\"?"));
    Err(Error::usage(format!("{name}: \"{field}\" is unknown: {hint}")))
}

fn is_whole(x: f64, least: u64, most: u64) -> bool {
    x.fract() == 0.0 && x >= least as f64 && x <= most as f64
}

/// Names separated by commas; one in double quotes may hold commas, and a doubled quote is a quote.
pub fn names(text: &str) -> Vec<String> {
    let (mut all, mut name, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.next_if_eq(&'"').is_some() => name.push('"'),
            '"' if is_quoted || name.is_empty() => is_quoted = !is_quoted,
            ',' if !is_quoted => all.push(std::mem::take(&mut name)),
            _ => name.push(letter),
        }
    }
    all.push(name);
    all
}
