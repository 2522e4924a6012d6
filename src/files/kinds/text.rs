//! Delimited text, plain or compressed. By ranges of rows it is parsed once, piece by piece; its numbers are written to a temporary file in blocks
//! of rows, column after column, and read from there.

use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::sync::Arc;

use super::compressed;
use super::kind::{Kind, Opened, START_BYTES};
use super::ranges::checks::{check_columns, check_request};
use crate::error::{Error, Result};
use crate::files::csv::Pieces;
use crate::files::text::Format;
use crate::files::{RowSource, read_plain};
use crate::host::{RangeFile, Spool};

pub(crate) static KIND: Kind = Kind {
    name: "delimited text (CSV)",
    magic: b"",
    is: |_| true,
    options: &[
        "header",
        "delimiter",
        "decimal",
        "thousands",
        "na",
        "keep_na",
        "encoding",
        "comment",
        "skip",
        "header_row",
        "bad_rows",
        "escape",
    ],
    read: Some(|bytes, source, format| read_plain(bytes, source, format)),
    open: Some(open),
};

/// Bytes of the numbers in a block.
const BLOCK_BYTES: usize = 4 << 20;

/// The numbers of a text.
struct Text {
    /// The text, for its fingerprint.
    file: Arc<RangeFile>,
    /// The format, which determines the numbers.
    format: String,
    names: Vec<String>,
    rows: usize,
    block_rows: usize,
    numbers: RangeFile,
    /// For each column the error about its first cell that is no number.
    wrong: Vec<Option<Error>>,
}

fn open(opened: &Opened, format: &Format) -> Result<Box<dyn RowSource>> {
    let file = &opened.file;
    if !compressed::is_compressed(&opened.start) {
        (opened.check_text)(&opened.start, file.name())?;
        return read(file.reader(), opened, format);
    }
    let is_gzip = opened.start.starts_with(compressed::GZIP);
    let mut unpacked = Unpacked(compressed::unpacking(BufReader::with_capacity(1 << 20, file.reader()), is_gzip));
    let mut start = Vec::new();
    let read_start = unpacked.by_ref().take(START_BYTES as u64).read_to_end(&mut start);
    read_start.map_err(|error| Error::new(format!("{}: cannot be read: {error}", file.name())))?;
    (opened.check_text)(&start, file.name())?;
    read(start.chain(unpacked), opened, format)
}

fn read(from: impl Read, opened: &Opened, format: &Format) -> Result<Box<dyn RowSource>> {
    let file = opened.file.clone();
    let mut pieces = Pieces::new(from, file.name(), format)?;
    let width = pieces.names().len();
    let block_rows = (BLOCK_BYTES / 8 / width.max(1)).max(1);
    let mut spool = Spool::new(file.name())?;
    let (mut rows, mut waiting) = (0, vec![Vec::new(); width]);
    while let Some(part) = pieces.next_rows()? {
        rows += part.first().map_or(0, Vec::len);
        waiting.iter_mut().zip(&part).for_each(|(column, part)| column.extend_from_slice(part));
        write_blocks(&mut spool, &mut waiting, block_rows)?;
    }
    for column in &waiting {
        spool.write(bytemuck::cast_slice(column))?;
    }
    let names = pieces.names().to_vec();
    check_columns(file.name(), &names, rows)?;
    let wrong = pieces.wrong_cells();
    let (numbers, format) = (spool.finish()?, format!("{format:?}"));
    Ok(Box::new(Text { file, format, names, rows, block_rows, numbers, wrong }))
}

/// Writes all blocks that are complete.
fn write_blocks(spool: &mut Spool, waiting: &mut [Vec<f64>], block_rows: usize) -> Result<()> {
    let blocks = waiting.first().map_or(0, Vec::len) / block_rows;
    for block in 0..blocks {
        for column in &*waiting {
            spool.write(bytemuck::cast_slice(&column[block * block_rows..][..block_rows]))?;
        }
    }
    for column in waiting {
        column.drain(..blocks * block_rows);
    }
    Ok(())
}

impl RowSource for Text {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> &[String] {
        &self.names
    }

    fn read(&self, range: Range<usize>, places: &[usize], into: &mut [&mut [f64]]) -> Result<()> {
        check_request(self, &range, places, into);
        if let Some(error) = places.iter().find_map(|place| self.wrong[*place].clone()) {
            return Err(error);
        }
        let mut row = range.start;
        while row < range.end {
            let first = row - row % self.block_rows;
            let rows = self.block_rows.min(self.rows - first);
            let end = range.end.min(first + rows);
            for (place, buffer) in places.iter().zip(into.iter_mut()) {
                // The blocks before are full.
                let number = first * self.names.len() + place * rows + (row - first);
                let part = &mut buffer[row - range.start..end - range.start];
                self.numbers.read(bytemuck::cast_slice_mut(part), 8 * number as u64)?;
            }
            row = end;
        }
        Ok(())
    }

    fn fingerprint(&self) -> Result<String> {
        self.file.fingerprint(&self.format)
    }
}

/// The bytes that a compressed file holds, and in an error that it does not unpack.
struct Unpacked<'a>(Box<dyn Read + 'a>);

impl Read for Unpacked<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            _ => io::Error::other(format!("it does not unpack: {error}")),
        })
    }
}
