//! Detects numbers written with commas, such as 1,5 or 1.234,5 or 1,234,567, which would otherwise become unordered categories.

use crate::host;

/// Whether a text is a number with commas: one comma, or several with at least three digits after each.
pub(crate) fn is_number(text: &str) -> bool {
    let (mut digits, mut commas, mut behind, mut is_grouped) = (String::new(), 0, 0, true);
    for letter in text.chars() {
        if letter == ',' {
            is_grouped &= commas == 0 || behind >= 3;
            (commas, behind) = (commas + 1, 0);
        } else {
            behind += 1;
            digits.push(letter);
        }
    }
    commas > 0 && (commas == 1 || is_grouped && behind >= 3) && is_finite(&digits)
}

pub(crate) fn is_finite(text: &str) -> bool {
    host::parse_number(text).is_some_and(f64::is_finite)
}
