//! The rows of a table as coordinates and classes.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::through::Encoder;
use crate::options::reading::{Reading, read, say_notes};
use crate::{Answer, Failure};
use meromorph::Device;
use meromorph::contrast::{Labelled, MemoryHeader, RowOrigin};
use meromorph::error::{Error, listed};
use meromorph::files::{Cells, Column, Format, MISSING_CODE, Table, npy, open_rows};
use meromorph::internal::host::number;
use meromorph::report::{count, counted};

/// Rows of an array that are read at a time.
const PART_ROWS: usize = 4096;

/// Where labelled rows come from.
#[derive(clap::Args)]
pub(crate) struct Source {
    /// Rows to learn from: CSV, TSV, JSON lines, Parquet, XLSX, NPY or NPZ file, text also as .gz or .zst; - reads standard input
    pub(crate) file: PathBuf,
    /// Column with the class of each row; the other columns are the coordinates
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,
    /// File with the class of each row, of one column, instead of a column of the table
    #[arg(long, value_name = "FILE", conflicts_with = "target")]
    labels: Option<PathBuf>,
    /// Columns that are the coordinates; by default all but the target
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(super) columns: Vec<String>,
    #[command(flatten)]
    reading: Reading,
}

impl Source {
    /// What the command line says of the rows.
    pub(crate) fn rows(&self) -> Answer<Rows> {
        if self.classes_option().is_none() {
            let what = "got no classes, expected --target with their column or --labels with their file";
            return Err(Failure::usage(format!("{}: {what}", self.file.display())));
        }
        let labels = self.labels.as_ref().map(|path| path.display().to_string());
        let (target, columns) = (self.target.clone(), self.columns.clone());
        Ok(Rows {
            file: self.file.clone(),
            source: RowOrigin { format: self.reading.format()?, target, labels, columns, ..RowOrigin::default() },
        })
    }

    /// The rows of a checkpoint, named `name` in messages; its labels may have moved to another file. Errors if another target is given.
    pub(crate) fn rows_again(&self, stored: RowOrigin, name: &str) -> Answer<Rows> {
        let mut source = stored;
        match (&self.target, &self.labels, &source.target) {
            (Some(target), _, Some(own)) if target != own => {
                return Err(Error::new(format!("{name}: it learns \"{own}\", not \"{target}\"")).into());
            }
            (Some(target), _, None) => {
                return Err(Failure::usage(format!(
                    "{name}: got --target {target}, expected --labels with their file"
                )));
            }
            (_, Some(labels), Some(own)) => {
                let labels = labels.display();
                return Err(Failure::usage(format!("{name}: got --labels {labels}, expected --target {own}")));
            }
            (_, Some(labels), None) => source.labels = Some(labels.display().to_string()),
            _ => {}
        }
        Ok(Rows { file: self.file.clone(), source })
    }

    /// The table as it is.
    pub(super) fn table(&self, command: &str) -> Answer<Table> {
        read_table(&self.file, &self.reading.format()?, command)
    }

    /// The option that says where the classes are, if one does.
    pub(super) fn classes_option(&self) -> Option<&'static str> {
        let target = self.target.as_ref().map(|_| "target");
        target.or_else(|| self.labels.as_ref().map(|_| "labels"))
    }

    /// The files that are read, with what they are.
    pub(crate) fn inputs(&self) -> Vec<(&'static str, &Path)> {
        let labels = self.labels.as_deref().map(|labels| ("labels", labels));
        [("table", self.file.as_path())].into_iter().chain(labels).collect()
    }
}

/// A file of rows, and how they are read.
pub(crate) struct Rows {
    pub(crate) file: PathBuf,
    pub(crate) source: RowOrigin,
}

impl Rows {
    /// The rows of the table with their classes, for a command.
    pub(crate) fn read(&self, command: &str, device: &Device) -> Answer<(Labelled, MemoryHeader)> {
        if let (Some(labels), Some((columns, x))) = (&self.source.labels, self.vectors()?) {
            let labels = self.labels(labels, x.len() / columns.len())?;
            let (classes, names, is_numeric) = classes(&labels, &labels.columns()[0])?;
            let header = MemoryHeader { is_numeric, columns, target: self.target(), ..MemoryHeader::default() };
            return Ok((Labelled { inputs: header.columns.len(), x, classes, names }, header));
        }
        let (table, labels) = self.tables(command)?;
        let target = self.target();
        let column = match &labels {
            Some(labels) => &labels.columns()[0],
            None => &table.columns()[table.readable(&target)?],
        };
        let (classes, names, is_numeric) = classes(labels.as_ref().unwrap_or(&table), column)?;
        let header = MemoryHeader { target, is_numeric, ..MemoryHeader::default() };
        if let Some(model) = &self.source.through {
            let encoder = Encoder::open(Path::new(model), self.source.layer)?;
            if self.source.target.as_ref().is_some_and(|target| encoder.reads(target)) {
                return Err(Failure::usage(format!(
                    "--target: \"{}\" is a column that {model} reads: expected one that it does not know",
                    header.target
                )));
            }
            let (inputs, x) = encoder.encode(device, &table)?;
            let header = MemoryHeader { through: Some(encoder.through), ..header };
            return Ok((Labelled { inputs, x, classes, names }, header));
        }
        let (columns, x) = coordinates(&table, &self.source.columns, self.source.target.as_deref())?;
        let inputs = columns.len();
        Ok((Labelled { inputs, x, classes, names }, MemoryHeader { columns, ..header }))
    }

    /// The coordinates of an array of NumPy, whose numbers are read some rows at a time into half of the memory of a table.
    fn vectors(&self) -> Answer<Option<(Vec<String>, Vec<f32>)>> {
        let is_array = || {
            File::open(&self.file).is_ok_and(|mut file| {
                let mut start = [0; npy::MAGIC.len()];
                file.read_exact(&mut start).is_ok() && start == *npy::MAGIC
            })
        };
        let is_plain = self.source.through.is_none() && self.file != Path::new("-") && self.file.is_file();
        if !is_plain || !is_array() {
            return Ok(None);
        }
        let rows = open_rows(&self.file, self.source.format.clone())?;
        let source = self.file.display().to_string();
        let all: Vec<&str> = rows.columns().iter().map(String::as_str).collect();
        let names = chosen(&source, &all, &self.source.columns, None)?;
        let mut places = Vec::with_capacity(names.len());
        for name in &names {
            let Some(place) = all.iter().position(|known| known == name) else {
                return Err(
                    Error::new(format!("{source}: column \"{name}\" is not there: it has {}", listed(&all))).into()
                );
            };
            places.push(place);
        }
        let mut x = Vec::with_capacity(rows.rows() * names.len());
        let mut columns = vec![vec![0.0; PART_ROWS]; names.len()];
        for from in (0..rows.rows()).step_by(PART_ROWS) {
            let count = PART_ROWS.min(rows.rows() - from);
            let mut into: Vec<&mut [f64]> = columns.iter_mut().map(|column| &mut column[..count]).collect();
            rows.read(from..from + count, &places, &mut into)?;
            let columns: Vec<&[f64]> = columns.iter().map(|column| &column[..count]).collect();
            push_rows(&mut x, &columns, &names, (&source, from))?;
        }
        Ok(Some((names, x)))
    }

    /// The table with the labels as a column of it, the name of that column, and the columns that were chosen.
    pub(crate) fn table(&self, command: &str) -> Answer<(Table, String, Option<Vec<String>>)> {
        let (table, labels) = self.tables(command)?;
        let chosen = (!self.source.columns.is_empty()).then(|| self.source.columns.clone());
        let Some(labels) = labels else { return Ok((table, self.target(), chosen)) };
        let name = ["label", "label_"].into_iter().find(|name| table.find(name).is_none()).unwrap_or("label__");
        let mut labels = labels.columns()[0].clone();
        name.clone_into(&mut labels.name);
        let columns = table.columns().iter().cloned().chain([labels]).collect();
        Ok((Table::new(table.source(), columns)?, name.to_owned(), chosen))
    }

    fn target(&self) -> String {
        self.source.target.clone().or_else(|| self.source.labels.clone()).unwrap_or_default()
    }

    /// The table, and that of the labels if they have a file.
    fn tables(&self, command: &str) -> Answer<(Table, Option<Table>)> {
        let table = read_table(&self.file, &self.source.format, command)?;
        let Some(path) = &self.source.labels else { return Ok((table, None)) };
        let labels = self.labels(path, table.rows())?;
        Ok((table, Some(labels)))
    }

    /// The table of the labels of so many rows.
    fn labels(&self, path: &str, rows: usize) -> Answer<Table> {
        let labels = read(Path::new(path), &self.source.format)?;
        if labels.columns().len() != 1 {
            let (source, got) = (labels.source(), labels.columns().len());
            return Err(Failure::usage(format!("{source}: got {got} columns, expected one, with the labels")));
        }
        if labels.rows() != rows {
            let (rows, labels) = (count(rows as u64), counted(labels.rows(), "label"));
            return Err(Failure::usage(format!("labels: got {labels} for {rows} rows, expected one for each")));
        }
        Ok(labels)
    }
}

/// A table, whose notes are said.
fn read_table(file: &Path, format: &Format, command: &str) -> Answer<Table> {
    let table = read(file, format)?;
    say_notes(command, &table);
    Ok(table)
}

/// The names of the chosen columns, or of all but `without`, and their numbers [rows, columns].
pub(crate) fn coordinates(table: &Table, columns: &[String], without: Option<&str>) -> Answer<(Vec<String>, Vec<f32>)> {
    let names = chosen(table.source(), &table.names().collect::<Vec<_>>(), columns, without)?;
    let columns = names.iter().map(|name| table.numbers(name)).collect::<meromorph::Result<Vec<&[f64]>>>()?;
    let mut x = Vec::with_capacity(names.len() * table.rows());
    push_rows(&mut x, &columns, &names, (table.source(), 0))?;
    Ok((names, x))
}

/// The chosen columns, or all of a source but `without`.
fn chosen(source: &str, all: &[&str], chosen: &[String], without: Option<&str>) -> Answer<Vec<String>> {
    let others = || all.iter().filter(|name| Some(**name) != without).map(|name| (*name).to_owned()).collect();
    let names: Vec<String> = if chosen.is_empty() { others() } else { chosen.to_vec() };
    if names.is_empty() {
        return Err(Failure::usage(format!("{source}: got no columns besides the target, expected at least one")));
    }
    for (at, name) in names.iter().enumerate() {
        if Some(&name[..]) == without || names[..at].contains(name) {
            let what = if Some(&name[..]) == without { "is the target" } else { "is named twice" };
            return Err(Failure::usage(format!("--columns: \"{name}\" {what}: expected each coordinate once")));
        }
    }
    Ok(names)
}

/// Appends the rows of columns, of which the first is the row `from` of a source. Errors if one has no number in a column.
fn push_rows(x: &mut Vec<f32>, columns: &[&[f64]], names: &[String], (source, from): (&str, usize)) -> Answer {
    for row in 0..columns.first().map_or(0, |column| column.len()) {
        for (column, name) in columns.iter().zip(names) {
            let value = column[row];
            if !(value as f32).is_finite() {
                let got = if value.is_nan() { "nothing".to_owned() } else { number(value).to_string() };
                let row = from + row + 1;
                return Err(Error::new(format!(
                    "{source}: row {row}, column \"{name}\": got {got}, expected a finite number of single precision"
                ))
                .into());
            }
            x.push(value as f32);
        }
    }
    Ok(())
}

/// The class of each row, the names of the classes in order, and whether they are numbers.
fn classes(table: &Table, column: &Column) -> Answer<(Vec<u32>, Vec<String>, bool)> {
    let missing = |row: usize| {
        let (source, name) = (table.source(), &column.name);
        Failure::from(Error::new(format!(
            "{source}: row {}, column \"{name}\": got no label, expected one for each row",
            row + 1
        )))
    };
    match column.as_category() {
        Cells::Categorical { codes, levels } => match codes.iter().position(|code| *code == MISSING_CODE) {
            Some(row) => Err(missing(row)),
            None => Ok((codes.clone(), levels.clone(), matches!(column.cells, Cells::Numeric(_)))),
        },
        Cells::Numeric(values) => {
            if let Some(row) = values.iter().position(|value| value.is_nan()) {
                return Err(missing(row));
            }
            let mut levels = values.clone();
            levels.sort_by(f64::total_cmp);
            levels.dedup();
            let code = |value: &f64| levels.partition_point(|level| level < value) as u32;
            let names = levels.iter().map(|level| number(*level).to_string()).collect();
            Ok((values.iter().map(code).collect(), names, true))
        }
    }
}
