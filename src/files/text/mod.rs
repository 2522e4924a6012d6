//! Delimited text and its cells: records, what a cell means, columns.

pub(crate) mod cell;
mod chunks;
pub(crate) mod comma;
pub mod csv;
mod dictionary;
mod format;
pub(crate) mod given;
pub(crate) mod judge;
pub(crate) mod missing;
pub(crate) mod notation;
mod number_column;
pub(crate) mod reading;
mod records;

pub use format::{Format, Header, Percent};
pub use given::Given;
pub use notation::{Clock, Notation};
pub use reading::Warning;
