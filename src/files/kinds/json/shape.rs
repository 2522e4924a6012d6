//! Which shape of JSON a text has: where its rows or columns are.

use super::cursor::Cursor;
use crate::error::{Error, Result, listed};
use crate::files::Warning;

/// Where the rows of a text are.
pub(super) enum Shape {
    /// Objects one after another.
    Lines,
    /// Lists of cells one after another.
    LinesOfLists,
    /// A list of objects.
    Records(Place),
    /// A list of lists of cells, the first perhaps of names; and where objects describe its columns, if they do.
    Lists(Place, Option<usize>),
    /// An object of columns, each a list, or an object whose fields are the numbers of rows.
    Columns(Vec<Member>),
    /// Names of columns and lists of cells, each in a field of its own, as pandas writes with `orient="split"`.
    Split { names: usize, data: usize },
    /// An object whose fields are the numbers of rows, each an object.
    ByRow(Vec<Member>),
}

/// Where a list is.
pub(super) struct Place {
    pub(super) at: usize,
    /// The field that holds it; empty if it is the whole text.
    field: String,
    /// How many items it has; 0 if it is the whole text.
    items: usize,
}

impl Place {
    /// What a person should know: other fields than that of the rows are not read.
    pub(super) fn note(&self) -> Option<Warning> {
        let message =
            format!("the rows are the list in the field \"{}\"; other fields beside it are not read", self.field);
        (!self.field.is_empty()).then(|| Warning::of_table(message))
    }
}

/// A field of an object.
pub(super) struct Member {
    pub(super) name: String,
    /// Where its value is.
    pub(super) at: usize,
    value: Value,
}

enum Value {
    Scalar,
    /// A list, with the first byte of its first item and the number of its items.
    List(Option<u8>, usize),
    Object(Vec<Member>),
}

/// The shape of a text; only the first object is looked at, unless it holds all.
pub(super) fn shape(mut cursor: Cursor<'_>) -> Result<Shape> {
    let whole = |cursor: &Cursor<'_>| Place { at: cursor.at, field: String::new(), items: 0 };
    if cursor.peek() == Some(b'[') {
        let place = whole(&cursor);
        cursor.at += 1;
        return Ok(match cursor.peek() {
            Some(b'[') => Shape::Lists(place, None),
            Some(b'{' | b']') | None => Shape::Records(place),
            _ => Shape::LinesOfLists,
        });
    }
    // An error here is found again, with its row, when the objects are read.
    let Ok(members) = members(&mut cursor, 0) else { return Ok(Shape::Lines) };
    if cursor.peek().is_some() || members.is_empty() {
        return Ok(Shape::Lines);
    }
    of_object(members, cursor.source())
}

fn members(cursor: &mut Cursor<'_>, depth: usize) -> Result<Vec<Member>> {
    cursor.check_depth(depth)?;
    let mut members = Vec::new();
    cursor.items(*b"{}", |cursor| {
        let raw = cursor.name()?;
        let name = cursor.unquoted(raw)?;
        let first = cursor.peek();
        let at = cursor.at;
        let value = match first {
            Some(b'{') => Value::Object(self::members(cursor, depth + 1)?),
            Some(b'[') => {
                cursor.at += 1;
                let first = cursor.peek().filter(|first| *first != b']');
                cursor.at = at;
                cursor.check_depth(depth + 1)?;
                let mut count = 0;
                cursor.items(*b"[]", |cursor| {
                    count += 1;
                    cursor.skip(depth + 2)
                })?;
                Value::List(first, count)
            }
            _ => {
                cursor.scalar()?;
                Value::Scalar
            }
        };
        members.push(Member { name, at, value });
        Ok(())
    })?;
    Ok(members)
}

/// The shape of a text that is one object.
fn of_object(members: Vec<Member>, source: &str) -> Result<Shape> {
    let list = |name: &str, holds: fn(u8) -> bool| {
        let is_it = |member: &&Member| member.name == name && member.is_list() && member.first_item().is_none_or(holds);
        members.iter().find(is_it).map(|member| member.at)
    };
    if let (Some(names), Some(data)) = (list("columns", |first| first == b'"'), list("data", |first| first == b'[')) {
        return Ok(Shape::Split { names, data });
    }
    let [records, of_cells] = [b'{', b'['].map(|first| lists(&members, first));
    // What describes the rows may have lists too, but is shorter.
    let longest = |lists: &[Place]| lists.iter().map(|place| place.items).max().unwrap_or(0);
    let is_cells = longest(&of_cells) > longest(&records);
    let columns = records.first().filter(|_| records.len() == 1).map(|place| place.at);
    let (mut found, of) = if is_cells { (of_cells, "lists") } else { (records, "records") };
    if found.len() > 1 {
        let names: Vec<&str> = found.iter().map(|place| place.field.as_str()).collect();
        let names = listed(&names);
        return Err(Error::new(format!(
            "{source}: has several lists of {of}, in the fields {names}; expected one: save the list with the rows as a file of its own"
        )));
    }
    if let Some(place) = found.pop() {
        return Ok(if is_cells { Shape::Lists(place, columns) } else { Shape::Records(place) });
    }
    let is_row_number =
        |member: &Member| !member.name.is_empty() && member.name.bytes().all(|byte| byte.is_ascii_digit());
    if members.iter().all(Member::is_list) {
        return Ok(Shape::Columns(members));
    }
    let is_column = |member: &Member| match &member.value {
        Value::Object(rows) => !rows.is_empty() && rows.iter().all(is_row_number),
        _ => false,
    };
    if members.iter().all(is_column) {
        return Ok(Shape::Columns(members));
    }
    if members.iter().all(|member| is_row_number(member) && matches!(member.value, Value::Object(_))) {
        return Ok(Shape::ByRow(members));
    }
    Ok(Shape::Lines)
}

impl Member {
    fn is_list(&self) -> bool {
        matches!(self.value, Value::List(..))
    }

    /// The first byte of the first item of a list.
    fn first_item(&self) -> Option<u8> {
        if let Value::List(first, _) = self.value { first } else { None }
    }

    fn items(&self) -> usize {
        if let Value::List(_, count) = self.value { count } else { 0 }
    }
}

/// The lists whose first item begins with a byte, in an object or, if it has none, in those within it: what describes the rows may have lists too.
fn lists(members: &[Member], first: u8) -> Vec<Place> {
    let mut level: Vec<(String, &Member)> = members.iter().map(|member| (member.name.clone(), member)).collect();
    while !level.is_empty() {
        let is_it = |(_, member): &&(String, &Member)| member.first_item() == Some(first);
        let place =
            |(field, member): &(String, &Member)| Place { at: member.at, field: field.clone(), items: member.items() };
        let found: Vec<Place> = level.iter().filter(is_it).map(place).collect();
        if !found.is_empty() {
            return found;
        }
        level = level.into_iter().flat_map(inner).collect();
    }
    Vec::new()
}

/// The fields of an object within another, with the names of both.
fn inner((outer, member): (String, &Member)) -> Vec<(String, &Member)> {
    let Value::Object(inner) = &member.value else { return Vec::new() };
    inner.iter().map(|member| (format!("{outer}.{}", member.name), member)).collect()
}
