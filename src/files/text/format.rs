//! How a text file is written: its header, its delimiter, its numbers and its signs for missing cells.

use crate::error::{Error, Result};
use crate::record;

use super::layout::Layout;

/// How a text file is written. The default suits most files.
#[derive(Clone, Debug, PartialEq)]
pub struct Format {
    /// Whether the first record holds names.
    pub header: Header,
    /// The character between cells; found in the first record if unset.
    pub delimiter: Option<String>,
    /// The decimal mark of numbers: `.` or `,`.
    pub decimal: String,
    /// The character between groups of three digits, if any.
    pub thousands: Option<String>,
    /// Texts that mean a missing cell, besides the empty one, `N/A`, `nan`, `null` and `?`, among numbers and dates `NA` and other usual words.
    /// A number declares all numbers that are equal.
    pub missing: Vec<String>,
    /// Whether those words are texts like others, so that only the empty cell and `missing` mean a missing cell.
    pub keeps_words: bool,
    /// The sheet of a workbook; the first if unset.
    pub sheet: Option<String>,
    /// What a number is that a workbook shows as a percentage.
    pub percent: Percent,
    /// How the lines are laid out.
    pub layout: Layout,
    /// Whether every cell is kept as the text that the file holds, to be copied: no text is missing or a number. Not stored.
    pub(crate) is_copied: bool,
}

record! {
    Format {
        header, delimiter, decimal, thousands, missing, keeps_words = false, sheet, percent = Percent::Fraction, layout = Layout::default()
    } else { is_copied }
}

/// The delimiter of cells that are apart by any number of spaces and tabs.
pub(super) const SPACES: &str = "spaces";

/// What a number is that a workbook shows as 50 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Percent {
    /// 50, as in the CSV of the same sheet.
    #[default]
    Hundredths,
    /// 0.5, as files of earlier versions have it.
    Fraction,
}

record! { enum Percent { Hundredths, Fraction } }

impl Default for Format {
    fn default() -> Self {
        Header::Auto.into()
    }
}

impl From<Header> for Format {
    fn from(header: Header) -> Self {
        Self {
            header,
            delimiter: None,
            decimal: ".".into(),
            thousands: None,
            missing: Vec::new(),
            keeps_words: false,
            sheet: None,
            percent: Percent::Hundredths,
            layout: Layout::default(),
            is_copied: false,
        }
    }
}

impl From<&Self> for Format {
    fn from(format: &Self) -> Self {
        format.clone()
    }
}

impl Format {
    /// Errors if a mark is not one character of its kind, or two of them are equal.
    pub fn check(&self) -> Result<()> {
        self.layout.check()?;
        let refused = |name: &str, got: &str, expected: &str| {
            Err(Error::usage(format!("{name}: got \"{got}\", expected {expected}")))
        };
        if !matches!(self.decimal.as_str(), "." | ",") {
            return refused("decimal", &self.decimal, "a point or a comma");
        }
        let is_mark = |text: &str| matches!(text.as_bytes(), [b] if b.is_ascii() && !b.is_ascii_alphanumeric() && !b"\"\r\n+-".contains(b));
        if let Some(delimiter) = self.delimiter.as_deref().filter(|text| !is_mark(text) && *text != SPACES) {
            return refused("delimiter", delimiter, "one character, such as ; or | (a tab is \\t), or spaces");
        }
        let Some(thousands) = &self.thousands else { return Ok(()) };
        if !is_mark(thousands) {
            return refused("thousands", thousands, "one character, such as , or a space");
        }
        if *thousands == self.decimal {
            return refused("thousands", thousands, "another character than the decimal mark");
        }
        Ok(())
    }
}

/// Whether the first record holds names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// A header if none of its cells is a number.
    #[default]
    Auto,
    /// A header. An empty name becomes `c0`, `c1`, … by position.
    Yes,
    /// Data; the columns are named `c0`, `c1`, ….
    No,
}

record! { enum Header { Auto, Yes, No } }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_that_contradict_themselves_are_refused() {
        let error = |format: Format| format.check().unwrap_err().to_string();
        let plain = Format::default;
        assert_eq!(error(Format { decimal: "x".into(), ..plain() }), "decimal: got \"x\", expected a point or a comma");
        assert_eq!(
            error(Format { thousands: Some(".".into()), ..plain() }),
            "thousands: got \".\", expected another character than the decimal mark"
        );
        assert!(error(Format { delimiter: Some("ab".into()), ..plain() }).starts_with("delimiter: got \"ab\""));
        assert!(Format { delimiter: Some("\t".into()), decimal: ",".into(), ..plain() }.check().is_ok());
    }
}
