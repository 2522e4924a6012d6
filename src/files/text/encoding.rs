//! The bytes of a text as UTF-8, in which everything else reads it.

use std::borrow::Cow;

use super::format::Format;
use super::reading::Warning;
use crate::error::{Error, Result};

const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";
const UTF16LE_MARK: &[u8] = b"\xff\xfe";
const UTF16BE_MARK: &[u8] = b"\xfe\xff";

/// Letters of Windows-1252 where ISO 8859-1 has control characters; five places are free.
const WINDOWS: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Letters of ISO 8859-15 that replace others of ISO 8859-1.
const LATIN9: [(u8, char); 8] =
    [(0xa4, '€'), (0xa6, 'Š'), (0xa8, 'š'), (0xb4, 'Ž'), (0xb8, 'ž'), (0xbc, 'Œ'), (0xbd, 'œ'), (0xbe, 'Ÿ')];

/// A text as UTF-8 without a mark at its start, and what is to be said about that.
pub(crate) fn decoded<'a>(bytes: &'a [u8], source: &str, format: &Format) -> Result<(Cow<'a, [u8]>, Vec<Warning>)> {
    let refused = |what: String| Error::new(format!("{source}: {what}"));
    if let Some(name) = four_bytes(bytes) {
        return Err(refused(not_read(name)));
    }
    let bytes = without_end(bytes);
    let encoding = format.layout.encoding.as_deref();
    let text = match (encoding, bytes) {
        (None | Some("utf-16le"), [0xff, 0xfe, rest @ ..]) => utf16(rest, u16::from_le_bytes).map_err(refused)?.into(),
        (None | Some("utf-16be"), [0xfe, 0xff, rest @ ..]) => utf16(rest, u16::from_be_bytes).map_err(refused)?.into(),
        (Some("utf-16le"), _) => utf16(bytes, u16::from_le_bytes).map_err(refused)?.into(),
        (Some("utf-16be"), _) => utf16(bytes, u16::from_be_bytes).map_err(refused)?.into(),
        (Some("latin1" | "windows-1252"), _) => western(bytes, &[]).into(),
        (Some("iso-8859-15"), _) => western(bytes, &LATIN9).into(),
        _ => Cow::Borrowed(bytes.strip_prefix(UTF8_MARK).unwrap_or(bytes)),
    };
    let (text, mut notes) = without_zeros(text, source)?;
    notes.extend(doubtful(bytes, encoding));
    Ok((text, notes))
}

/// What is said of a text of single bytes that is UTF-8 all the same: its letters become two each.
fn doubtful(bytes: &[u8], encoding: Option<&str>) -> Option<Warning> {
    let name = encoding.filter(|name| ["latin1", "windows-1252", "iso-8859-15"].contains(name))?;
    let is_unicode = !bytes.is_ascii() && std::str::from_utf8(bytes).is_ok();
    let message = format!("the text is valid UTF-8, but is read as {name}: encoding utf-8 gives other letters");
    is_unicode.then(|| Warning::of_table(message))
}

/// The bytes without the zeros, or the sign for the end of a file, that some programs write behind a text.
pub(crate) fn without_end(bytes: &[u8]) -> &[u8] {
    const END: u8 = 0x1a;
    // Only a line end may be before zeros: in pairs of bytes, one of them belongs to a letter.
    let kept = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
    let is_padded = bytes.len() - kept > 1 && kept > 0 && unmarked(&bytes[..kept]).is_none() && !has_wide_mark(bytes);
    let bytes = if is_padded { &bytes[..kept] } else { bytes };
    match bytes.trim_ascii_end().strip_suffix(&[END]) {
        Some(rest) if rest.is_empty() || rest.ends_with(b"\n") || rest.ends_with(b"\r") => rest,
        _ => bytes,
    }
}

/// The encoding in four bytes that the mark of a text, or three zeros of four bytes, show.
fn four_bytes(bytes: &[u8]) -> Option<&'static str> {
    let has_zeros = |letter: usize| {
        let (letters, _) = bytes[..bytes.len().min(4096)].as_chunks::<4>();
        let is_letter = |four: &[u8; 4]| (0..4).all(|at| (four[at] != 0) == (at == letter));
        letters.len() > 1 && letters.iter().all(is_letter)
    };
    if bytes.starts_with(b"\xff\xfe\0\0") || has_zeros(0) {
        Some("UTF-32LE")
    } else {
        (bytes.starts_with(b"\0\0\xfe\xff") || has_zeros(3)).then_some("UTF-32BE")
    }
}

/// What is said of a text in an encoding that is not read.
fn not_read(name: &str) -> String {
    format!("is {name} text, which is not read; convert it to UTF-8: iconv -f {name} -t UTF-8")
}

/// Whether a text begins with the mark of an encoding in pairs of bytes.
pub(crate) fn has_wide_mark(bytes: &[u8]) -> bool {
    bytes.starts_with(UTF16LE_MARK) || bytes.starts_with(UTF16BE_MARK)
}

/// The encoding in pairs of bytes of a text without a mark: nearly every other byte of a table is 0 then.
pub(crate) fn unmarked(bytes: &[u8]) -> Option<&'static str> {
    let zeros = [0, 1].map(|first| bytes.iter().skip(first).step_by(2).filter(|byte| **byte == 0).count());
    let is_wide = |high: usize| zeros[high] * 10 >= bytes.len() / 2 * 8 && zeros[1 - high] * 100 < bytes.len();
    [(1, "utf-16le"), (0, "utf-16be")]
        .into_iter()
        .find(|(high, _)| zeros[*high] > 0 && is_wide(*high))
        .map(|(_, name)| name)
}

/// What is wrong with bytes that are no text: they have many zeros, or other bytes that no text has. `None` if they may be text.
pub(crate) fn why_no_text(bytes: &[u8]) -> Option<String> {
    /// One zero in so many bytes is an accident; more are another kind of file.
    const BYTES_PER_ZERO: usize = 100;
    if let Some(name) = four_bytes(bytes) {
        return Some(not_read(name));
    }
    let bytes = without_end(bytes);
    let at = bytes.iter().position(|byte| *byte == 0)?;
    if let Some(name) = unmarked(bytes) {
        return Some(format!("is UTF-16 text without the mark that says so; name its encoding: encoding {name}"));
    }
    let zeros = bytes.split(|byte| *byte == 0).count() - 1;
    let is_control = |byte: &u8| matches!(byte, 1..=8 | 14..=25 | 27 | 127);
    let has_few = zeros * BYTES_PER_ZERO <= bytes.len().max(BYTES_PER_ZERO);
    (!has_few || bytes.iter().any(is_control)).then(|| {
        format!("is not text: byte {at} is 0; tables are read from CSV, JSON lines, Parquet, XLSX, NPY and NPZ")
    })
}

/// The text without the zero bytes that a broken program left in it.
fn without_zeros<'a>(text: Cow<'a, [u8]>, source: &str) -> Result<(Cow<'a, [u8]>, Vec<Warning>)> {
    if !text.contains(&0) {
        return Ok((text, Vec::new()));
    }
    if let Some(why) = why_no_text(&text) {
        return Err(Error::new(format!("{source}: {why}")));
    }
    let places = || text.iter().enumerate().filter(|(_, byte)| **byte == 0);
    let count = places().count();
    let first = places().next().map_or(0, |(at, _)| at);
    let line = text[..first].split(|byte| *byte == b'\n').count();
    let bytes = if count == 1 { "1 byte that is 0," } else { &format!("{count} bytes that are 0, the first") };
    let message =
        format!("the text has {bytes} on line {line}; it is read without {}", if count == 1 { "it" } else { "them" });
    let kept: Vec<u8> = text.iter().copied().filter(|byte| *byte != 0).collect();
    Ok((kept.into(), vec![Warning::of_table(message)]))
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> std::result::Result<Vec<u8>, String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err("is not UTF-16 text: it has an odd number of bytes".into());
    }
    let units = pairs.iter().map(|pair| unit(*pair));
    let mut out = String::with_capacity(bytes.len() / 2);
    for letter in char::decode_utf16(units) {
        match letter {
            Ok('\u{feff}') if out.is_empty() => {}
            Ok(letter) => out.push(letter),
            Err(_) => {
                let line = 1 + out.bytes().filter(|byte| *byte == b'\n').count();
                return Err(format!("line {line}: is not UTF-16 text: half of a pair is alone"));
            }
        }
    }
    Ok(out.into_bytes())
}

fn western(bytes: &[u8], other: &[(u8, char)]) -> Vec<u8> {
    let letter = |byte: &u8| match byte {
        0x80..=0x9f => WINDOWS[usize::from(byte - 0x80)],
        _ => other.iter().find(|(known, _)| known == byte).map_or(char::from(*byte), |(_, letter)| *letter),
    };
    bytes.iter().map(letter).collect::<String>().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], encoding: Option<&str>) -> std::result::Result<String, String> {
        let mut format = Format::default();
        format.layout.encoding = encoding.map(str::to_owned);
        let (text, notes) = decoded(bytes, "a.txt", &format).map_err(|error| error.to_string())?;
        let notes = notes.iter().map(|note| format!("[{note}]")).collect::<String>();
        Ok(String::from_utf8(text.into_owned()).unwrap() + &notes)
    }

    fn wide(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn every_encoding_becomes_utf8() {
        let text = "a\tgrün\t😀\n";
        let (low, high) = (wide(text, u16::to_le_bytes), wide(text, u16::to_be_bytes));
        let marked = |mark: &[u8], bytes: &[u8]| [mark, bytes].concat();
        assert_eq!(read(&marked(UTF16LE_MARK, &low), None).unwrap(), text);
        assert_eq!(read(&marked(UTF16BE_MARK, &high), None).unwrap(), text);
        assert_eq!(read(&marked(UTF16LE_MARK, &low), Some("utf-16le")).unwrap(), text);
        assert_eq!([read(&low, Some("utf-16le")), read(&high, Some("utf-16be"))], [Ok(text.into()), Ok(text.into())]);
        assert_eq!(read(&marked(UTF8_MARK, text.as_bytes()), None).unwrap(), text);
        assert_eq!(read(b"gr\xfcn \x80\x9f", Some("latin1")).unwrap(), "grün €Ÿ");
        assert_eq!(read(b"gr\xfcn \x80\x9f", Some("windows-1252")).unwrap(), "grün €Ÿ");
    }

    #[test]
    fn what_is_no_text_is_named() {
        assert_eq!(
            read(&wide("a,b\n1,2\n", u16::to_le_bytes), None).unwrap_err(),
            "a.txt: is UTF-16 text without the mark that says so; name its encoding: encoding utf-16le"
        );
        assert!(read(&wide("a,b\n1,2\n", u16::to_be_bytes), None).unwrap_err().ends_with("encoding utf-16be"));
        assert_eq!(read(b"\xff\xfea", None).unwrap_err(), "a.txt: is not UTF-16 text: it has an odd number of bytes");
        assert_eq!(
            read(b"\xff\xfea\0\n\0\0\xd8a\0", None).unwrap_err(),
            "a.txt: line 2: is not UTF-16 text: half of a pair is alone"
        );
        let expected =
            "a.txt: is not text: byte 3 is 0; tables are read from CSV, JSON lines, Parquet, XLSX, NPY and NPZ";
        assert_eq!(read(b"abc\0\x01\x02,", None).unwrap_err(), expected);
        assert_eq!(read(b"abc\0\0\0\0,a", None).unwrap_err(), expected);
    }

    #[test]
    fn a_single_zero_is_left_out() {
        assert_eq!(
            read(b"a,b\n1,\x002\n", None).unwrap(),
            "a,b\n1,2\n[the text has 1 byte that is 0, on line 2; it is read without it]"
        );
    }

    #[test]
    fn what_programs_write_behind_a_text_is_left_out() {
        for end in [&b"\0\0\0"[..], b"\x1a", b"\x1a\r\n", b"\x1a\0\0\0\0"] {
            assert_eq!(read(&[b"a,b\n1,2\n", end].concat(), None).unwrap(), "a,b\n1,2\n", "{end:?}");
        }
        assert_eq!(read(b"a\n1\x1a", None).unwrap(), "a\n1\x1a");
        assert_eq!(without_end(b"a\0\n\0"), b"a\0\n\0");
    }

    #[test]
    fn text_in_four_bytes_is_named() {
        let four = |text: &str, bytes: fn(u32) -> [u8; 4]| -> Vec<u8> {
            text.chars().flat_map(|letter| bytes(u32::from(letter))).collect()
        };
        let said = |name: &str| {
            format!("a.txt: is {name} text, which is not read; convert it to UTF-8: iconv -f {name} -t UTF-8")
        };
        for text in ["\u{feff}a,b\n", "a,b\n"] {
            assert_eq!(read(&four(text, u32::to_le_bytes), None).unwrap_err(), said("UTF-32LE"));
            assert_eq!(read(&four(text, u32::to_be_bytes), None).unwrap_err(), said("UTF-32BE"));
            assert_eq!(why_no_text(&four(text, u32::to_be_bytes)).unwrap(), said("UTF-32BE")[7..]);
        }
    }

    #[test]
    fn western_letters_that_may_be_others_are_reported() {
        assert_eq!(read(b"\xa4 \xbd", Some("iso-8859-15")).unwrap(), "€ œ");
        let said = "Ã¼[the text is valid UTF-8, but is read as latin1: encoding utf-8 gives other letters]";
        assert_eq!(read("ü".as_bytes(), Some("latin1")).unwrap(), said);
        assert_eq!(read(b"u", Some("latin1")).unwrap(), "u");
    }
}
