//! Divides the rows of a text among the processor's threads. Texts with quotes are not divided: a line end within quotes ends no record.
//! What the parts give is joined in their order, so the result does not depend on their number.

use super::number_column::NumberColumn;
use super::rows::Rows;
use crate::error::Result;
use crate::host;

/// A thread costs some ten microseconds to start, and this many bytes some milliseconds to read.
const FEWEST_BYTES: usize = 1 << 20;

/// The rows in parts of about the same size, one per thread; in one part if they are few, or have quotes.
pub(crate) fn divided<'a>(rows: &Rows<'a>) -> Vec<Rows<'a>> {
    let bytes = rows.rest();
    let threads = host::threads().min(bytes.len() / FEWEST_BYTES);
    if threads < 2 || bytes.contains(&b'"') || !rows.is_divisible() {
        return vec![rows.clone()];
    }
    let (mut parts, mut start) = (Vec::new(), 0);
    for thread in 1..=threads {
        let expected = (bytes.len() / threads * thread).max(start);
        let end = match bytes[expected..].iter().position(|byte| *byte == b'\n') {
            Some(length) if thread < threads => expected + length + 1,
            _ => bytes.len(),
        };
        parts.push(rows.part(start, end));
        start = end;
    }
    parts
}

/// The columns of all parts, each read by `read`. `None` if a part has an error or nothing, or if the kind of a column depends on the order of its cells:
/// then all rows are to be read at once.
pub(crate) fn numbers<'a>(
    parts: &[Rows<'a>],
    read: impl Fn(Rows<'a>) -> Result<Option<Vec<NumberColumn>>> + Sync,
) -> Option<Vec<NumberColumn>> {
    let mut all = host::in_threads(parts, |part| read(part.clone()).ok().flatten()).into_iter();
    let mut columns = all.next()??;
    for part in all {
        for (column, more) in columns.iter_mut().zip(part?) {
            if !column.append(more) {
                return None;
            }
        }
    }
    Some(columns)
}
