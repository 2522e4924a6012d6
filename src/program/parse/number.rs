//! Numbers in a formula.

use super::Parser;
use crate::error::Result;
use crate::program::Expr;

impl Parser<'_> {
    pub(super) fn number(&mut self) -> Result<Expr> {
        let begin = self.at;
        let bytes = self.text.as_bytes();
        let digits = |mut at: usize| {
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            at
        };
        let mut end = digits(begin);
        if bytes.get(end) == Some(&b'.') {
            end = digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let after = digits(end + 1 + sign);
            if after > end + 1 + sign {
                end = after;
            }
        }
        let text = &self.text[begin..end];
        self.at = end;
        let value = crate::host::parse_number(text);
        match value.filter(|value| value.is_finite()) {
            Some(value) => Ok(value.into()),
            None => Err(self.wrong(begin, &format!("invalid number \"{text}\""))),
        }
    }
}
