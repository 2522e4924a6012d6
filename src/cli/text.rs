//! Figures and columns for people.

/// Four significant digits, or a power of ten where that is shorter.
pub(super) fn figure(value: f64) -> String {
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

/// `1234567` as `1,234,567`.
pub(super) fn count(value: u64) -> String {
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

/// `12.3 MB`; powers of a thousand.
pub(super) fn bytes(value: u64) -> String {
    scaled(value as f64, &["B", "kB", "MB", "GB", "TB"])
}

/// `13.1 M`: a count of operations.
pub(super) fn scaled_count(value: f64) -> String {
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

/// `4 ms`, `1.25 s`, `3 min 5 s`.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        _ if seconds < 0.9995 => format!("{:.0} ms", seconds * 1e3),
        _ if seconds < 120.0 => format!("{seconds:.2} s"),
        _ => format!("{} min {:.0} s", (seconds / 60.0).floor(), seconds % 60.0),
    }
}

/// Rows of cells under a head, the first column to the left, the others to the right, indented by two.
pub(super) fn grid(head: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([head[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let padded = cells.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
            0 => format!("  {cell:<width$}"),
            _ => format!("  {cell:>width$}"),
        });
        padded.collect::<String>().trim_end().to_owned()
    };
    let body = rows.iter().map(|row| line(row.iter().map(String::as_str).collect()));
    [line(head.to_vec())].into_iter().chain(body).collect::<Vec<_>>().join("\n")
}

/// Lines of a name and what is said of it, the names in one column.
pub(super) fn facts(lines: &[(&str, String)]) -> String {
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let line = |(name, what): &(&str, String)| format!("  {name:<width$}  {what}");
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// At most `width` characters, the last of them an ellipsis where some are left out.
pub(super) fn short(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
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
        for (value, wanted) in cases {
            assert_eq!(figure(value), wanted);
        }
        assert_eq!([count(7), count(1234), count(1234567)], ["7", "1,234", "1,234,567"]);
        assert_eq!([bytes(12), bytes(12_345), bytes(999_999)], ["12 B", "12.3 kB", "1.0 MB"]);
        assert_eq!([duration(0.0042), duration(1.254), duration(125.0)], ["4 ms", "1.25 s", "2 min 5 s"]);
    }

    #[test]
    fn columns_line_up() {
        let rows = [vec!["a".into(), "1".into()], vec!["long".into(), "22".into()]];
        assert_eq!(grid(&["", "x"], &rows), "         x\n  a      1\n  long  22");
        assert_eq!(facts(&[("a", "b".into()), ("long", "c".into())]), "  a     b\n  long  c");
        assert_eq!([short("abc", 3), short("abcd", 3)], ["abc", "ab…"]);
    }
}
