//! Files whose columns of numbers are read by ranges of rows in constant memory, so that data may be larger than memory.

pub(crate) mod arrays;
mod cached;
pub(crate) mod checks;
mod generated;
mod open;

pub use cached::Cached;
pub use generated::Generated;
pub use open::{is_read_by_ranges_only, open_rows};
