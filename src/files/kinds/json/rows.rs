//! Reads the rows or columns of a JSON text into a grid.

use std::collections::HashMap;

use super::cursor::{Cursor, Scalar};
use super::shape::Member;
use crate::error::{Error, Result};
use crate::files::kinds::grid::Grid;
use crate::files::names::make_distinct;
use crate::files::text::{Format, Header};
use crate::files::{MISSING_CODE, Table, Warning};

pub(super) struct Rows<'a> {
    cursor: Cursor<'a>,
    grid: Grid,
    /// The column of each name.
    places: HashMap<String, usize>,
    /// What is said of names that are there several times.
    renamed: Vec<Warning>,
}

/// What is said of a column that holds lists.
const LISTS: &str = "holds lists; expected a number, a text, true, false or null in each row";

impl<'a> Rows<'a> {
    pub(super) fn new(cursor: Cursor<'a>) -> Self {
        Self { cursor, grid: Grid::default(), places: HashMap::new(), renamed: Vec::new() }
    }

    /// The table, and what a person should know of its names.
    pub(super) fn table(mut self, format: &Format) -> Result<(Table, Vec<Warning>)> {
        // An object that is null in some row is no column besides those of its fields.
        self.grid.drop_empty(|name, others| others.iter().any(|other| is_part(other, name)));
        Ok((self.grid.table(self.cursor.source(), format)?, self.renamed))
    }

    /// Objects one after another.
    pub(super) fn lines(&mut self) -> Result<()> {
        while self.cursor.peek().is_some() {
            self.row()?;
        }
        Ok(())
    }

    /// A list of objects.
    pub(super) fn records(&mut self, at: usize) -> Result<()> {
        self.cursor.at = at;
        self.all(at, Self::row)
    }

    /// A list of lists of cells, whose names may be in the objects of another list.
    pub(super) fn lists(&mut self, at: usize, columns: Option<usize>, header: Header) -> Result<()> {
        let mut width = None;
        if let Some(columns) = columns.filter(|_| header == Header::Auto) {
            width = self.described(columns, at)?;
        }
        self.cursor.at = at;
        let header = if width.is_some() { Header::No } else { header };
        self.all(at, |rows| rows.cells(&mut width, header))
    }

    /// Takes the names of the columns from the field `name` of objects, if there is one for each cell of the first list of cells. Returns how many.
    fn described(&mut self, columns: usize, at: usize) -> Result<Option<usize>> {
        let mut cursor = self.cursor.clone();
        cursor.at = at;
        cursor.takes(b'[');
        let mut expected = 0;
        cursor.items(*b"[]", |cursor| {
            expected += 1;
            cursor.skip(0)
        })?;
        let mut names = Vec::new();
        cursor.at = columns;
        cursor.items(*b"[]", |cursor| {
            cursor.items(*b"{}", |cursor| {
                let is_name = cursor.name()? == "\"name\"";
                if !is_name || cursor.peek() != Some(b'"') {
                    return cursor.skip(0);
                }
                let raw = cursor.string()?;
                names.push(cursor.unquoted(raw)?);
                Ok(())
            })
        })?;
        if names.len() != expected {
            return Ok(None);
        }
        self.name(names);
        Ok(Some(expected))
    }

    /// Lists of cells one after another.
    pub(super) fn lines_of_lists(&mut self, header: Header) -> Result<()> {
        let mut width = None;
        while self.cursor.peek().is_some() {
            self.cells(&mut width, header)?;
        }
        Ok(())
    }

    /// Names in a list, and cells in a list of lists.
    pub(super) fn split(&mut self, names: usize, data: usize) -> Result<()> {
        self.cursor.at = names;
        self.cells(&mut None, Header::Yes)?;
        self.cursor.at = data;
        let mut width = Some(self.places.len());
        self.all(data, |rows| rows.cells(&mut width, Header::No))
    }

    /// Columns, each a list of its cells or an object whose fields are the numbers of its rows.
    pub(super) fn columns(&mut self, members: &[Member]) -> Result<()> {
        let mut rows = None;
        for member in members {
            self.cursor.at = member.at;
            self.grid.go_to(0);
            let column = self.column(&member.name, 0);
            let is_list = self.cursor.peek() == Some(b'[');
            let (ends, mut count) = (if is_list { *b"[]" } else { *b"{}" }, 0);
            self.items(ends, |all| {
                if !is_list {
                    all.cursor.name()?;
                }
                all.value(column, &member.name, 0)?;
                all.end_row();
                count += 1;
                Ok(())
            })?;
            if let Some((first, expected)) = rows.filter(|(_, expected)| *expected != count) {
                let (source, name) = (self.cursor.source(), &member.name);
                let what = format!("column \"{name}\" has {count} rows, column \"{first}\" has {expected}");
                return Err(Error::new(format!("{source}: {what}")));
            }
            rows = rows.or(Some((&member.name, count)));
        }
        Ok(())
    }

    /// Objects whose names are the numbers of the rows.
    pub(super) fn by_row(&mut self, members: &[Member]) -> Result<()> {
        for member in members {
            self.cursor.at = member.at;
            self.row()?;
        }
        Ok(())
    }

    /// The items of the list at a place; nothing may follow a list that is the whole text.
    fn all(&mut self, at: usize, row: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.items(*b"[]", row)?;
        if self.cursor.is_first(at) && self.cursor.peek().is_some() {
            Err(self.cursor.expected("nothing after the list"))
        } else {
            Ok(())
        }
    }

    /// As [`Cursor::items`], for items that are read into the grid.
    fn items(&mut self, ends: [u8; 2], mut item: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        let mut cursor = self.cursor.clone();
        let outcome = cursor.items(ends, |cursor| {
            std::mem::swap(&mut self.cursor, cursor);
            let outcome = item(self);
            std::mem::swap(&mut self.cursor, cursor);
            outcome
        });
        self.cursor = cursor;
        outcome
    }

    fn end_row(&mut self) {
        self.grid.end_row();
        self.cursor.rows = self.grid.rows();
    }

    fn row(&mut self) -> Result<()> {
        self.object("", 0)?;
        self.end_row();
        Ok(())
    }

    /// The fields of an object, whose names begin with that of the object, if it is within another.
    fn object(&mut self, outer: &str, depth: usize) -> Result<()> {
        self.cursor.check_depth(depth)?;
        let mut guess = 0;
        self.items(*b"{}", |all| {
            let raw = all.cursor.name()?;
            let name = match outer {
                "" if !raw.contains('\\') => std::borrow::Cow::Borrowed(&raw[1..raw.len() - 1]),
                "" => all.cursor.unquoted(raw)?.into(),
                outer => format!("{outer}.{}", all.cursor.unquoted(raw)?).into(),
            };
            if all.cursor.peek() == Some(b'{') {
                return all.object(&name, depth + 1);
            }
            let column = all.column(&name, guess);
            guess = column + 1;
            all.value(column, &name, depth)
        })
    }

    /// The value of a column in the current row.
    fn value(&mut self, column: usize, name: &str, depth: usize) -> Result<()> {
        let code = match self.cursor.peek() {
            Some(b'[' | b'{') => {
                self.cursor.skip(depth)?;
                self.grid.set_unread(column, LISTS);
                return Ok(());
            }
            _ => match self.cursor.scalar()? {
                Scalar::Missing => MISSING_CODE,
                Scalar::Plain(text) => self.grid.texts.add(text.as_bytes()),
                Scalar::Unescaped(text) => self.grid.texts.add(text.as_bytes()),
            },
        };
        if self.grid.set(column, code) {
            return Ok(());
        }
        Err(self.cursor.error(&format!("field \"{name}\" is there twice")))
    }

    /// A list of cells: the names of the columns if it is the first and only texts are in it, or if `header` says so; else a row.
    fn cells(&mut self, width: &mut Option<usize>, header: Header) -> Result<()> {
        let expected = if let Some(expected) = *width {
            expected
        } else {
            let (names, has_names) = self.names(header)?;
            let count = names.len();
            *width = Some(count);
            self.name(names);
            if has_names {
                return self.cursor.skip(0);
            }
            count
        };
        let mut column = 0;
        self.items(*b"[]", |all| {
            if column == expected {
                all.cursor.skip(0)?;
            } else {
                let name = all.grid.name(column).to_owned();
                all.value(column, &name, 0)?;
                column += 1;
                return Ok(());
            }
            Err(all.cursor.error(&format!("got more than {expected} cells, expected {expected}")))
        })?;
        if column != expected {
            return Err(self.cursor.error(&format!("got {column} cells, expected {expected}")));
        }
        self.end_row();
        Ok(())
    }

    /// Adds columns of these names.
    fn name(&mut self, mut names: Vec<String>) {
        self.renamed.extend(make_distinct(names.iter_mut()));
        for name in &names {
            self.column(name, 0);
        }
    }

    /// The names of the columns by the list here, which is not taken, and whether it holds them.
    fn names(&self, header: Header) -> Result<(Vec<String>, bool)> {
        let (mut cursor, mut names, mut are_texts) = (self.cursor.clone(), Vec::new(), true);
        cursor.items(*b"[]", |cursor| {
            are_texts &= cursor.peek() == Some(b'"');
            names.push(match cursor.peek() {
                Some(b'[' | b'{') => {
                    cursor.skip(0)?;
                    String::new()
                }
                _ => match cursor.scalar()? {
                    Scalar::Missing => String::new(),
                    Scalar::Plain(text) => text.to_owned(),
                    Scalar::Unescaped(text) => text,
                },
            });
            Ok(())
        })?;
        let has_names = header == Header::Yes || header == Header::Auto && are_texts;
        let name = |(at, name): (usize, String)| if has_names && !name.is_empty() { name } else { format!("c{at}") };
        Ok((names.into_iter().enumerate().map(name).collect(), has_names))
    }

    /// The column of a name, which is added if it is new; `guess` is the one that it probably is.
    fn column(&mut self, name: &str, guess: usize) -> usize {
        if guess < self.places.len() && self.grid.name(guess) == name {
            return guess;
        }
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        let place = self.grid.add_column(name.to_owned());
        self.places.insert(name.to_owned(), place);
        place
    }
}

/// Whether a column holds a field of the object with a name.
fn is_part(column: &str, name: &str) -> bool {
    column.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
}
