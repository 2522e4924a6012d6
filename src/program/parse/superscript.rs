//! Exponents of superscript digits.

use super::Parser;
use crate::error::Result;
use crate::program::Expr;

/// Digits as exponents, in their order.
const SUPERSCRIPTS: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹";

impl Parser<'_> {
    /// An exponent of superscript digits, such as ⁻¹, if it comes next.
    pub(super) fn superscript(&mut self) -> Result<Option<Expr>> {
        let begin = self.at;
        let plain = |c: char| match c {
            '⁻' => Some('-'),
            '⁺' => Some('+'),
            _ => SUPERSCRIPTS.chars().zip('0'..='9').find(|(one, _)| *one == c).map(|(_, digit)| digit),
        };
        let text: String = self.rest().chars().map_while(plain).collect();
        self.at += self.rest().chars().take(text.chars().count()).map(char::len_utf8).sum::<usize>();
        if text.is_empty() {
            return Ok(None);
        }
        match text.trim_start_matches('+').parse::<i32>() {
            Ok(exponent) => Ok(Some(f64::from(exponent).into())),
            Err(_) => Err(self.wrong(begin, "expected a whole number as the exponent, such as x² or x⁻¹")),
        }
    }
}
