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

/// A column that is not nested.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) physical: Physical,
    pub(crate) meaning: Meaning,
    pub(crate) is_optional: bool,
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
    pub(crate) fields: Vec<Field>,
    pub(crate) groups: Vec<Group>,
    pub(crate) rows: usize,
}

impl Footer {
    /// Reads the footer, whose length is before the last four bytes. Errors if a column is nested, or if the parts disagree.
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
        let fields = fields(footer.list(2), source)?;
        let group = |value: &Value<'_>| group(value, at, fields.len());
        let groups = footer.list(4).iter().map(group).collect::<Option<Vec<_>>>().ok_or_else(damaged)?;
        let rows = groups.iter().try_fold(0_usize, |rows, group| rows.checked_add(group.rows)).ok_or_else(damaged)?;
        if footer.int(3) != Some(rows as i64) {
            return Err(damaged());
        }
        Ok(Self { fields, groups, rows })
    }
}

fn fields(schema: &[Value<'_>], source: &str) -> Result<Vec<Field>> {
    // The first is the root.
    let field = |value: &Value<'_>| {
        let name = value.bytes(4).map_or_else(String::new, |name| String::from_utf8_lossy(name).into_owned());
        let error = |what: &str| Error::new(format!("{source}: column \"{name}\": {what}"));
        let (repetition, children) = (value.int(3).unwrap_or(0), value.int(5).unwrap_or(0));
        if children > 0 || repetition == 2 {
            return Err(error("holds lists or records; expected one value per row"));
        }
        let physical = physical(value).ok_or_else(|| error("has a type that Parquet does not know"))?;
        let meaning = meaning(value, physical);
        Ok(Field { meaning, physical, is_optional: repetition == 1, name })
    };
    schema.iter().skip(1).map(field).collect()
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
