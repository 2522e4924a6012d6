//! What the guide to Trainer2 promises of its windows, each measured as two forms of the same window by turns: times of the slow form over those of the
//! fast one. `mero bench contrast` prints the rows.

mod composed;
mod host;
mod rows;
mod window;

pub use rows::{Row, Rows, SIZES, Timed};
pub use window::Size;
