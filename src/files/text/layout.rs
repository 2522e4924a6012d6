//! How the lines of a file are laid out: what is before the table, which lines belong to it, and how its bytes are text.

use crate::error::{Error, Result, unknown_name};
use crate::record;

/// Encodings by name, each with what it is.
pub const ENCODINGS: [(&str, &str); 6] = [
    ("utf-8", "Unicode in single bytes"),
    ("utf-16le", "Unicode in pairs of bytes, the low one first, as Excel writes \"Unicode text\""),
    ("utf-16be", "Unicode in pairs of bytes, the high one first"),
    ("latin1", "Western European, also with the signs that Windows adds"),
    ("windows-1252", "The same"),
    ("iso-8859-15", "Western European with the sign of the euro"),
];

/// Other names of encodings, without hyphens.
const ALIASES: [(&str, &str); 16] = [
    ("utf8", "utf-8"),
    ("utf8sig", "utf-8"),
    ("ascii", "utf-8"),
    ("usascii", "utf-8"),
    ("utf16le", "utf-16le"),
    ("ucs2le", "utf-16le"),
    ("utf16be", "utf-16be"),
    ("ucs2be", "utf-16be"),
    ("iso88591", "latin1"),
    ("88591", "latin1"),
    ("l1", "latin1"),
    ("cp1252", "windows-1252"),
    ("ansi", "windows-1252"),
    ("windows1252", "windows-1252"),
    ("iso885915", "iso-8859-15"),
    ("latin9", "iso-8859-15"),
];

/// What begins the names of encodings that are not read, without hyphens, and the name that `iconv` knows.
const NOT_READ: [(&str, &str); 22] = [
    ("shiftjis", "SHIFT-JIS"),
    ("sjis", "SHIFT-JIS"),
    ("cp932", "CP932"),
    ("ms932", "CP932"),
    ("eucjp", "EUC-JP"),
    ("iso2022jp", "ISO-2022-JP"),
    ("gb18030", "GB18030"),
    ("gbk", "GBK"),
    ("cp936", "GBK"),
    ("gb2312", "GBK"),
    ("big5", "BIG5"),
    ("cp950", "BIG5"),
    ("euckr", "EUC-KR"),
    ("cp949", "CP949"),
    ("koi8r", "KOI8-R"),
    ("koi8u", "KOI8-U"),
    ("macroman", "MACINTOSH"),
    ("macintosh", "MACINTOSH"),
    ("mac", "MACINTOSH"),
    ("cp437", "CP437"),
    ("cp850", "CP850"),
    ("tis620", "TIS-620"),
];

/// The name among [`ENCODINGS`] of an encoding that has many, such as `ISO-8859-1` for `latin1`. Errors if it is not read.
pub fn encoding_by_name(name: &str) -> Result<&'static str> {
    let plain: String = name.chars().filter(|letter| !"-_ ".contains(*letter)).collect::<String>().to_ascii_lowercase();
    let listed = ENCODINGS.iter().map(|(known, _)| (*known, *known)).chain(ALIASES);
    if let Some((_, known)) = listed.into_iter().find(|(known, _)| known.replace('-', "") == plain) {
        return Ok(known);
    }
    // Families whose members have a number: iso-8859-2, windows-1251, utf-32.
    let family = [("iso8859", "ISO-8859-"), ("windows", "WINDOWS-"), ("cp125", "CP125"), ("utf32", "UTF-32")];
    let number = |(start, known): (&str, &str)| {
        let rest = plain.strip_prefix(start)?;
        let is_number = rest.len() <= 4 && rest.bytes().all(|byte| byte.is_ascii_digit());
        (is_number || start == "utf32").then(|| format!("{known}{}", rest.to_ascii_uppercase()))
    };
    let single = NOT_READ.iter().find(|(known, _)| *known == plain).map(|(_, known)| (*known).to_owned());
    match single.or_else(|| family.into_iter().find_map(number)) {
        Some(known) => Err(Error::usage(format!(
            "encoding: \"{name}\" is not read here; convert the file to UTF-8: iconv -f {known} -t UTF-8 FILE > NEW"
        ))),
        None => Err(unknown_name("encoding", name, &ENCODINGS.map(|(known, _)| known), "")),
    }
}

/// How the lines of a file are laid out. By default it is found out, and what is not clear is an error.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// The encoding of the text, by a name of [`ENCODINGS`]; UTF-8, or the one of the mark at its start, if unset.
    pub encoding: Option<String>,
    /// Lines that begin with this text are left out.
    pub comment: Option<String>,
    /// Lines before the table.
    pub skip: usize,
    /// The line of the names, from 1. Lines before it are left out.
    pub header_row: Option<usize>,
    /// What is done with a row that has too few or too many cells.
    pub bad_rows: BadRows,
    /// The character before a quote within a quoted cell, if that is not another quote.
    pub escape: Option<String>,
}

record! { Layout { encoding = None, comment = None, skip = 0, header_row = None, bad_rows = BadRows::Refuse, escape = None } }

/// What is done with a row that has too few or too many cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BadRows {
    /// It is an error.
    #[default]
    Refuse,
    /// It is left out.
    Skip,
    /// Cells that lack at its end are missing; a row with too many cells is left out.
    Fill,
}

record! { enum BadRows { Refuse, Skip, Fill } }

impl BadRows {
    /// Every choice: its name, what it does, and itself.
    pub const ALL: [(&'static str, &'static str, Self); 3] = [
        ("refuse", "An error names the first", Self::Refuse),
        ("skip", "They are left out, with a warning", Self::Skip),
        ("fill", "Cells that lack at the end are missing; rows with too many cells are left out", Self::Fill),
    ];

    /// The choice of a name.
    pub fn by_name(name: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|(known, _, _)| *known == name);
        found.map(|(_, _, choice)| *choice).ok_or_else(|| {
            let names = Self::ALL.map(|(name, _, _)| name);
            unknown_name("bad_rows", name, &names, "")
        })
    }
}

impl Layout {
    /// Errors on an unknown encoding and on marks that are none.
    pub(super) fn check(&self) -> Result<()> {
        let refused = |name: &str, got: &str, expected: &str| {
            Err(Error::usage(format!("{name}: got \"{got}\", expected {expected}")))
        };
        if let Some(name) = self.encoding.as_deref().filter(|name| !ENCODINGS.iter().any(|(known, _)| known == name)) {
            return Err(unknown_name("encoding", name, &ENCODINGS.map(|(known, _)| known), ""));
        }
        if let Some(comment) =
            self.comment.as_deref().filter(|text| text.trim().is_empty() || text.contains(['\n', '\r', '"']))
        {
            return refused("comment", comment, "the text at the start of a comment, such as #");
        }
        if let Some(escape) = self
            .escape
            .as_deref()
            .filter(|text| !matches!(text.as_bytes(), [b] if b.is_ascii_punctuation() && *b != b'"'))
        {
            return refused("escape", escape, "one character, such as \\");
        }
        match self.header_row {
            Some(0) => refused("header_row", "0", "the number of a line, from 1"),
            Some(row) if row <= self.skip => {
                let skip = self.skip;
                refused("header_row", &row.to_string(), &format!("a line behind the {skip} that are skipped"))
            }
            _ => Ok(()),
        }
    }

    /// Lines before the table or its names.
    pub(crate) fn lines_before(&self) -> usize {
        self.header_row.map_or(self.skip, |row| row - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_have_many_names() {
        for (name, expected) in [
            ("utf-8", "utf-8"),
            ("UTF8", "utf-8"),
            ("UTF_16LE", "utf-16le"),
            ("ISO-8859-1", "latin1"),
            ("latin-1", "latin1"),
            ("cp1252", "windows-1252"),
            ("Latin-9", "iso-8859-15"),
        ] {
            assert_eq!(encoding_by_name(name).unwrap(), expected, "{name}");
        }
        let error = |name: &str| encoding_by_name(name).unwrap_err().to_string();
        for (name, known) in
            [("shift_jis", "SHIFT-JIS"), ("gb2312", "GBK"), ("iso-8859-2", "ISO-8859-2"), ("cp1251", "CP1251")]
        {
            let expected = format!(
                "encoding: \"{name}\" is not read here; convert the file to UTF-8: iconv -f {known} -t UTF-8 FILE > NEW"
            );
            assert_eq!(error(name), expected);
        }
        assert!(error("utf-17").contains("did you mean \"utf-"), "{}", error("utf-17"));
    }
}
