//! Makes a table of the rows of a sheet: finds the names, gives merged cells their value, and says what is left out.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::sheet::Workbook;
use crate::error::{Error, Result};
use crate::files::names::{make_distinct, on_one_line};
use crate::files::text::records::Records;
use crate::files::text::sample::{Record, Sample};
use crate::files::text::{Format, Header, Percent};
use crate::files::{Table, Warning};

/// A row that is not empty: its number in the sheet, from 1, and its cells as columns of the sheet and numbers of their texts.
pub(super) struct SheetRow {
    pub(super) line: usize,
    pub(super) cells: Vec<(usize, u32)>,
}

/// Cells that are merged into one, whose value the first has.
pub(super) struct Merge {
    pub(super) lines: RangeInclusive<usize>,
    pub(super) columns: RangeInclusive<usize>,
}

/// What is said of formulas without a stored value.
const FORMULAS: &str = "formulas without stored values, as programs write them that do not compute; open and save the workbook in a spreadsheet program";

impl Workbook {
    /// The table of the rows that were read.
    pub(super) fn table(mut self, source: &str, format: &Format) -> Result<Table> {
        let mut notes = Vec::new();
        let before = format.layout.lines_before();
        self.rows.retain(|row| row.line > before);
        self.rows.sort_by_key(|row| row.line);
        let at = self.names_at(before, source, format)?;
        notes.extend((at > 0).then(|| self.title(at)));
        let units = self.units(at, format);
        let merged = self.fill_merges();
        let mut rows = std::mem::take(&mut self.rows).into_iter().skip(at).peekable();
        let mut columns: BTreeMap<usize, usize> = BTreeMap::new();
        let is_named = at > 0 || format.layout.header_row.is_some();
        let first_line = rows.peek().map_or(0, |row| row.line);
        if let Some(names) = rows.next_if(|row| self.has_names(row, format, is_named)) {
            let name = |code: u32| on_one_line(&String::from_utf8_lossy(self.grid.texts.get(code).trim_ascii()));
            let mut names: Vec<(usize, String)> =
                names.cells.into_iter().map(|(column, code)| (column, name(code))).collect();
            notes.extend(make_distinct(names.iter_mut().map(|(_, name)| name)));
            for (column, name) in names {
                columns.insert(column, self.grid.add_column(name));
            }
        }
        if units > 0 && !columns.is_empty() {
            let lines: Vec<usize> = rows.by_ref().take(units).map(|row| row.line).collect();
            notes.push(units_note(&lines));
        }
        let formulas = std::mem::take(&mut self.formulas);
        let formulas = formulas.into_iter().filter(|(line, _)| *line > first_line);
        for row in rows {
            for (column, code) in row.cells {
                let place = *columns.entry(column).or_insert_with(|| self.grid.add_column(format!("c{column}")));
                self.grid.set(place, code);
            }
            self.grid.end_row();
        }
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        formulas.for_each(|(_, column)| *counts.entry(column).or_default() += 1);
        for (column, count) in counts {
            let Some(place) = columns.get(&column) else { continue };
            if self.grid.is_empty(*place) {
                self.grid.set_unread(*place, &format!("holds {FORMULAS}"));
            } else {
                let message = format!("{count} cells hold {FORMULAS}; they count as missing");
                notes.push(Warning { column: self.grid.name(*place).to_owned(), message, cells: Vec::new() });
            }
        }
        for place in merged.iter().filter_map(|column| columns.get(column)) {
            let message = "merged cells give their value to each of their rows".to_owned();
            notes.push(Warning { column: self.grid.name(*place).to_owned(), message, cells: Vec::new() });
        }
        if format.percent == Percent::Hundredths {
            self.show_percents(&columns);
        }
        Ok(self.grid.table(source, format)?.noting(notes))
    }

    /// The place of the row of names among the rows. Errors if names of two rows belong together, which is not read.
    fn names_at(&self, before: usize, source: &str, format: &Format) -> Result<usize> {
        if before > 0 || format.header == Header::No {
            return Ok(0);
        }
        if let Some(at) = self.sample().names_at(format) {
            return Ok(at);
        }
        let Some(first) = self.rows.first() else { return Ok(0) };
        let is_wide =
            |merge: &&Merge| *merge.lines.start() == first.line && merge.columns.start() < merge.columns.end();
        if first.cells.len() > 1 && self.merges.iter().any(|merge| is_wide(&merge)) {
            let [line, next] = [first.line, first.line + 1];
            return Err(Error::new(format!(
                "{source}: row {line} of the sheet has merged cells above the names: header_row {next} takes the names of row {next}, without those"
            )));
        }
        Ok(0)
    }

    /// How many rows below the names, which are at a place, hold texts where all others hold numbers.
    fn units(&self, at: usize, format: &Format) -> usize {
        let mut sample = self.sample();
        // Cells that are empty at the end of a row are not in the sheet.
        let width = sample.records.iter().map(|record| record.cells.len()).max().unwrap_or(0);
        sample.records.iter_mut().for_each(|record| record.cells.resize(width, String::new()));
        if at + 1 < sample.records.len() { sample.units(at + 1, format) } else { 0 }
    }

    /// The first rows as texts, from the first column that is used.
    fn sample(&self) -> Sample<'_> {
        const MOST: usize = 200;
        let rows = || self.rows.iter().take(MOST);
        let first = rows().flat_map(|row| &row.cells).map(|(column, _)| *column).min().unwrap_or(0);
        let texts = |row: &SheetRow| {
            let width = row.cells.iter().map(|(column, _)| column + 1 - first).max().unwrap_or(0);
            let mut texts = vec![String::new(); width];
            for (column, code) in &row.cells {
                texts[column - first] = String::from_utf8_lossy(self.grid.texts.get(*code).trim_ascii()).into_owned();
            }
            Record { line: row.line, records: Records::new(b"", b',', ""), cells: texts }
        };
        Sample { records: rows().map(texts).collect() }
    }

    /// What is said of the rows above the names.
    fn title(&self, at: usize) -> Warning {
        let codes = self.rows[..at].iter().flat_map(|row| &row.cells).take(5);
        let cells =
            codes.map(|(_, code)| String::from_utf8_lossy(self.grid.texts.get(*code).trim_ascii()).into_owned());
        let line = self.rows[at].line;
        let message = format!(
            "the rows above row {line} of the sheet are above the table and left out; skip and header_row declare another start"
        );
        Warning { column: String::new(), message, cells: cells.collect() }
    }

    /// Gives the value of cells that are merged over several rows to each of these. Returns the columns.
    fn fill_merges(&mut self) -> Vec<usize> {
        let mut columns = Vec::new();
        for merge in &self.merges {
            let (column, first) = (*merge.columns.start(), *merge.lines.start());
            let code_in = |row: &SheetRow| row.cells.iter().find(|(other, _)| *other == column).map(|(_, code)| *code);
            let start = self.rows.partition_point(|row| row.line < first);
            let Some(code) = self.rows.get(start).filter(|row| row.line == first).and_then(code_in) else { continue };
            for row in self.rows[start + 1..].iter_mut().take_while(|row| row.line <= *merge.lines.end()) {
                if code_in(row).is_none() {
                    row.cells.push((column, code));
                    columns.push(column);
                }
            }
        }
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    fn has_names(&self, row: &SheetRow, format: &Format, is_named: bool) -> bool {
        match format.header {
            Header::Yes => true,
            Header::No => false,
            Header::Auto => is_named || !row.cells.iter().any(|(_, code)| format.is_number(self.grid.texts.get(*code))),
        }
    }
}

/// What is said of rows between the names and the numbers.
fn units_note(lines: &[usize]) -> Warning {
    let shown = lines.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
    let rows = if lines.len() == 1 { "row" } else { "rows" };
    Warning::of_table(format!(
        "{rows} {shown} of the sheet: texts below the names where all other rows have numbers, such as units; left out"
    ))
}
