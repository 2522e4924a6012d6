//! An archive of numpy. Members that are stored (`numpy.savez`) are read where they lie; packed ones (`numpy.savez_compressed`) are unpacked once to a
//! temporary file. The checksum of a stored member is not verified: that would read all of it.

use std::sync::Arc;

use super::Opened;
use super::arrays::{Arrays, Part};
use super::whole_npz::members;
use crate::error::{Error, Result};
use crate::files::RowSource;
use crate::files::kinds::excel;
use crate::files::npy::{Layout, MOST_HEADER_BYTES};
use crate::files::text::Format;
use crate::host::{Archive, RangeFile, Spool};

pub(crate) fn open(opened: &Opened, _format: &Format) -> Result<Box<dyn RowSource>> {
    let file = &opened.file;
    let source = file.name();
    let mut archive = Archive::open_file(file)?;
    let names = archive.names()?;
    if names.iter().any(|name| name == excel::WORKBOOK) {
        return super::refused(opened, "is an Excel workbook");
    }
    let mut parts = Vec::new();
    for member in members(&names, source)? {
        let place = format!("{source}: {}", member.file);
        let (held, start, bytes) = match archive.place(&member.file)? {
            Some(range) if range.end > file.bytes() => {
                let (got, expected) = (file.bytes(), range.end);
                return Err(Error::new(format!("{place}: is cut short: got {got} bytes, expected {expected}")));
            }
            Some(range) => (file.clone(), range.start, range.end - range.start),
            None => {
                let held = Arc::new(unpacked(&mut archive, &member.file, &place)?);
                let bytes = held.bytes();
                (held, 0, bytes)
            }
        };
        let header = held.part(start, MOST_HEADER_BYTES.min(bytes as usize))?;
        let layout = Layout::parse(&header, bytes, &place)?;
        parts.push(Part::of_npy(held, start, &layout, &place, |j, width| member.column(j, width))?);
    }
    Ok(Box::new(Arrays::new(file.clone(), parts)?))
}

fn unpacked<R: std::io::Read + std::io::Seek>(
    archive: &mut Archive<'_, R>,
    member: &str,
    place: &str,
) -> Result<RangeFile> {
    let mut spool = Spool::new(place)?;
    archive.unpack_to(member, &mut spool)?;
    spool.finish()
}
