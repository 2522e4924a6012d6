//! The rows of a table as coordinates and classes.

use std::path::{Path, PathBuf};

use crate::options::reading::{Reading, read, say_notes};
use crate::{Answer, Failure};
use meromorph::contrast::{Labelled, MemoryHeader};
use meromorph::error::Error;
use meromorph::files::{Cells, Column, MISSING_CODE, Table};
use meromorph::internal::host::number;
use meromorph::report::{count, counted};

/// Where labelled rows come from.
#[derive(clap::Args)]
pub(crate) struct Source {
    /// Rows to learn from: CSV, TSV, JSON lines, Parquet, XLSX, NPY or NPZ file, text also as .gz or .zst; - reads standard input
    pub(crate) file: PathBuf,
    /// Column with the class of each row; the other columns are the coordinates
    #[arg(long, value_name = "COLUMN", required_unless_present = "labels")]
    target: Option<String>,
    /// File with the class of each row, of one column, instead of a column of the table
    #[arg(long, value_name = "FILE", conflicts_with = "target")]
    labels: Option<PathBuf>,
    /// Columns that are the coordinates; by default all but the target
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    columns: Vec<String>,
    #[command(flatten)]
    reading: Reading,
}

impl Source {
    /// The rows of the table with their classes, for a command.
    pub(crate) fn read(&self, command: &str) -> Answer<(Labelled, MemoryHeader)> {
        let (table, labels) = self.tables(command)?;
        let target = self.target();
        let column = match &labels {
            Some(labels) => &labels.columns()[0],
            None => &table.columns()[table.readable(&target)?],
        };
        let (classes, names) = classes(labels.as_ref().unwrap_or(&table), column)?;
        let (columns, x) = coordinates(&table, &self.columns, self.target.as_deref())?;
        let inputs = columns.len();
        let header = MemoryHeader { columns, target, ..MemoryHeader::default() };
        Ok((Labelled { inputs, x, classes, names }, header))
    }

    /// The table with the labels as a column of it, the name of that column, and the columns that were chosen.
    pub(crate) fn table(&self, command: &str) -> Answer<(Table, String, Option<Vec<String>>)> {
        let (table, labels) = self.tables(command)?;
        let chosen = (!self.columns.is_empty()).then(|| self.columns.clone());
        let Some(labels) = labels else { return Ok((table, self.target(), chosen)) };
        let name = ["label", "label_"].into_iter().find(|name| table.find(name).is_none()).unwrap_or("label__");
        let mut labels = labels.columns()[0].clone();
        name.clone_into(&mut labels.name);
        let columns = table.columns().iter().cloned().chain([labels]).collect();
        Ok((Table::new(table.source(), columns)?, name.to_owned(), chosen))
    }

    /// The files that are read, with what they are.
    pub(crate) fn inputs(&self) -> Vec<(&'static str, &Path)> {
        let labels = self.labels.as_deref().map(|labels| ("labels", labels));
        [("table", self.file.as_path())].into_iter().chain(labels).collect()
    }

    fn target(&self) -> String {
        let of_file = || self.labels.as_ref().map(|path| path.display().to_string());
        self.target.clone().or_else(of_file).unwrap_or_default()
    }

    /// The table, and that of the labels if they have a file.
    fn tables(&self, command: &str) -> Answer<(Table, Option<Table>)> {
        let format = self.reading.format()?;
        let table = read(&self.file, &format)?;
        say_notes(command, &table);
        let Some(path) = &self.labels else { return Ok((table, None)) };
        let labels = read(path, &format)?;
        if labels.columns().len() != 1 {
            let (source, got) = (labels.source(), labels.columns().len());
            return Err(Failure::usage(format!("{source}: got {got} columns, expected one, with the labels")));
        }
        if labels.rows() != table.rows() {
            let (rows, labels) = (count(table.rows() as u64), counted(labels.rows(), "label"));
            return Err(Failure::usage(format!("labels: got {labels} for {rows} rows, expected one for each")));
        }
        Ok((table, Some(labels)))
    }
}

/// The names of the chosen columns, or of all but `without`, and their numbers [rows, columns].
pub(crate) fn coordinates(table: &Table, chosen: &[String], without: Option<&str>) -> Answer<(Vec<String>, Vec<f32>)> {
    let all = || table.names().filter(|name| Some(*name) != without).map(str::to_owned).collect();
    let names: Vec<String> = if chosen.is_empty() { all() } else { chosen.to_vec() };
    if names.is_empty() {
        return Err(Failure::usage(format!(
            "{}: got no columns besides the target, expected at least one",
            table.source()
        )));
    }
    for (at, name) in names.iter().enumerate() {
        if Some(&name[..]) == without || names[..at].contains(name) {
            let what = if Some(&name[..]) == without { "is the target" } else { "is named twice" };
            return Err(Failure::usage(format!("--columns: \"{name}\" {what}: expected each coordinate once")));
        }
    }
    let columns = names.iter().map(|name| table.numbers(name)).collect::<meromorph::Result<Vec<&[f64]>>>()?;
    let mut x = Vec::with_capacity(names.len() * table.rows());
    for row in 0..table.rows() {
        for (column, name) in columns.iter().zip(&names) {
            let value = column[row];
            if !(value as f32).is_finite() {
                let (source, got) =
                    (table.source(), if value.is_nan() { "nothing".to_owned() } else { number(value).to_string() });
                let row = row + 1;
                return Err(Error::new(format!(
                    "{source}: row {row}, column \"{name}\": got {got}, expected a number"
                ))
                .into());
            }
            x.push(value as f32);
        }
    }
    Ok((names, x))
}

/// The class of each row, and the names of the classes in order.
fn classes(table: &Table, column: &Column) -> Answer<(Vec<u32>, Vec<String>)> {
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
            None => Ok((codes.clone(), levels.clone())),
        },
        Cells::Numeric(values) => {
            if let Some(row) = values.iter().position(|value| value.is_nan()) {
                return Err(missing(row));
            }
            let mut levels = values.clone();
            levels.sort_by(f64::total_cmp);
            levels.dedup();
            let code = |value: &f64| levels.partition_point(|level| level < value) as u32;
            Ok((values.iter().map(code).collect(), levels.iter().map(|level| number(*level).to_string()).collect()))
        }
    }
}
