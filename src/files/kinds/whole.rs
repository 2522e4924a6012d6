//! Tables from all bytes of a file, whatever its kind.

use std::borrow::Cow;

use super::start::check_bytes;
use super::unpack::unpacked;
use super::{check_options, kind_of};
use crate::error::{Error, Result};
use crate::files::Table;
use crate::files::text::Format;

/// Reads a table from CSV, TSV, JSON lines, a list of JSON objects, NPY, NPZ, Parquet or an Excel workbook; text may be compressed with gzip or
/// Zstandard. `format` is a [`Format`], or only a [`Header`](crate::files::Header).
///
/// `source` is the user's name for the bytes; one ending in `.tsv` or `.tab` is tab separated. Errors if an option is set that does not apply.
pub fn read_table(bytes: &[u8], source: &str, format: impl Into<Format>) -> Result<Table> {
    let format = format.into();
    let bytes = unpacked(Cow::Borrowed(bytes), source)?;
    check_bytes(&bytes).map_err(|what| Error::new(format!("{source}: {what}")))?;
    let (kind, read) = kind_of(&bytes, |kind| kind.read);
    check_options(kind, source, &format)?;
    read(&bytes, source, &format)
}

/// Whether the bytes of a table are delimited text, whose cells can be copied.
pub fn is_text(bytes: &[u8]) -> bool {
    kind_of(bytes, |kind| kind.read).0.options.contains(&"delimiter")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::npy;
    use crate::files::text::Header;

    #[test]
    fn the_first_bytes_determine_the_kind() {
        let cases: &[(&[u8], &str)] = &[
            (b"PAR1....", "a: is not a complete Parquet file: its last bytes are not PAR1"),
            (b"\x80\x04.", "a: is a Python pickle, which could run code when read; save it as NPZ"),
            (b"\x1f\x8b\x08", "a: cannot be unpacked: unexpected end of file"),
            (b"\xff\xfea\0", "a: is UTF-16 text; save it as UTF-8"),
            (b"\x93NUMPY", "a: is cut short in its header (6 bytes)"),
            (b"PK\x03\x04", "a: is not a complete ZIP archive: Could not find EOCD"),
            (b"", "a: is empty"),
        ];
        for (bytes, wanted) in cases {
            assert_eq!(read_table(bytes, "a", Header::Auto).unwrap_err().to_string(), *wanted);
        }
        assert_eq!(read_table(b"a\n1\n", "a", Header::Auto).unwrap().rows(), 1);
        assert_eq!(read_table(b"{\"a\": 1}", "a", Header::Auto).unwrap().rows(), 1);
    }

    #[test]
    fn an_option_that_does_not_apply_is_an_error() {
        let error = |bytes: &[u8], format: Format| read_table(bytes, "a", format).unwrap_err().to_string();
        let tabbed = Format { delimiter: Some("\t".into()), ..Format::default() };
        let wanted = "a: delimiter does not apply to JSON, only to delimited text (CSV)";
        assert_eq!(error(b"{\"a\": 1}", tabbed), wanted);
        let sheet = Format { sheet: Some("x".into()), ..Format::default() };
        assert_eq!(
            error(b"a\n1\n", sheet),
            "a: sheet does not apply to delimited text (CSV), only to an Excel workbook"
        );
        assert_eq!(
            error(npy::MAGIC, Header::Yes.into()),
            "a: header does not apply to an array of numpy (NPY), only to an Excel workbook, delimited text (CSV)"
        );
    }
}
