//! Numbers as people read them.

/// Four significant digits in plain letters, or a power of ten where that is shorter: `0.9986`, `2.500e-7`.
pub fn figure(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    if !(1e-3..1e6).contains(&size) {
        return format!("{value:.3e}");
    }
    let decimals = 3 - (size.log10().floor() as i32);
    format!("{value:.*}", decimals.max(0) as usize)
}

/// Three significant digits as in print: `0.00477`, `−3.59·10⁻⁴`; `–` if the value is not finite.
pub fn typeset(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return "–".into();
    }
    if value == 0.0 {
        return "0".into();
    }
    if !(1e-3..1e5).contains(&size) {
        return scientific(value, 2);
    }
    with_minus(&format!("{value:.*}", (2 - size.log10().floor() as i32).max(0) as usize))
}

/// `−3.59·10⁻⁴`: a number between 1 and 10 with so many decimals, times a power of ten.
pub(super) fn scientific(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$e}");
    let (lead, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{}·{}", with_minus(lead), power(exponent.parse().unwrap_or(0)))
}

/// `10⁻⁴`.
pub(super) fn power(exponent: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raised = |letter: char| letter.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize]);
    format!("10{}", exponent.to_string().chars().map(raised).collect::<String>())
}

/// A number's text with a minus sign in place of the hyphen.
pub(super) fn with_minus(text: &str) -> String {
    text.replace('-', "−")
}

/// `1234567` as `1,234,567`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 row`, `1,234 rows`.
pub fn counted(value: usize, noun: &str) -> String {
    format!("{} {noun}{}", count(value as u64), if value == 1 { "" } else { "s" })
}

/// `12.3 MB`: decimal units.
pub fn bytes(value: u64) -> String {
    scaled(value as f64, &["B", "kB", "MB", "GB", "TB"])
}

/// `16 KiB`: binary units, for limits; one byte less than a power of 1024 is shown as that power.
pub fn binary(value: u64) -> String {
    let unit = (value.saturating_add(1).ilog2() / 10).min(3);
    let count = (value as f64 / 1024_f64.powi(unit as i32)).round();
    format!("{count} {}", ["B", "KiB", "MiB", "GiB"][unit as usize])
}

/// `13.1 M`: a large count.
pub fn scaled_count(value: f64) -> String {
    scaled(value, &["", "k", "M", "G", "T", "P"]).trim_end().to_owned()
}

fn scaled(mut value: f64, units: &[&str]) -> String {
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    let decimals = usize::from(unit > 0 && value < 99.95);
    format!("{value:.decimals$} {}", units[unit])
}

/// `4.20 ms`, `250 ms`, `1.25 s`, `3 min 5 s`.
pub fn duration(seconds: f64) -> String {
    match seconds {
        _ if seconds < 0.00995 => format!("{:.2} ms", seconds * 1e3),
        _ if seconds < 0.9995 => format!("{:.0} ms", seconds * 1e3),
        _ if seconds < 120.0 => format!("{seconds:.2} s"),
        _ => format!("{} min {:.0} s", (seconds / 60.0).floor(), seconds % 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures() {
        let cases = [
            (0.0, "0"),
            (0.99862, "0.9986"),
            (-12.3456, "-12.35"),
            (123456.7, "123457"),
            (2.5e-7, "2.500e-7"),
            (1e9, "1.000e9"),
            (f64::NAN, "NaN"),
        ];
        for (value, expected) in cases {
            assert_eq!(figure(value), expected);
        }
        assert_eq!([count(7), count(1234), count(1234567)], ["7", "1,234", "1,234,567"]);
        assert_eq!([bytes(12), bytes(12_345), bytes(999_999)], ["12 B", "12.3 kB", "1.0 MB"]);
        assert_eq!([binary(16 << 10), binary(u64::from(u32::MAX)), binary(0)], ["16 KiB", "4 GiB", "0 B"]);
        assert_eq!([duration(0.0042), duration(1.254), duration(125.0)], ["4.20 ms", "1.25 s", "2 min 5 s"]);
    }

    #[test]
    fn print_has_minus_signs_and_powers() {
        let cases = [
            (0.0, "0"),
            (0.004771, "0.00477"),
            (-12.3456, "−12.3"),
            (-3.59e-4, "−3.59·10⁻⁴"),
            (9.999e-4, "1.00·10⁻³"),
            (2e12, "2.00·10¹²"),
            (f64::INFINITY, "–"),
        ];
        for (value, expected) in cases {
            assert_eq!(typeset(value), expected);
        }
    }
}
