//! Divides the records of a text among the processor's threads. Texts with quotes are not divided: a line end within quotes ends no record.
//! What the parts give is joined in their order, so the result does not depend on their number.

use super::number_column::NumberColumn;
use super::records::Records;
use crate::error::Result;
use crate::host;

/// A thread costs some ten microseconds to start, and this many bytes some milliseconds to read.
const FEWEST_BYTES: usize = 1 << 20;

/// The records in parts of about the same size, one per thread; in one part if they are few, or have quotes.
pub(crate) fn divided<'a>(records: &Records<'a>) -> Vec<Records<'a>> {
    let bytes = records.rest();
    let threads = host::threads().min(bytes.len() / FEWEST_BYTES);
    if threads < 2 || bytes.contains(&b'"') {
        return vec![records.clone()];
    }
    let (mut parts, mut start) = (Vec::new(), 0);
    for thread in 1..=threads {
        let wanted = (bytes.len() / threads * thread).max(start);
        let end = match bytes[wanted..].iter().position(|byte| *byte == b'\n') {
            Some(length) if thread < threads => wanted + length + 1,
            _ => bytes.len(),
        };
        parts.push(records.part(start, end));
        start = end;
    }
    parts
}

/// The columns of all parts, each read by `read`. `None` if a part has an error, or if the kind of a column depends on the order of its cells:
/// then all records are to be read at once.
pub(crate) fn numbers<'a>(
    parts: &[Records<'a>],
    read: impl Fn(Records<'a>) -> Result<Vec<NumberColumn>> + Sync,
) -> Option<Vec<NumberColumn>> {
    let mut all = host::in_threads(parts, |part| read(part.clone()).ok()).into_iter();
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
