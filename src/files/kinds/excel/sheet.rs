//! Reads the cells of one sheet; `rows.rs` makes a table of them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::dates::{self, Shows};
use super::rows::{Merge, SheetRow};
use super::xml::{Attributes, Part, Xml};
use crate::error::{Error, Result};
use crate::files::kinds::grid::Grid;
use crate::files::number_text;
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
    /// The rows of the sheet that are not empty.
    pub(super) rows: Vec<SheetRow>,
    pub(super) merges: Vec<Merge>,
    /// The row and column of each formula without a stored value.
    pub(super) formulas: Vec<(usize, usize)>,
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
    has_formula: bool,
}

impl Workbook {
    /// A workbook whose days count from 1904 or from 1900.
    pub(crate) fn new(is_1904: bool) -> Self {
        Self { is_1904, ..Self::default() }
    }

    /// Reads the text of a sheet.
    pub(crate) fn read(&mut self, text: &str, source: &str) -> Result<()> {
        let mut xml = Xml::new(text);
        let (mut row, mut cell, mut is_value, mut next, mut line) = (Vec::new(), Cell::default(), false, 0, 0_usize);
        let place = |line: usize, what: &str| Error::new(format!("{source}: row {line} of the sheet: {what}"));
        for part in xml.by_ref() {
            match part {
                Part::Start("row", of) => {
                    (next, line) = (0, of.get("r").and_then(|row| row.parse().ok()).unwrap_or(line + 1));
                }
                Part::End("row") if row.is_empty() => {}
                Part::End("row") => self.rows.push(SheetRow { line, cells: std::mem::take(&mut row) }),
                Part::Start("c", of) => {
                    cell = self.cell(of, next);
                    next = cell.column + 1;
                    if cell.column >= MOST_COLUMNS {
                        return Err(place(line, &format!("got more than {MOST_COLUMNS} columns")));
                    }
                }
                Part::Start("f", _) => cell.has_formula = true,
                Part::Start("v" | "t", _) => is_value = true,
                Part::End("v" | "t") => is_value = false,
                Part::Text(text) if is_value => cell.text.push_str(&text),
                Part::End("c") => {
                    let code = self.code(&cell).map_err(|what| place(line, &what))?;
                    if code.is_none() && cell.has_formula {
                        self.formulas.push((line, cell.column));
                    }
                    row.extend(code.map(|code| (cell.column, code)));
                }
                Part::Start("mergeCell", of) => self.merges.extend(of.get("ref").and_then(|text| merge(&text))),
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
            has_formula: false,
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
    /// `columns` has the column of the table for each column of the sheet.
    pub(super) fn show_percents(&mut self, columns: &BTreeMap<usize, usize>) {
        for (column, &place) in columns {
            if self.has_plain.get(*column).is_some_and(|has| *has) {
                continue;
            }
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
}

/// The column of a place such as `AB12`, from 0.
fn column(place: &str) -> Option<usize> {
    let letters = place.bytes().take_while(u8::is_ascii_alphabetic);
    let number = letters
        .take(8)
        .fold(0_usize, |number, letter| 26 * number + usize::from(letter.to_ascii_uppercase() - b'A' + 1));
    number.checked_sub(1)
}

/// The cells of a range such as `A2:A101`.
fn merge(text: &str) -> Option<Merge> {
    let (first, last) = text.split_once(':')?;
    let line = |place: &str| place.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse::<usize>().ok();
    Some(Merge { lines: line(first)?..=line(last)?, columns: column(first)?..=column(last)? })
}
