//! Text to the nearest number. What people write is exact by one operation: 15 digits and a power of ten that is a number itself. The rest
//! is the platform's: in a browser the standard library's way would bring 10 KB of powers of ten that do not compress.

/// The number nearest to a decimal text, as `str::parse` reads it; also `inf`, `infinity` and `nan` in any case.
pub fn parse_number(text: &str) -> Option<f64> {
    let (is_negative, rest) = match text.as_bytes() {
        [b'-', ..] => (true, &text[1..]),
        [b'+', ..] => (false, &text[1..]),
        _ => (false, text),
    };
    let magnitude = named(rest).or_else(|| decimal(rest))?;
    Some(if is_negative { -magnitude } else { magnitude })
}

fn named(text: &str) -> Option<f64> {
    let is = |name: &str| text.eq_ignore_ascii_case(name);
    if is("inf") || is("infinity") {
        return Some(f64::INFINITY);
    }
    is("nan").then_some(f64::NAN)
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
    let (sign, digits) = match text.as_bytes() {
        [b'-', ..] => (-1, &text[1..]),
        [b'+', ..] => (1, &text[1..]),
        _ => (1, text),
    };
    let is_whole = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    let add = |value: i64, digit: u8| (10 * value + i64::from(digit - b'0')).min(1 << 40);
    is_whole.then(|| sign * digits.bytes().fold(0, add))
}

#[cfg(test)]
mod tests {
    use super::parse_number;

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
            let (got, wanted) = (parse_number(text), text.parse::<f64>().ok());
            assert_eq!(got.map(f64::to_bits), wanted.map(f64::to_bits), "{text}: {got:?}, wanted {wanted:?}");
        }
    }
}
