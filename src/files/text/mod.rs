//! Delimited text and its cells: encodings, records, where a table starts, what a cell means, columns.

mod cause;
pub(crate) mod cell;
mod chunks;
pub(crate) mod comma;
pub mod csv;
mod delimiter;
mod dictionary;
pub(crate) mod duration;
pub(crate) mod encoding;
mod format;
mod hash;
mod json_start;
pub(crate) mod judge;
pub(crate) mod layout;
pub(crate) mod missing;
pub(crate) mod notation;
mod number_column;
pub(crate) mod reading;
pub(crate) mod records;
mod rows;
pub(crate) mod sample;
pub(crate) mod start;

pub use duration::Clock;
pub use format::{Format, Header, Percent};
pub(crate) use json_start::begins_json;
pub use layout::{BadRows, ENCODINGS, Layout, encoding_by_name};
pub use notation::Notation;
pub use reading::Warning;
