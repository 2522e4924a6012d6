//! Reads one sheet of an Excel workbook (.xlsx, ECMA-376) as a table. The first row that is not empty holds the names, as in delimited text, or the
//! first below a title; empty rows and columns are skipped. Cells that are merged over several rows have their value in each. Cells become texts: numbers in the fewest digits, dates in ISO 8601, truth values as `true` and `false`.

mod dates;
mod rows;
mod sheet;
mod xml;

use crate::error::{Error, Result, hint, listed};
use crate::files::text::Format;
use crate::files::{Table, Warning};
use crate::host::{ARCHIVE_MAGIC, Archive};

use super::grid::Texts;
use super::kind::Kind;
use sheet::Workbook;
use xml::{Part, Xml};

pub(crate) static KIND: Kind = Kind {
    name: "an Excel workbook",
    magic: ARCHIVE_MAGIC,
    is: is_workbook,
    options: &["header", "na", "keep_na", "sheet", "skip", "header_row"],
    read: Some(read),
    open: None,
};

/// The part that names the sheets.
pub(crate) const WORKBOOK: &str = "xl/workbook.xml";

/// The part that says which sheet is in which part.
const RELATIONS: &str = "xl/_rels/workbook.xml.rels";

/// Whether an archive has the part that names the sheets, which only its end shows.
fn is_workbook(bytes: &[u8]) -> bool {
    let names = |bytes| Archive::open(bytes, "")?.names();
    names(bytes).is_ok_and(|names| names.iter().any(|name| name == WORKBOOK))
}

fn read(bytes: &[u8], source: &str, format: &Format) -> Result<Table> {
    let mut parts = Parts { archive: Archive::open(bytes, source)?, source };
    let names = parts.archive.names()?;
    let (sheets, is_1904) = sheets(&parts.text(WORKBOOK)?);
    let chosen = chosen(&sheets, source, format)?;
    let part = |end: &str| names.iter().find(|name| name.eq_ignore_ascii_case(end)).cloned();
    let mut workbook = Workbook::new(is_1904);
    if let Some(name) = part("xl/styles.xml") {
        workbook.styles = dates::styles(&parts.text(&name)?);
    }
    if let Some(name) = part("xl/sharedStrings.xml") {
        workbook.shared = shared(&parts.text(&name)?, &mut workbook.grid.texts);
    }
    let relations = parts.text(RELATIONS)?;
    let mut read = chosen;
    // A sheet without rows holds no table; unless it is named, the next one that has rows does.
    let others = sheets.iter().filter(|sheet| !sheet.is_hidden && format.sheet.is_none() && sheet.key != chosen.key);
    for sheet in std::iter::once(chosen).chain(others) {
        let Some(place) = place(&relations, &sheet.key).filter(|place| names.contains(place)) else {
            return Err(Error::new(format!("{source}: is damaged: a sheet of the workbook is missing")));
        };
        workbook.read(&parts.text(&place)?, source)?;
        if !workbook.rows.is_empty() {
            read = sheet;
            break;
        }
    }
    let empty = (read.key != chosen.key).then(|| {
        let (empty, read) = (&chosen.name, &read.name);
        Warning::of_table(format!("sheet \"{empty}\" is empty; sheet \"{read}\" is read; sheet names another"))
    });
    let names: Vec<&str> = sheets.iter().map(|sheet| sheet.name.as_str()).collect();
    let others = if names.len() > 1 {
        format!("; the sheets are {}, of which sheet names one", listed(&names))
    } else {
        String::new()
    };
    Ok(workbook.table(source, format)?.noting(hidden(&sheets, format)).noting(empty).with_hint(others))
}

/// What is said of hidden sheets before the one that is read.
fn hidden(sheets: &[Sheet], format: &Format) -> Option<Warning> {
    let at = sheets.iter().position(|sheet| !sheet.is_hidden)?;
    if at == 0 || format.sheet.is_some() {
        return None;
    }
    let names: Vec<&str> = sheets[..at].iter().map(|sheet| sheet.name.as_str()).collect();
    let (read, names) = (&sheets[at].name, listed(&names));
    Some(Warning::of_table(format!(
        "reads sheet \"{read}\", the first that is not hidden; hidden before it: {names}; sheet names another"
    )))
}

/// The members of the archive.
struct Parts<'a> {
    archive: Archive<'a>,
    source: &'a str,
}

impl Parts<'_> {
    fn text(&mut self, name: &str) -> Result<String> {
        let bytes = self.archive.unpack(name)?;
        String::from_utf8(bytes).map_err(|_| Error::new(format!("{}: member {name} is not UTF-8 text", self.source)))
    }
}

/// A sheet: its name, the key of its part, and whether it is hidden.
struct Sheet {
    name: String,
    key: String,
    is_hidden: bool,
}

/// The sheets in their order, and whether days count from 1904.
fn sheets(text: &str) -> (Vec<Sheet>, bool) {
    let (mut sheets, mut is_1904) = (Vec::new(), false);
    for part in Xml::new(text) {
        match part {
            Part::Start("sheet", of) => {
                let is_hidden = of.get("state").is_some_and(|state| state != "visible");
                let sheet = of.get("name").zip(of.get("id"));
                let sheet =
                    sheet.map(|(name, key)| Sheet { name: name.into_owned(), key: key.into_owned(), is_hidden });
                sheets.extend(sheet);
            }
            Part::Start("workbookPr", of) => {
                is_1904 = of.get("date1904").is_some_and(|set| set == "1" || set == "true");
            }
            _ => {}
        }
    }
    (sheets, is_1904)
}

/// The sheet that `format` names, or the first that is not hidden.
fn chosen<'a>(sheets: &'a [Sheet], source: &str, format: &Format) -> Result<&'a Sheet> {
    let Some(first) = sheets.iter().find(|sheet| !sheet.is_hidden).or(sheets.first()) else {
        return Err(Error::new(format!("{source}: is a workbook without sheets")));
    };
    let Some(expected) = &format.sheet else { return Ok(first) };
    if let Some(sheet) = sheets.iter().find(|sheet| sheet.name == *expected) {
        return Ok(sheet);
    }
    let names: Vec<&str> = sheets.iter().map(|sheet| sheet.name.as_str()).collect();
    let guess = hint(expected, names.iter().copied());
    Err(Error::new(format!("{source}: sheet \"{expected}\" is not in it; it has {}{guess}", listed(&names))))
}

/// The member that holds the part with a key.
fn place(text: &str, id: &str) -> Option<String> {
    let target = Xml::new(text).find_map(|part| match part {
        Part::Start("Relationship", of) if of.get("Id").is_some_and(|known| known == id) => of.get("Target"),
        _ => None,
    })?;
    Some(target.strip_prefix('/').map_or_else(|| format!("xl/{target}"), str::to_owned))
}

/// The texts that cells share, in their order. Phonetic readings do not belong to them.
fn shared(text: &str, texts: &mut Texts) -> Vec<u32> {
    let (mut codes, mut out, mut is_text, mut is_reading) = (Vec::new(), String::new(), false, false);
    for part in Xml::new(text) {
        match part {
            Part::Start("si", _) => out.clear(),
            Part::End("si") => codes.push(texts.add(out.as_bytes())),
            Part::Start("t", _) => is_text = true,
            Part::End("t") => is_text = false,
            Part::Start("rPh", _) => is_reading = true,
            Part::End("rPh") => is_reading = false,
            Part::Text(text) if is_text && !is_reading => out.push_str(&text),
            _ => {}
        }
    }
    codes
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
