//! Arrays that lie in files as they are: every number at a place that is computed from its row and column.

use std::ops::Range;
use std::sync::Arc;

use super::checks::{check_columns, check_request, check_width};
use crate::error::{Error, Result};
use crate::files::RowSource;
use crate::files::npy::{Dtype, Layout};
use crate::host::RangeFile;

/// Bytes that are read at once, if the numbers are not read into their buffers.
const PIECE_BYTES: usize = 256 << 10;

/// Arrays of as many rows, one after another.
pub(crate) struct Arrays {
    file: Arc<RangeFile>,
    names: Vec<String>,
    rows: usize,
    parts: Vec<Part>,
}

/// An array with the names of its columns.
pub(crate) struct Part {
    file: Arc<RangeFile>,
    names: Vec<String>,
    grid: Grid,
    /// The number of its first column among all.
    first: usize,
}

/// Where the numbers of an array of rows and columns lie in a file.
#[derive(Clone, Copy)]
pub(crate) struct Grid {
    /// The byte where the first begins.
    pub start: u64,
    pub rows: usize,
    pub width: usize,
    pub is_by_column: bool,
    pub dtype: Dtype,
}

/// A column of an array and the buffer it is read into.
type Target = (usize, usize);

impl Part {
    /// An array whose header begins at `start`. `name` gives the name of a column by its number and the number of columns.
    pub(crate) fn of_npy(
        file: Arc<RangeFile>,
        start: u64,
        layout: &Layout,
        place: &str,
        name: impl Fn(usize, usize) -> String,
    ) -> Result<Self> {
        let (rows, width) = layout.table(place)?;
        let (start, dtype) = (start + layout.start as u64, layout.dtype);
        Self::new(file, Grid { start, rows, width, is_by_column: layout.is_fortran, dtype }, place, name)
    }

    /// An array whose numbers lie in `grid`.
    pub(crate) fn new(
        file: Arc<RangeFile>,
        grid: Grid,
        place: &str,
        name: impl Fn(usize, usize) -> String,
    ) -> Result<Self> {
        let width = grid.width;
        check_width(place, width)?;
        let names = (0..width).map(|j| name(j, width)).collect();
        let is_by_column = grid.is_by_column || width == 1;
        Ok(Self { file, names, grid: Grid { is_by_column, ..grid }, first: 0 })
    }
}

impl Arrays {
    /// The columns of all parts. Errors if they differ in length. `file` is the one that is fingerprinted.
    pub(crate) fn new(file: Arc<RangeFile>, mut parts: Vec<Part>) -> Result<Self> {
        let rows = parts.first().map_or(0, |part| part.grid.rows);
        let mut names = Vec::new();
        for part in &mut parts {
            part.first = names.len();
            if part.grid.rows != rows {
                let (got, first) = (part.grid.rows, names.first().map_or("", String::as_str));
                let name = part.names.first().map_or("", String::as_str);
                let message = format!("column \"{name}\" has {got} rows, column \"{first}\" has {rows}");
                return Err(Error::new(format!("{}: {message}", file.name())));
            }
            names.append(&mut part.names);
        }
        check_columns(file.name(), &names, rows)?;
        Ok(Self { file, names, rows, parts })
    }
}

impl RowSource for Arrays {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> &[String] {
        &self.names
    }

    fn read(&self, range: Range<usize>, places: &[usize], into: &mut [&mut [f64]]) -> Result<()> {
        check_request(self, &range, places, into);
        for part in &self.parts {
            let columns = part.first..part.first + part.grid.width;
            let targets = places.iter().enumerate().filter(|(_, place)| columns.contains(place));
            let targets: Vec<Target> = targets.map(|(buffer, place)| (place - part.first, buffer)).collect();
            part.grid.read(&part.file, &range, &targets, into)?;
        }
        Ok(())
    }

    fn fingerprint(&self) -> Result<String> {
        self.file.fingerprint(&self.names.join("\n"))
    }
}

impl Grid {
    fn read(&self, file: &RangeFile, rows: &Range<usize>, targets: &[Target], into: &mut [&mut [f64]]) -> Result<()> {
        if targets.is_empty() || rows.is_empty() {
            return Ok(());
        }
        if self.is_by_column {
            return targets.iter().try_for_each(|&(column, buffer)| {
                read_numbers(file, self.dtype, self.place(rows.start, column), into[buffer])
            });
        }
        let row_bytes = self.width * self.dtype.bytes();
        if row_bytes > PIECE_BYTES {
            return self.read_each(file, rows, targets, into);
        }
        let piece_rows = PIECE_BYTES / row_bytes;
        let mut piece = vec![0; piece_rows.min(rows.len()) * row_bytes];
        for start in (0..rows.len()).step_by(piece_rows) {
            let count = piece_rows.min(rows.len() - start);
            let bytes = &mut piece[..count * row_bytes];
            file.read(bytes, self.place(rows.start + start, 0))?;
            for &(column, buffer) in targets {
                let first = &bytes[column * self.dtype.bytes()..];
                self.dtype.numbers(first, row_bytes, &mut into[buffer][start..start + count]);
            }
        }
        Ok(())
    }

    /// Reads number by number, where a row is longer than a piece.
    fn read_each(
        &self,
        file: &RangeFile,
        rows: &Range<usize>,
        targets: &[Target],
        into: &mut [&mut [f64]],
    ) -> Result<()> {
        for (at, row) in rows.clone().enumerate() {
            for &(column, buffer) in targets {
                read_numbers(file, self.dtype, self.place(row, column), &mut into[buffer][at..=at])?;
            }
        }
        Ok(())
    }

    /// The byte where a number begins. The length of the file bounds it.
    fn place(&self, row: usize, column: usize) -> u64 {
        let index = if self.is_by_column { column * self.rows + row } else { row * self.width + column };
        self.start + (index * self.dtype.bytes()) as u64
    }
}

/// Reads numbers that lie one after another from `at` on.
pub(crate) fn read_numbers(file: &RangeFile, dtype: Dtype, at: u64, into: &mut [f64]) -> Result<()> {
    if dtype.is_little_f64() {
        file.read(bytemuck::cast_slice_mut(into), at)?;
        for x in into {
            *x = f64::from_bits(u64::from_le(x.to_bits()));
        }
        return Ok(());
    }
    let size = dtype.bytes();
    let most = PIECE_BYTES / size;
    let mut piece = vec![0; most.min(into.len()) * size];
    for (number, part) in into.chunks_mut(most).enumerate() {
        let bytes = &mut piece[..part.len() * size];
        file.read(bytes, at + (number * most * size) as u64)?;
        dtype.numbers(bytes, size, part);
    }
    Ok(())
}
