//! Reads the cells of one sheet into a grid.

use std::borrow::Cow;

use super::dates::{self, Shows};
use super::xml::{Attributes, Part, Xml};
use crate::error::{Error, Result};
use crate::files::kinds::grid::Grid;
use crate::files::number_text;
use crate::files::text::{Format, Header};
use crate::host;

/// Columns that a sheet can have.
const MOST_COLUMNS: usize = 16_384;

/// The parts of a workbook that its cells refer to, and the table so far.
#[derive(Default)]
pub(crate) struct Workbook {
    is_1904: bool,
    /// What each style shows.
    pub(crate) styles: Vec<Shows>,
    /// The texts that cells share.
    pub(crate) shared: Vec<u32>,
    pub(crate) grid: Grid,
    /// The column of the table for each column of the sheet.
    columns: Vec<Option<usize>>,
    /// Whether the first row was seen.
    has_started: bool,
    /// The numbers of the texts of percentages, ascending.
    percents: Vec<u32>,
    /// For each column of the sheet, whether it has numbers that are no percentages.
    has_plain: Vec<bool>,
}

/// A cell being read.
#[derive(Default)]
struct Cell {
    /// From 0.
    column: usize,
    kind: String,
    shows: Shows,
    text: String,
}

/// A row being read: columns of the sheet, and numbers of their texts.
type Row = Vec<(usize, u32)>;

impl Workbook {
    /// A workbook whose days count from 1904 or from 1900.
    pub(crate) fn new(is_1904: bool) -> Self {
        Self { is_1904, ..Self::default() }
    }

    /// Reads the text of a sheet into the grid.
    pub(crate) fn read(&mut self, text: &str, source: &str, format: &Format) -> Result<()> {
        let mut xml = Xml::new(text);
        let (mut row, mut cell, mut is_value, mut next, mut line) = (Row::new(), Cell::default(), false, 0, 0_usize);
        let place = |line: usize, what: &str| Error::new(format!("{source}: row {line} of the sheet: {what}"));
        for part in xml.by_ref() {
            match part {
                Part::Start("row", of) => {
                    (next, line) = (0, of.get("r").and_then(|row| row.parse().ok()).unwrap_or(line + 1));
                }
                Part::End("row") => self.end_row(std::mem::take(&mut row), format),
                Part::Start("c", of) => {
                    cell = self.cell(of, next);
                    next = cell.column + 1;
                    if cell.column >= MOST_COLUMNS {
                        return Err(place(line, &format!("got more than {MOST_COLUMNS} columns")));
                    }
                }
                Part::Start("v" | "t", _) => is_value = true,
                Part::End("v" | "t") => is_value = false,
                Part::Text(text) if is_value => cell.text.push_str(&text),
                Part::End("c") => {
                    let code = self.code(&cell).map_err(|what| place(line, &what))?;
                    row.extend(code.map(|code| (cell.column, code)));
                }
                Part::End("sheetData") => break,
                _ => {}
            }
        }
        if xml.is_broken {
            return Err(place(line, "is cut short"));
        }
        Ok(())
    }

    fn cell(&self, of: Attributes<'_>, next: usize) -> Cell {
        let style = of.get("s").and_then(|style| style.parse::<usize>().ok());
        Cell {
            column: of.get("r").and_then(|place| column(&place)).unwrap_or(next),
            kind: of.get("t").map_or_else(String::new, Cow::into_owned),
            shows: style.and_then(|style| self.styles.get(style).copied()).unwrap_or_default(),
            text: String::new(),
        }
    }

    /// The number of a cell's text; none if it is empty.
    fn code(&mut self, cell: &Cell) -> std::result::Result<Option<u32>, String> {
        let text = cell.text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        let text = match cell.kind.as_str() {
            "s" => {
                let code = text.parse::<usize>().ok().and_then(|at| self.shared.get(at));
                return code
                    .map(|code| Some(*code))
                    .ok_or_else(|| format!("shared text {text} is not in the workbook"));
            }
            "b" => if text == "1" { "true" } else { "false" }.to_owned(),
            "" | "n" => return Ok(Some(self.number_code(text, cell))),
            _ => cell.text.clone(),
        };
        Ok(Some(self.grid.texts.add(text.as_bytes())))
    }

    /// The number of the text of a number.
    fn number_code(&mut self, text: &str, cell: &Cell) -> u32 {
        let text = self.number(text, cell.shows);
        let code = self.grid.texts.add(text.as_bytes());
        match cell.shows {
            Shows::Percent => self.percents.push(code),
            Shows::Number => {
                if self.has_plain.len() <= cell.column {
                    self.has_plain.resize(cell.column + 1, false);
                }
                self.has_plain[cell.column] = true;
            }
            _ => {}
        }
        code
    }

    /// Writes percentages as they are shown, as in the CSV of the sheet. Among plain numbers they stay the fractions that they are.
    pub(crate) fn show_percents(&mut self) {
        for (column, place) in self.columns.iter().enumerate() {
            let Some(place) = place.filter(|_| !self.has_plain.get(column).is_some_and(|has| *has)) else { continue };
            self.grid.rewrite(place, |code, text| {
                let is_percent = self.percents.binary_search(&code).is_ok();
                let value = std::str::from_utf8(text).ok().filter(|_| is_percent).and_then(host::parse_number);
                value.map(dates::percent)
            });
        }
    }

    /// A number in the fewest digits, or the point in time that it is shown as. Whole numbers keep their digits.
    fn number(&self, text: &str, shows: Shows) -> String {
        let Some(value) = host::parse_number(text) else { return text.to_owned() };
        let time = dates::text(value, shows, self.is_1904);
        let is_whole = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        time.unwrap_or_else(|| if is_whole { text.to_owned() } else { number_text(value) })
    }

    /// The first row that is not empty names the columns, or is data.
    fn end_row(&mut self, row: Row, format: &Format) {
        if row.is_empty() {
            return;
        }
        let is_first = !std::mem::replace(&mut self.has_started, true);
        if is_first && self.has_names(&row, format) {
            for (column, code) in row {
                let name = String::from_utf8_lossy(self.grid.texts.get(code).trim_ascii()).into_owned();
                self.column(column, Some(name));
            }
            return;
        }
        for (column, code) in row {
            let place = self.column(column, None);
            self.grid.set(place, code);
        }
        self.grid.end_row();
    }

    fn has_names(&self, row: &Row, format: &Format) -> bool {
        match format.header {
            Header::Yes => true,
            Header::No => false,
            Header::Auto => !row.iter().any(|(_, code)| format.is_number(self.grid.texts.get(*code))),
        }
    }

    /// The column of the table for a column of the sheet, which is added if it is new; without a name it has that of its place.
    fn column(&mut self, column: usize, name: Option<String>) -> usize {
        if self.columns.len() <= column {
            self.columns.resize(column + 1, None);
        }
        let grid = &mut self.grid;
        *self.columns[column].get_or_insert_with(|| grid.add_column(name.unwrap_or_else(|| format!("c{column}"))))
    }
}

/// The column of a place such as `AB12`, from 0.
fn column(place: &str) -> Option<usize> {
    let letters = place.bytes().take_while(u8::is_ascii_alphabetic);
    let number = letters
        .take(8)
        .fold(0_usize, |number, letter| 26 * number + usize::from(letter.to_ascii_uppercase() - b'A' + 1));
    number.checked_sub(1)
}
