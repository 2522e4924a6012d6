//! Unpacks compressed files in memory. The unpacked bytes are checked as they come, as those of a file are, so a small file cannot fill the memory.

use std::borrow::Cow;

use super::compressed::{GZIP, is_compressed, unpacking};
use super::start::check_bytes;
use crate::error::Result;
use crate::host;

/// The bytes of a file, unpacked if they are compressed.
pub fn unpack(bytes: Vec<u8>, source: &str) -> Result<Vec<u8>> {
    Ok(unpacked(Cow::Owned(bytes), source)?.into_owned())
}

/// The same; bytes that are not compressed are not copied.
pub(crate) fn unpacked<'a>(bytes: Cow<'a, [u8]>, source: &str) -> Result<Cow<'a, [u8]>> {
    if !is_compressed(&bytes) {
        return Ok(bytes);
    }
    let from = unpacking(&bytes[..], bytes.starts_with(GZIP));
    let unpacked = host::read_unpacked(from, source, |start| {
        if is_compressed(start) {
            return Err("is compressed twice; unpack it once".into());
        }
        check_bytes(start)
    })?;
    Ok(Cow::Owned(unpacked))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gz(bytes: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    }

    fn zst(bytes: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
    }

    #[test]
    fn files_of_several_members_are_unpacked() {
        let text = b"a,b\n1,2\n";
        for packed in [gz(text), zst(text)] {
            let two = [&packed[..], &packed].concat();
            assert_eq!(unpack(packed, "a").unwrap(), text);
            assert_eq!(unpack(two, "a").unwrap(), [text, &text[..]].concat());
        }
        let skip = b"\x50\x2a\x4d\x18\x02\0\0\0xx";
        assert_eq!(unpack([&zst(text)[..], skip].concat(), "a").unwrap(), text);
        assert_eq!(unpack(text.to_vec(), "a").unwrap(), text);
    }

    #[test]
    fn damaged_and_nested_files_are_errors() {
        let error = |bytes: Vec<u8>| unpack(bytes, "a").unwrap_err().to_string();
        let text = b"a,b\n1,2\n";
        for packed in [gz(text), zst(text)] {
            for length in 4..packed.len() {
                assert!(unpack(packed[..length].to_vec(), "a").is_err(), "{length}");
            }
            let mut wrong = packed.clone();
            let last = wrong.len() - 7;
            wrong[last] ^= 1;
            assert!(error(wrong).starts_with("a: cannot be unpacked: "));
            assert_eq!(error(gz(&packed)), "a: is compressed twice; unpack it once");
        }
        assert!(error(gz(b"\xd0\xcf\x11\xe0")).contains("is an Excel workbook (.xls)"));
    }

    #[test]
    fn every_member_of_a_file_is_unpacked() {
        let pieces = [&b"a,b\n"[..], b"1,2\n", b"", b"33,44\n", b"5,6\n"];
        for pack in [gz, zst] {
            let packed = pieces.map(pack).concat();
            let text = String::from_utf8(unpack(packed.clone(), "a").unwrap()).unwrap();
            assert_eq!(text, "a,b\n1,2\n33,44\n5,6\n");
            // The end of the last member is checked as that of the first one.
            assert!(unpack(packed[..packed.len() - 1].to_vec(), "a").is_err());
        }
    }
}
