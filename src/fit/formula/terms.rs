//! The summands of a formula: `gaussian(x) + line(x)` has two.

/// Assignments before the sum, and the summands from the last statement of a text, each with its sign.
pub(crate) fn summands(text: &str) -> (&str, Vec<(f64, &str)>) {
    let start = text.trim_end_matches([';', '\n', ' ']).rfind([';', '\n']).map_or(0, |end| end + 1);
    let (before, sum) = text.split_at(start);
    let (mut all, mut depth, mut from, mut sign) = (Vec::new(), 0, 0, 1.0);
    let mut last = None;
    for (at, c) in sum.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '+' | '-' | '−' if depth == 0 && ends_term(&sum[from..at], last) => {
                all.push((sign, sum[from..at].trim()));
                (from, sign) = (at + c.len_utf8(), if c == '+' { 1.0 } else { -1.0 });
            }
            _ => {}
        }
        if !c.is_whitespace() {
            last = Some(c);
        }
    }
    all.push((sign, sum[from..].trim_end_matches([';', '\n', ' ']).trim()));
    (before, all)
}

/// Whether a + or - after this text begins another summand, rather than being a sign of what follows or part of a number such as 1e-3.
fn ends_term(text: &str, last: Option<char>) -> bool {
    let Some(last) = last.filter(|_| !text.trim().is_empty()) else { return false };
    let is_exponent = text.ends_with(['e', 'E']) && {
        let word = text.rsplit(|c: char| !(c.is_alphanumeric() || c == '.' || c == '_')).next().unwrap_or("");
        word.starts_with(|c: char| c.is_ascii_digit() || c == '.')
    };
    !is_exponent && !"*/^+-−·×÷<>=&|".contains(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summands_are_found() {
        type Case = (&'static str, &'static str, &'static [(f64, &'static str)]);
        let cases: [Case; 5] = [
            ("gaussian(x) + line(x)", "", &[(1.0, "gaussian(x)"), (1.0, "line(x)")]),
            ("k=2*b; a*exp(-k*x) - c + 1e-3", "k=2*b;", &[(1.0, "a*exp(-k*x)"), (-1.0, "c"), (1.0, "1e-3")]),
            ("-a*x^-2 + b", "", &[(1.0, "-a*x^-2"), (1.0, "b")]),
            ("a[x-y]*(b+c)", "", &[(1.0, "a[x-y]*(b+c)")]),
            ("tone-1;", "", &[(1.0, "tone"), (-1.0, "1")]),
        ];
        for (text, before, expected) in cases {
            assert_eq!(summands(text), (before, expected.to_vec()), "{text}");
        }
    }
}
