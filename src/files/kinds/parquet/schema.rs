//! The footer of a Parquet file: columns with their types, and where their pages are.

use super::thrift::{self, Value};
use crate::error::{Error, Result};

/// The first and last four bytes of a file.
pub(super) const MAGIC: &[u8] = b"PAR1";

/// How the values of a column are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Physical {
    Bool,
    Int32,
    Int64,
    /// Nanoseconds of a day and a Julian day.
    Int96,
    Float,
    Double,
    Bytes,
    /// Bytes of a fixed number.
    Fixed(usize),
}

/// What the values mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Meaning {
    /// The stored number or text.
    Plain,
    Unsigned,
    /// A whole number with so many digits after the point.
    Decimal(u32),
    Date,
    /// Time of day, in units of so many nanoseconds.
    Time(i64),
    /// Time since 1970, in units of so many nanoseconds.
    Moment(i64),
    Half,
    Uuid,
}

/// A column that has at most one value per row. That of a record within a record is called `outer.inner.name`.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) physical: Physical,
    pub(crate) meaning: Meaning,
    /// How many of it and of the records around it may be missing; a value is there if as many are.
    pub(crate) levels: u32,
    /// Its place among the chunks of a group.
    pub(crate) chunk: usize,
}

/// A column of the table.
#[derive(Debug)]
pub(crate) enum Entry {
    Field(Field),
    /// A column that is not read: its name, and why.
    Unread(String, String),
}

impl Entry {
    pub(crate) fn name_mut(&mut self) -> &mut String {
        match self {
            Self::Field(field) => &mut field.name,
            Self::Unread(name, _) => name,
        }
    }
}

/// The pages of one column, for a group of rows.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) codec: i64,
    /// Where the first page is, and the bytes of all.
    pub(crate) start: usize,
    pub(crate) length: usize,
}

/// A group of rows: a chunk per column.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) rows: usize,
    pub(crate) chunks: Vec<Chunk>,
}

#[derive(Debug)]
pub(crate) struct Footer {
    pub(crate) entries: Vec<Entry>,
    pub(crate) groups: Vec<Group>,
    pub(crate) rows: usize,
}

impl Footer {
    /// Reads the footer, whose length is before the last four bytes. Errors if the parts disagree.
    pub(crate) fn read(bytes: &[u8], source: &str) -> Result<Self> {
        let error = |what: &str| Error::new(format!("{source}: {what}"));
        let [start @ .., a, b, c, d, m0, m1, m2, m3] = bytes else {
            return Err(error("is not a complete Parquet file: it is too short"));
        };
        if [*m0, *m1, *m2, *m3] != *MAGIC {
            return Err(error("is not a complete Parquet file: its last bytes are not PAR1"));
        }
        let length = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
        let damaged = || error("is not a complete Parquet file: its footer is damaged");
        let at = start.len().checked_sub(length).ok_or_else(damaged)?;
        let (footer, _) = thrift::read(&start[at..]).ok_or_else(damaged)?;
        let mut schema = Schema { rest: footer.list(2).iter(), entries: Vec::new(), leaves: 0 };
        schema.all().ok_or_else(damaged)?;
        let Schema { entries, leaves, .. } = schema;
        let group = |value: &Value<'_>| group(value, at, leaves);
        let groups = footer.list(4).iter().map(group).collect::<Option<Vec<_>>>().ok_or_else(damaged)?;
        let rows = groups.iter().try_fold(0_usize, |rows, group| rows.checked_add(group.rows)).ok_or_else(damaged)?;
        if footer.int(3) != Some(rows as i64) {
            return Err(damaged());
        }
        Ok(Self { entries, groups, rows })
    }
}

/// Deeper than any record of a table; a damaged file could nest without end.
const MOST_DEEP: usize = 64;

/// The columns of the schema, a list in which every record is followed by its members.
struct Schema<'a, 'b> {
    rest: std::slice::Iter<'a, Value<'b>>,
    entries: Vec<Entry>,
    leaves: usize,
}

/// Where in the schema a column is.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// The name of the record around it.
    record: &'a str,
    levels: u32,
    depth: usize,
    /// Whether a record around it is not read, so that its name is known already.
    is_inside: bool,
}

impl Schema<'_, '_> {
    /// All columns below the root. `None` if the schema is damaged.
    fn all(&mut self) -> Option<()> {
        let Some(root) = self.rest.next() else { return Some(()) };
        // Old writers do not count the members of the root of an empty table.
        for _ in 0..root.int(5).unwrap_or(0) {
            self.column(Place { record: "", levels: 0, depth: 0, is_inside: false })?;
        }
        self.rest.next().is_none().then_some(())
    }

    /// The next column, and those within it if it is a record.
    fn column(&mut self, place: Place<'_>) -> Option<()> {
        let value = self.rest.next().filter(|_| place.depth < MOST_DEEP)?;
        let name = value.bytes(4).map_or_else(String::new, |name| String::from_utf8_lossy(name).into_owned());
        let name = if place.record.is_empty() { name } else { format!("{}.{name}", place.record) };
        let (repetition, children) = (value.int(3).unwrap_or(0), value.int(5).unwrap_or(0));
        let levels = place.levels + u32::from(repetition == 1);
        // Lists and maps are records with a repeated member.
        let is_list = repetition == 2 || value.int(6).is_some_and(|kind| (1..=3).contains(&kind));
        let is_list = is_list || value.field(10).is_some_and(|kind| [2, 3].iter().any(|id| kind.field(*id).is_some()));
        if is_list && !place.is_inside {
            self.unread(&name, "holds lists; expected one value per row");
        }
        let is_inside = place.is_inside || is_list;
        if children > 0 {
            let inside = Place { record: &name, levels, depth: place.depth + 1, is_inside };
            return (0..children).try_for_each(|_| self.column(inside));
        }
        let chunk = self.leaves;
        self.leaves += 1;
        match physical(value) {
            _ if is_inside => {}
            Some(physical) => {
                let meaning = meaning(value, physical);
                self.entries.push(Entry::Field(Field { name, physical, meaning, levels, chunk }));
            }
            None => self.unread(&name, "has a type that Parquet does not know"),
        }
        Some(())
    }

    fn unread(&mut self, name: &str, why: &str) {
        self.entries.push(Entry::Unread(name.to_owned(), why.to_owned()));
    }
}

fn physical(value: &Value<'_>) -> Option<Physical> {
    Some(match value.int(1)? {
        0 => Physical::Bool,
        1 => Physical::Int32,
        2 => Physical::Int64,
        3 => Physical::Int96,
        4 => Physical::Float,
        5 => Physical::Double,
        6 => Physical::Bytes,
        7 => Physical::Fixed(usize::try_from(value.int(2)?).ok().filter(|length| *length > 0)?),
        _ => return None,
    })
}

/// Nanoseconds of the units of time, in their order in the format.
const UNITS: [i64; 3] = [1_000_000, 1000, 1];

/// The meaning by the logical type, else by the older converted type.
fn meaning(value: &Value<'_>, physical: Physical) -> Meaning {
    let logical = |id| value.field(10).and_then(|logical| logical.field(id));
    let unit = |of: &Value<'_>| {
        let unit = of.field(2)?;
        (1..=3).find(|id| unit.field(*id).is_some()).map(|id| UNITS[id as usize - 1])
    };
    let meaning = if let Some(decimal) = logical(5) {
        Some(Meaning::Decimal(decimal.int(1).unwrap_or(0) as u32))
    } else if logical(6).is_some() {
        Some(Meaning::Date)
    } else if let Some(time) = logical(7) {
        unit(time).map(Meaning::Time)
    } else if let Some(moment) = logical(8) {
        unit(moment).map(Meaning::Moment)
    } else if let Some(integer) = logical(10) {
        (integer.int(2) == Some(0)).then_some(Meaning::Unsigned)
    } else if logical(14).is_some() {
        Some(Meaning::Uuid)
    } else if logical(15).is_some() {
        Some(Meaning::Half)
    } else {
        converted(value)
    };
    match (meaning, physical) {
        (Some(Meaning::Half), Physical::Fixed(2)) => Meaning::Half,
        (Some(Meaning::Uuid), Physical::Fixed(16)) => Meaning::Uuid,
        (Some(Meaning::Decimal(scale)), Physical::Int32 | Physical::Int64 | Physical::Bytes | Physical::Fixed(_)) => {
            Meaning::Decimal(scale)
        }
        (_, Physical::Int96) => Meaning::Moment(1),
        (Some(meaning), Physical::Int32 | Physical::Int64) if !matches!(meaning, Meaning::Half | Meaning::Uuid) => {
            meaning
        }
        _ => Meaning::Plain,
    }
}

fn converted(value: &Value<'_>) -> Option<Meaning> {
    Some(match value.int(6)? {
        5 => Meaning::Decimal(value.int(7).unwrap_or(0) as u32),
        6 => Meaning::Date,
        7 => Meaning::Time(UNITS[0]),
        8 => Meaning::Time(UNITS[1]),
        9 => Meaning::Moment(UNITS[0]),
        10 => Meaning::Moment(UNITS[1]),
        11..=14 => Meaning::Unsigned,
        _ => return None,
    })
}

/// A group whose chunks are before `end`. `None` if there is not one per column, or one is elsewhere.
fn group(value: &Value<'_>, end: usize, columns: usize) -> Option<Group> {
    let chunks = value.list(1).iter().map(|chunk| {
        let about = chunk.field(3)?;
        let data = usize::try_from(about.int(9)?).ok()?;
        let dictionary = about.int(11).and_then(|at| usize::try_from(at).ok()).filter(|at| *at > 0);
        let start = dictionary.map_or(data, |at| at.min(data));
        let length = usize::try_from(about.int(7)?).ok()?;
        (start.checked_add(length)? <= end).then_some(Chunk { codec: about.int(4)?, start, length })
    });
    let chunks = chunks.collect::<Option<Vec<_>>>()?;
    let rows = usize::try_from(value.int(3)?).ok()?;
    (chunks.len() == columns).then_some(Group { rows, chunks })
}
