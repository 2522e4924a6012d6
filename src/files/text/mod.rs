//! Delimited text and its cells: records, what a cell means, columns.

pub(crate) mod cell;
mod chunks;
pub(crate) mod comma;
pub mod csv;
mod dictionary;
mod kind;
pub(crate) mod reading;
mod records;

pub use cell::Format;
pub use csv::Header;
pub use reading::Warning;
