//! Text to the nearest number, and a number to the shortest text. What people write is exact by one operation: 15 digits and a power of ten
//! that is a number itself. The rest is the platform's: in a browser the standard library's ways would bring 10 KB of powers of ten that do
//! not compress, and as many of two ways to find digits.

use std::fmt;

/// The number nearest to a decimal text, as `str::parse` reads it; also `inf`, `infinity` and `nan` in any case.
pub fn parse_number(text: &str) -> Option<f64> {
    if super::PARSES_NUMBERS { own_number(text) } else { text.parse().ok() }
}

/// The same without the standard library's parser, which a browser build leaves out.
fn own_number(text: &str) -> Option<f64> {
    let (is_negative, rest) = signed(text);
    let magnitude = named(rest).or_else(|| decimal(rest))?;
    Some(if is_negative { -magnitude } else { magnitude })
}

/// Whether a text has a minus, and what is behind its sign.
fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

fn named(text: &str) -> Option<f64> {
    let is = |name: &str| text.eq_ignore_ascii_case(name);
    if is("inf") || is("infinity") {
        return Some(f64::INFINITY);
    }
    is("nan").then_some(f64::NAN)
}

/// Whole numbers below 10^15 and such with a point, in one pass, which is what most cells hold: up to 15 digits are exact, and so are powers of
/// ten up to 22. `None` if the text is another one.
#[inline]
pub fn parse_plain(text: &[u8]) -> Option<f64> {
    let (is_negative, rest) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    if rest.is_empty() || rest.len() > 16 {
        return None;
    }
    let (mut value, mut digits, mut point) = (0_u64, 0, None);
    for &byte in rest {
        if byte.is_ascii_digit() {
            value = 10 * value + u64::from(byte - b'0');
            digits += 1;
        } else if byte == b'.' && point.is_none() {
            point = Some(digits);
        } else {
            return None;
        }
    }
    let value = match point {
        _ if digits == 0 || digits > 15 => return None,
        Some(point) => value as f64 / POWERS[digits - point],
        None => value as f64,
    };
    Some(if is_negative { -value } else { value })
}

/// 10 to these powers is exact.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// digits [. digits] [e [sign] digits], with a digit before or after the point.
fn decimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, whole(exponent)?),
        None => (text, 0),
    };
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits = before.bytes().chain(after.bytes());
    if before.len() + after.len() == 0 || !digits.clone().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let exponent = exponent.saturating_sub(after.len() as i64);
    let value = digits.try_fold(0_u64, |value, digit| {
        value.checked_mul(10).map(|value| value + u64::from(digit - b'0')).filter(|value| *value <= 1 << 53)
    });
    // An exponent may be wider than an address in a browser.
    let power = usize::try_from(exponent.unsigned_abs()).ok().and_then(|at| POWERS.get(at));
    // One rounding of two exact numbers is the nearest (Clinger, "How to read floating point numbers accurately", 1990).
    match (value, power) {
        (Some(value), Some(power)) if exponent < 0 => Some(value as f64 / power),
        (Some(value), Some(power)) => Some(value as f64 * power),
        _ => Some(super::nearest_number(text)),
    }
}

/// A whole number; beyond what is of use it stays there.
fn whole(text: &str) -> Option<i64> {
    let (is_negative, digits) = signed(text);
    let is_whole = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    let add = |value: i64, digit: u8| (10 * value + i64::from(digit - b'0')).min(1 << 40);
    let magnitude = is_whole.then(|| digits.bytes().fold(0, add))?;
    Some(if is_negative { -magnitude } else { magnitude })
}

/// A number for a message or a file, in the letters that the standard library gives it for `{}`, `{:?}` and `{:e}`: the fewest digits that
/// read back as the same number, of those the nearest, of two as near the larger.
#[derive(Clone, Copy)]
pub struct Number {
    value: f64,
    is_single: bool,
}

/// `value`, an f32 or an f64, as text: `format!("{}", number(0.1_f32))`.
pub fn number(value: impl Into<Number>) -> Number {
    value.into()
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self { value, is_single: false }
    }
}

impl From<f32> for Number {
    fn from(value: f32) -> Self {
        Self { value: f64::from(value), is_single: true }
    }
}

/// How a number is written.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// All digits before the point: `0.00001`, `1`.
    Plain,
    /// A point or an exponent: `1e-5`, `1.0`.
    Marked,
    /// One digit before the point: `1e-5`, `1e0`.
    Exponential,
}

impl Number {
    fn write(self, form: Form, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.value.is_nan() {
            return out.write_str("NaN");
        }
        if self.value.is_sign_negative() {
            out.write_str("-")?;
        }
        if self.value.is_infinite() {
            return out.write_str("inf");
        }
        let text = super::shortest(self.value.abs(), self.is_single);
        let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
        let power = whole(power).unwrap_or(0);
        let is_far = self.value != 0.0 && !(-4..16).contains(&power);
        if form == Form::Exponential || form == Form::Marked && is_far {
            return write!(out, "{mantissa}e{power}");
        }
        let digits: String = mantissa.chars().filter(|digit| *digit != '.').collect();
        let before = 1 + power.unsigned_abs() as usize;
        if power < 0 {
            return write!(out, "0.{digits:0>width$}", width = digits.len() + before - 2);
        }
        let digits = format!("{digits:0<before$}");
        match digits.split_at_checked(before).unwrap_or((&digits, "")) {
            (whole, "") if form == Form::Plain => out.write_str(whole),
            (whole, "") => write!(out, "{whole}.0"),
            (whole, rest) => write!(out, "{whole}.{rest}"),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(Form::Plain, f)
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(Form::Marked, f)
    }
}

impl fmt::LowerExp for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(Form::Exponential, f)
    }
}

/// Bits of numbers whose texts are easily got wrong, with the texts: powers of two, whose neighbours below are nearer than those above, and
/// numbers right between two shortest texts. For tests here and in a browser.
pub const SINGLES: [(u32, &str); 12] = [
    (0x3dcc_cccd, "0.1"),
    (0xbdcc_cccd, "-0.1"),
    (0x8000_0000, "-0.0"),
    (0x38d1_b717, "0.0001"),
    (0x38d1_b716, "9.999999e-5"),
    (0x5a0e_1bca, "1e16"),
    (0x0f80_0000, "1.2621775e-29"),
    (0x6c80_0000, "1.2379401e27"),
    (0x4360_6400, "224.39063"),
    (0x4b80_0000, "16777216.0"),
    (0x0000_0001, "1e-45"),
    (0x7f7f_ffff, "3.4028235e38"),
];

/// The same of 64 bits.
pub const DOUBLES: [(u64, &str); 10] = [
    (0x3fb9_9999_9999_999a, "0.1"),
    (0x3fd5_5555_5555_5555, "0.3333333333333333"),
    (0x4340_0000_0000_0000, "9007199254740992.0"),
    (0x4341_c379_37e0_8000, "1e16"),
    (0x444b_1ae4_d6e2_ef50, "1e21"),
    (0x3e60_0000_0000_0000, "2.9802322387695313e-8"),
    (0x42f0_0000_0000_0001, "281474976710656.06"),
    (0x3f1a_36e2_eb1c_432d, "0.0001"),
    (0x0000_0000_0000_0001, "5e-324"),
    (0x7fef_ffff_ffff_ffff, "1.7976931348623157e308"),
];

/// `12.3 GiB`, or MiB below one.
pub fn gib(bytes: u64) -> String {
    let mib = bytes as f64 / f64::from(1 << 20);
    if mib < 1.0 {
        return format!("{} KiB", bytes.div_ceil(1024));
    }
    if mib < 1024.0 { format!("{mib:.0} MiB") } else { format!("{:.1} GiB", mib / 1024.0) }
}

#[cfg(test)]
mod tests {
    use super::{DOUBLES, SINGLES, number, own_number, parse_plain};

    #[test]
    fn plain_numbers_are_those_of_the_standard_library() {
        for text in [
            "0",
            "-0",
            "1",
            "-1.5",
            "0.1",
            ".5",
            "5.",
            "123456789012345",
            "12345678901234.5",
            "-0.00000000001",
            "999999.999999",
        ] {
            let expected: f64 = text.parse().unwrap();
            assert_eq!(parse_plain(text.as_bytes()).map(f64::to_bits), Some(expected.to_bits()), "{text}");
        }
        for text in ["", "-", ".", "-.", "1.2.3", "1e5", "+1", "--1", "1234567890123456", "inf", "1 "] {
            assert_eq!(parse_plain(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn it_writes_what_the_standard_library_writes() {
        for (bits, text) in SINGLES {
            assert_eq!(format!("{:?}", number(f32::from_bits(bits))), text);
        }
        for (bits, text) in DOUBLES {
            assert_eq!(format!("{:?}", number(f64::from_bits(bits))), text);
        }
        let singles =
            (0..=u32::MAX >> 15).map(|at| f32::from_bits(at << 15 | at)).chain(SINGLES.map(|(x, _)| f32::from_bits(x)));
        for x in singles {
            let [got, expected] = [format!("{0} {0:?} {0:e}", number(x)), format!("{x} {x:?} {x:e}")];
            assert_eq!(got, expected, "{:#x}", x.to_bits());
        }
        let doubles = (0..=u64::MAX >> 47)
            .map(|at| f64::from_bits((at << 47) | (at * at)))
            .chain(DOUBLES.map(|(x, _)| f64::from_bits(x)));
        for x in doubles {
            let [got, expected] = [format!("{0} {0:?} {0:e}", number(x)), format!("{x} {x:?} {x:e}")];
            assert_eq!(got, expected, "{:#x}", x.to_bits());
        }
    }

    #[test]
    fn it_reads_what_the_standard_library_reads() {
        let texts = [
            "0",
            "-0",
            "1",
            "+1",
            ".5",
            "5.",
            "1.5",
            "-1.5e3",
            "1e-3",
            "1E+3",
            "0.1",
            "123456789012345",
            "9007199254740993",
            "1e22",
            "1e23",
            "1e-22",
            "1e-23",
            "1.7976931348623157e308",
            "1e309",
            "-1e309",
            "4.9e-324",
            "2e-324",
            "0e999999999999999999999",
            "1e4294967296",
            "1e1099511627776",
            "inf",
            "-Infinity",
            "NaN",
            "3.141592653589793238462643",
            "0.000000000000000000000000001",
            "",
            ".",
            "-",
            "e5",
            "1e",
            "1e+",
            "1.2.3",
            "1 ",
            " 1",
            "0x10",
            "1_000",
            "--1",
            "+-1",
            "1,5",
            "infinit",
            "é",
            "1e5.5",
        ];
        for text in texts {
            let (got, expected) = (own_number(text), text.parse::<f64>().ok());
            assert_eq!(got.map(f64::to_bits), expected.map(f64::to_bits), "{text}: {got:?}, expected {expected:?}");
        }
    }
}
