//! Unpacks compressed files in memory. The unpacked bytes are checked as they come, as those of a file are, so a small file cannot fill the memory.

use std::borrow::Cow;
use std::path::Path;

use super::compressed::{GZIP, is_compressed, unpacking};
use super::excel::WORKBOOK;
use super::start::check_bytes;
use crate::error::{Error, Result, listed};
use crate::host::{self, Archive};

/// The bytes of a file, unpacked if they are compressed.
pub fn unpack(bytes: Vec<u8>, source: &str) -> Result<Vec<u8>> {
    Ok(unpacked(Cow::Owned(bytes), source)?.into_owned())
}

/// The same; bytes that are not compressed are not copied.
pub(crate) fn unpacked<'a>(bytes: Cow<'a, [u8]>, source: &str) -> Result<Cow<'a, [u8]>> {
    let bytes = member(bytes, source)?;
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

/// The one file in an archive that holds nothing else; other bytes as they are. Archives that are a kind of file themselves are not unpacked.
fn member<'a>(bytes: Cow<'a, [u8]>, source: &str) -> Result<Cow<'a, [u8]>> {
    if !bytes.starts_with(host::ARCHIVE_MAGIC) {
        return Ok(bytes);
    }
    // What is not a complete archive is an error of the kind that it seems to be.
    let Ok(mut archive) = Archive::open(&bytes, source) else { return Ok(bytes) };
    let names = archive.names()?;
    if names.iter().any(|name| {
        Path::new(name).extension().is_some_and(|end| end == "npy") || KNOWN_MEMBERS.contains(&name.as_str())
    }) {
        return Ok(bytes);
    }
    // Systems add files of their own.
    let is_file = |name: &&String| {
        let own = name.rsplit('/').next().unwrap_or_default();
        !own.is_empty() && !own.starts_with('.') && !name.starts_with("__MACOSX/")
    };
    let files: Vec<&String> = names.iter().filter(is_file).collect();
    match files[..] {
        [] => Ok(bytes),
        [name] => {
            let unpacked = archive.unpack(name)?;
            check_bytes(&unpacked).map_err(|what| Error::new(format!("{source}: member {name} {what}")))?;
            Ok(Cow::Owned(unpacked))
        }
        _ => {
            let files: Vec<&str> = files.iter().map(|name| name.as_str()).collect();
            let (count, files) = (files.len(), listed(&files));
            Err(Error::new(format!(
                "{source}: is an archive of {count} files, {files}; expected one table: unpack it, and name a file or the folder"
            )))
        }
    }
}

/// Members by which archives are known that are a kind of file themselves.
const KNOWN_MEMBERS: [&str; 4] = [WORKBOOK, "xl/workbook.bin", "content.xml", "word/document.xml"];

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

    fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
        let members: Vec<host::Member<'_>> = members
            .iter()
            .map(|(name, bytes)| (*name, Box::new(|| bytes.to_vec()) as Box<dyn Fn() -> Vec<u8>>))
            .collect();
        host::pack(&members).unwrap()
    }

    #[test]
    fn an_archive_of_one_file_is_that_file() {
        let text = b"a,b\n1,2\n";
        let one = zip(&[("data/", b""), ("data/a.csv", text), ("__MACOSX/._a.csv", b"x"), (".DS_Store", b"x")]);
        assert_eq!(unpack(one, "a.zip").unwrap(), text);
        assert_eq!(unpack(zip(&[("a.csv.gz", &gz(text))]), "a.zip").unwrap(), text);
        let error = |bytes: Vec<u8>| unpack(bytes, "a.zip").unwrap_err().to_string();
        assert_eq!(
            error(zip(&[("a.csv", text), ("b.csv", text)])),
            "a.zip: is an archive of 2 files, \"a.csv\", \"b.csv\"; expected one table: unpack it, and name a file or the folder"
        );
        assert!(error(zip(&[("a.xls", b"\xd0\xcf\x11\xe0")])).starts_with("a.zip: member a.xls is an Excel workbook"));
        let arrays = zip(&[("x.npy", text)]);
        assert_eq!(unpack(arrays.clone(), "a").unwrap(), arrays);
    }
}
