//! Names of columns that are no words: `[Time (s)]`, `"I [mA]"` or `` `flow rate` `` in a formula. Each becomes a letter and blanks, so that places
//! in the text stay the same; `a[set]` keeps its meaning.

use crate::error::{Error, Result, hint, listed};
use crate::program::parse::{is_letter, is_name, is_sign};

/// The first of the letters that stand for columns: ideographs that no one writes in formulas.
const FIRST: u32 = 0x2_0000;

/// A formula without quotes.
#[derive(Debug, PartialEq)]
pub(crate) struct Unquoted {
    pub text: String,
    /// Places of columns, each of which the letter of its place here stands for.
    stand_ins: Vec<usize>,
}

/// Takes the quotes out of a formula over a table with these columns.
pub(crate) fn unquoted(text: &str, columns: &[&str]) -> Result<Unquoted> {
    let mut reader = Reader { text, columns, out: String::new(), stand_ins: Vec::new() };
    reader.read()?;
    Ok(Unquoted { text: reader.out, stand_ins: reader.stand_ins })
}

/// A column as a formula names it.
pub(crate) fn quoted(column: &str) -> String {
    if is_plain(column) { column.to_owned() } else { format!("[{column}]") }
}

/// Whether a name is a word of formulas.
fn is_plain(name: &str) -> bool {
    is_name(name) && !name.contains('-') && name.starts_with(is_letter)
}

impl Unquoted {
    /// The names of the columns as the text has them.
    pub(crate) fn names(&self, columns: &[&str]) -> Vec<String> {
        let letter = |at: usize| self.stand_ins.iter().position(|&known| known == at).map(letter);
        (0..columns.len()).map(|at| letter(at).map_or_else(|| columns[at].to_owned(), String::from)).collect()
    }

    /// An error with the columns in place of the letters.
    pub(crate) fn explained(&self, error: Error, columns: &[&str]) -> Error {
        if self.stand_ins.is_empty() {
            return error;
        }
        let mut message = error.to_string();
        for (place, &at) in self.stand_ins.iter().enumerate() {
            let (letter, width) = (letter(place), columns[at].chars().count() + 1);
            let padded = format!("{letter}{}", " ".repeat(width));
            let shown = format!("[{}]", columns[at]);
            message = message.replace(&padded, &shown).replace(letter, columns[at]);
        }
        Error::new(message).with_kind(error.kind())
    }
}

fn letter(place: usize) -> char {
    char::from_u32(FIRST + place as u32).unwrap_or('\u{2fa1d}')
}

struct Reader<'t> {
    text: &'t str,
    columns: &'t [&'t str],
    out: String,
    stand_ins: Vec<usize>,
}

impl Reader<'_> {
    fn read(&mut self) -> Result<()> {
        let mut at = 0;
        // What comes before decides whether a bracket is a name or the levels of a parameter.
        let mut before = None;
        while let Some(c) = self.text[at..].chars().next() {
            let is_index = before.is_some_and(|c: char| is_letter(c) || c.is_ascii_digit() || "])\"`".contains(c));
            let end = match c {
                '[' if is_index => self.index(at)?,
                '"' | '`' | '[' => self.name(at)?,
                _ if is_letter(c) || is_sign(c) || c.is_ascii_digit() => self.word(at),
                _ => {
                    self.out.push(c);
                    at + c.len_utf8()
                }
            };
            before = self.text[at..end].chars().next_back().filter(|c| !c.is_whitespace()).or(before);
            at = end;
        }
        Ok(())
    }

    /// A run of letters, digits and signs, which may be a column such as q².
    fn word(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        let length = |is_part: fn(char) -> bool| rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let whole = length(|c| is_letter(c) || is_sign(c) || c.is_ascii_digit());
        if let Some(column) = self.column(&rest[..whole]).filter(|_| rest[..whole].contains(is_sign)) {
            self.stand_in(column, rest[..whole].chars().count());
            return at + whole;
        }
        let word = length(|c| is_letter(c) || c.is_ascii_digit());
        let word = if word == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { word };
        self.out += &rest[..word];
        at + word
    }

    /// A quoted name, of which the text has the end at the returned place.
    fn name(&mut self, at: usize) -> Result<usize> {
        let (opened, inside) = self.text[at..].split_at(1);
        let blank = inside.len() - inside.trim_start().len();
        let close = if opened == "[" { "]" } else { opened };
        // The longest column that fits, as its name may hold brackets.
        let fits = |column: &str| {
            let rest = inside[blank..].strip_prefix(column)?;
            let end = rest.trim_start().strip_prefix(close)?;
            Some(self.text.len() - end.len())
        };
        let found = self.columns.iter().enumerate().filter_map(|(place, column)| Some((place, fits(column)?)));
        if let Some((place, end)) = found.max_by_key(|(_, end)| *end) {
            self.stand_in(place, self.text[at..end].chars().count());
            return Ok(end);
        }
        let Some(length) = inside.find(close) else {
            return Err(Error::usage(format!(
                "model: {opened}: expected a closing {close} after the name of a column"
            )));
        };
        let (name, all) = (inside[..length].trim(), listed(self.columns));
        let near = hint(name, self.columns.iter().copied());
        Err(Error::usage(format!("model: {opened}{name}{close}: expected a column, one of {all}{near}")))
    }

    /// The levels of a parameter, whose names may be quoted or not.
    fn index(&mut self, at: usize) -> Result<usize> {
        self.out.push('[');
        let mut at = at + 1;
        while let Some(c) = self.text[at..].chars().next() {
            let rest = &self.text[at..];
            let bare = rest[..rest.find([',', ']']).unwrap_or(rest.len())].trim_end();
            if c == ']' {
                self.out.push(c);
                return Ok(at + 1);
            }
            if "\"`[".contains(c) {
                at = self.name(at)?;
            } else if let Some(column) = self.column(bare).filter(|_| !is_plain(bare)) {
                self.stand_in(column, bare.chars().count());
                at += bare.len();
            } else {
                let length = if bare.is_empty() { c.len_utf8() } else { bare.len() };
                self.out += &rest[..length];
                at += length;
            }
        }
        Ok(at)
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| *column == name)
    }

    /// Writes a column in so many characters.
    fn stand_in(&mut self, column: usize, width: usize) {
        let name = self.columns[column];
        if is_plain(name) {
            self.out += &format!("{name:width$}");
            return;
        }
        let place = self.stand_ins.iter().position(|&known| known == column).unwrap_or_else(|| {
            self.stand_ins.push(column);
            self.stand_ins.len() - 1
        });
        self.out.extend(std::iter::once(letter(place)).chain(std::iter::repeat_n(' ', width - 1)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [&str; 6] = ["Time (s)", "I [mA]", "x", "set no", "q²", "a]"];

    #[test]
    fn quotes_become_letters_and_blanks() {
        let cases = [
            ("a*[Time (s)]+b", "a*\u{20000}         +b"),
            ("a*\"I [mA]\"+[I [mA]]", "a*\u{20000}       +\u{20000}       "),
            ("a*`x`", "a*x  "),
            ("a[x]*2 + c [x]", "a[x]*2 + c [x]"),
            ("a[set no]+b[\"set no\", x]", "a[\u{20000}     ]+b[\u{20000}       , x]"),
            ("a*q²+x²", "a*\u{20000} +x²"),
            ("([a]])*2", "(\u{20000}   )*2"),
        ];
        for (text, expected) in cases {
            let found = unquoted(text, &COLUMNS).unwrap();
            assert_eq!(found.text, expected, "{text}");
            assert_eq!(found.text.chars().count(), text.chars().count(), "{text}");
        }
        assert_eq!(unquoted("a*[Time (s)]", &COLUMNS).unwrap().names(&COLUMNS)[..2], ["\u{20000}", "I [mA]"]);
        assert_eq!(["x", "x-y", "1st"].map(quoted), ["x", "[x-y]", "[1st]"]);
    }

    #[test]
    fn wrong_names_are_explained() {
        let error = |text: &str| unquoted(text, &["Time (s)", "y"]).unwrap_err().to_string();
        assert_eq!(
            error("a*[Tme (s)]"),
            "model: [Tme (s)]: expected a column, one of \"Time (s)\", \"y\"; did you mean \"Time (s)\"?"
        );
        assert_eq!(error("a*\"Time"), "model: \": expected a closing \" after the name of a column");
    }
}
