//! HDF5, read only, by the crate `hdf5-reader`: 1-D datasets of a group, or one 2-D dataset, of integers, floats or booleans; contiguous, compact or in
//! chunks, packed with deflate, shuffle and the other filters of that crate. Links to other files are not followed.
//!
//! The crate reads through [`RangeFile`], never through a memory map, which a file that becomes shorter would turn into a crash. Its panics, if there are
//! any, are errors here.

mod number;

use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hdf5_reader::{Dataset, Hdf5File, OpenOptions, SliceInfo, SliceInfoElem, Storage, StorageBuffer};

use super::kind::{Kind, Opened};
use super::ranges::checks::{check_columns, check_request, check_width};
use crate::error::{Error, Result, hint, listed};
use crate::files::RowSource;
use crate::files::text::Format;
use crate::host::{RangeFile, memory_bytes, threads};
use number::{Number, is_number};

pub(crate) static KIND: Kind = Kind {
    name: "an HDF5 file",
    magic: b"\x89HDF\r\n\x1a\n",
    is: |_| true,
    options: &[],
    read: None,
    open: Some(open),
};

/// Numbers that are read at once.
const PIECE_NUMBERS: usize = 128 << 10;
/// Bytes of unpacked chunks that are kept, unless the columns need more.
const CACHE_BYTES: usize = 64 << 20;
/// The largest chunk that is read. Libraries make chunks of a few MiB.
const MOST_CHUNK_BYTES: u64 = 256 << 20;
/// The largest header of an object. Usual ones have a few KiB.
const MOST_HEADER_BYTES: usize = 4 << 20;

/// Columns of datasets of as many rows.
struct Hdf5 {
    file: Arc<RangeFile>,
    within: String,
    names: Vec<String>,
    rows: usize,
    datasets: Vec<Dataset>,
}

/// The path of the file, and what follows `:/` in `data.h5:/path`, if the part before it is a file.
pub(crate) fn split(path: &Path) -> (PathBuf, Option<String>) {
    let whole = path.to_path_buf();
    let Some(text) = path.to_str().filter(|_| !path.is_file()) else { return (whole, None) };
    let splits = text.match_indices(":/").map(|(at, _)| (&text[..at], &text[at + 1..]));
    let found = splits.into_iter().find(|(file, _)| Path::new(file).is_file());
    found.map_or((whole, None), |(file, within)| (PathBuf::from(file), Some(within.to_owned())))
}

fn open(opened: &Opened, _format: &Format) -> Result<Box<dyn RowSource>> {
    let file = &opened.file;
    let within = opened.within.clone().unwrap_or_else(|| "/".into());
    let mut datasets = datasets(&open_file(file, CACHE_BYTES)?, file.name(), &within)?;
    let needed = cache_bytes(&datasets);
    if needed > CACHE_BYTES {
        datasets = self::datasets(&open_file(file, needed)?, file.name(), &within)?;
    }
    let (names, rows) = columns(&datasets, file.name(), &within)?;
    Ok(Box::new(Hdf5 { file: file.clone(), within, names, rows, datasets }))
}

fn open_file(file: &Arc<RangeFile>, cache_bytes: usize) -> Result<Hdf5File> {
    let most_chunk = (memory_bytes() / 4 / threads() as u64).min(MOST_CHUNK_BYTES);
    let options = OpenOptions::default()
        .with_chunk_cache_bytes(cache_bytes)
        .with_chunk_cache_slots(1 << 16)
        .with_max_chunk_bytes(most_chunk as usize)
        .with_max_object_header_bytes(MOST_HEADER_BYTES);
    let opened = guarded(file.name(), || Hdf5File::from_storage_with_options(Arc::new(Bytes(file.clone())), options))?;
    let block = opened.superblock();
    let expected = block.base_address.saturating_add(block.eof_address);
    if expected > file.bytes() {
        let (name, got) = (file.name(), file.bytes());
        return Err(Error::new(format!("{name}: is cut short: got {got} bytes, expected {expected}")));
    }
    Ok(opened)
}

/// Bytes of the chunks that the threads use at once: one per thread and column.
fn cache_bytes(datasets: &[Dataset]) -> usize {
    let of_dataset = |dataset: &Dataset| {
        let size = dataset.raw_element_size().unwrap_or(8);
        let numbers =
            dataset.chunks().map_or(0, |sizes| sizes.iter().fold(1, |n: usize, s| n.saturating_mul(*s as usize)));
        numbers.saturating_mul(size)
    };
    let chunks = datasets.iter().map(of_dataset).fold(0, usize::saturating_add);
    chunks.saturating_mul(threads() + 1).min((memory_bytes() / 4) as usize)
}

/// The datasets that `within` names: those of a group, one, or several of a group after a comma.
fn datasets(opened: &Hdf5File, source: &str, within: &str) -> Result<Vec<Dataset>> {
    let refused = |what: String| Error::new(format!("{source}: {what}"));
    let path = within.trim_matches('/');
    let (above, last) = path.rsplit_once('/').unwrap_or(("", path));
    let group = guarded(source, || opened.group(above))?;
    let (groups, all) = guarded(source, || group.member_names())?;
    let open = |name: &str| guarded(source, || group.dataset(name));
    if last.is_empty() {
        return of_group(all.iter().map(|name| open(name)).collect::<Result<_>>()?, source, "/", &groups);
    }
    if groups.iter().any(|name| name == last) {
        let group = guarded(source, || opened.group(path))?;
        let (groups, all) = guarded(source, || group.member_names())?;
        let all = all.iter().map(|name| guarded(source, || group.dataset(name)));
        return of_group(all.collect::<Result<_>>()?, source, within, &groups);
    }
    let names = if all.iter().any(|name| name == last) { vec![last] } else { last.split(',').collect() };
    let named = names.iter().map(|name| {
        if !all.iter().any(|known| known == name) {
            let known: Vec<&str> = groups.iter().chain(&all).map(String::as_str).collect();
            let hint = hint(name, known.iter().copied());
            return Err(refused(format!(
                "\"/{above}\" has no group or dataset \"{name}\"; it has {}{hint}",
                listed(&known)
            )));
        }
        let dataset = open(name)?;
        if is_number(dataset.dtype()) && matches!(dataset.shape().len(), 1 | 2) {
            return Ok(dataset);
        }
        let (shape, dtype) = (dataset.shape(), dataset.dtype());
        Err(refused(format!(
            "dataset \"{name}\" has shape {shape:?} and type {dtype:?}, expected numbers in one or two dimensions"
        )))
    });
    named.collect()
}

/// The 1-D datasets of numbers among those of a group; if there is none, the only 2-D one.
fn of_group(all: Vec<Dataset>, source: &str, group: &str, groups: &[String]) -> Result<Vec<Dataset>> {
    let of = |dimensions: usize| {
        let fits = |dataset: &&Dataset| is_number(dataset.dtype()) && dataset.shape().len() == dimensions;
        all.iter().filter(fits).cloned().collect::<Vec<_>>()
    };
    let (columns, mut tables) = (of(1), of(2));
    if !columns.is_empty() {
        return Ok(columns);
    }
    if tables.len() == 1 {
        return Ok(vec![tables.remove(0)]);
    }
    let names: Vec<&str> = groups.iter().map(String::as_str).chain(all.iter().map(Dataset::name)).collect();
    let what =
        if tables.is_empty() { "no datasets of numbers in one or two dimensions" } else { "several 2-D datasets" };
    let remedy = if names.is_empty() {
        String::new()
    } else {
        format!("; name one of {}, as in {source}:/name", listed(&names))
    };
    Err(Error::new(format!("{source}: \"{group}\" has {what}{remedy}")))
}

/// The names of all columns and the number of rows.
fn columns(datasets: &[Dataset], source: &str, within: &str) -> Result<(Vec<String>, usize)> {
    let (mut names, rows) = (Vec::new(), datasets.first().map_or(0, |dataset| dataset.shape()[0]));
    for dataset in datasets {
        let (name, got) = (dataset.name(), dataset.shape()[0]);
        if got != rows {
            let first = datasets[0].name();
            let within = within.trim_end_matches('/');
            let remedy = format!("name those of one length, as in {source}:{within}/{first},…");
            return Err(Error::new(format!(
                "{source}: dataset \"{name}\" has {got} rows, dataset \"{first}\" has {rows}; {remedy}"
            )));
        }
        let width = width(dataset);
        check_width(source, width)?;
        match (dataset.shape().len(), datasets.len()) {
            (1, _) => names.push(name.to_owned()),
            (_, 1) => names.extend((0..width).map(|j| format!("c{j}"))),
            _ => names.extend((0..width).map(|j| format!("{name}_{j}"))),
        }
    }
    check_columns(source, &names, rows as usize)?;
    Ok((names, rows as usize))
}

/// Number of columns of a dataset.
fn width(dataset: &Dataset) -> usize {
    dataset.shape().get(1).map_or(1, |width| *width as usize)
}

impl RowSource for Hdf5 {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> &[String] {
        &self.names
    }

    fn read(&self, range: Range<usize>, places: &[usize], into: &mut [&mut [f64]]) -> Result<()> {
        check_request(self, &range, places, into);
        let mut first = 0;
        for dataset in &self.datasets {
            let columns = first..first + width(dataset);
            first = columns.end;
            let expected = places.iter().enumerate().filter(|(_, place)| columns.contains(place));
            let expected: Vec<(usize, usize)> =
                expected.map(|(buffer, place)| (place - columns.start, buffer)).collect();
            let Some(low) = expected.iter().map(|(column, _)| *column).min() else { continue };
            let high = expected.iter().map(|(column, _)| column + 1).max().unwrap_or(low + 1);
            let piece_rows = (PIECE_NUMBERS / (high - low)).max(1);
            for start in range.clone().step_by(piece_rows) {
                let rows = start..range.end.min(start + piece_rows);
                let numbers = self.numbers(dataset, rows.clone(), low..high)?;
                for &(column, buffer) in &expected {
                    let buffer = &mut into[buffer][rows.start - range.start..rows.end - range.start];
                    let column = numbers.iter().skip(column - low).step_by(high - low);
                    buffer.iter_mut().zip(column).for_each(|(x, number)| *x = number.0);
                }
            }
        }
        Ok(())
    }

    fn fingerprint(&self) -> Result<String> {
        self.file.fingerprint(&self.within)
    }
}

impl Hdf5 {
    /// The numbers in rows and columns of a dataset, row after row.
    fn numbers(&self, dataset: &Dataset, rows: Range<usize>, columns: Range<usize>) -> Result<Vec<Number>> {
        let slice =
            |range: &Range<usize>| SliceInfoElem::Slice { start: range.start as u64, end: range.end as u64, step: 1 };
        let mut selections = vec![slice(&rows), slice(&columns)];
        selections.truncate(dataset.shape().len());
        let expected = rows.len() * columns.len();
        let numbers = guarded(self.file.name(), || {
            let numbers = dataset.read_slice::<Number>(&SliceInfo { selections })?;
            // Its numbers lie row after row from the start of one vector; an iterator over any number of dimensions is slow.
            let is_plain = numbers.is_standard_layout();
            let (numbers, first) = numbers.into_raw_vec_and_offset();
            Ok(if is_plain && first.unwrap_or(0) == 0 { numbers } else { Vec::new() })
        })?;
        if numbers.len() == expected {
            return Ok(numbers);
        }
        let (file, name, got) = (self.file.name(), dataset.name(), numbers.len());
        Err(Error::new(format!("{file}: dataset \"{name}\": got {got} numbers, expected {expected}")))
    }
}

/// The bytes of a file, for the crate.
struct Bytes(Arc<RangeFile>);

impl Storage for Bytes {
    fn len(&self) -> u64 {
        self.0.bytes()
    }

    fn read_range(&self, offset: u64, len: usize) -> hdf5_reader::error::Result<StorageBuffer> {
        // Checked before memory is allocated.
        let available = self.0.bytes().saturating_sub(offset);
        if len as u64 > available {
            return Err(hdf5_reader::error::Error::UnexpectedEof { offset, needed: len as u64, available });
        }
        let mut bytes = vec![0; len];
        self.0.read(&mut bytes, offset).map_err(|error| hdf5_reader::error::Error::Other(error.to_string()))?;
        Ok(StorageBuffer::from_vec(bytes))
    }
}

/// What the crate returns, with the name of the file in an error.
fn guarded<T>(source: &str, call: impl FnOnce() -> hdf5_reader::error::Result<T>) -> Result<T> {
    let named = |what: &dyn std::fmt::Display| {
        let what = what.to_string().replace(&format!("{source}: "), "");
        Error::new(format!("{source}: cannot be read as HDF5: {what}"))
    };
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(outcome) => outcome.map_err(|error| named(&error)),
        Err(panic) => Err(named(&format!("it is damaged ({})", panic_text(&*panic)))),
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason known")
}
