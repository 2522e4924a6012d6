//! What people look at: one chart (text for a terminal, SVG for a page), tables, numbers, and one self-contained HTML page. Nothing here
//! knows what is shown: callers describe the content, and every text they pass is escaped.
//!
//! ```
//! use meromorph::report::{Axis, Band, Chart, Mark, Page, Series, Table};
//!
//! let curve: Vec<[f64; 2]> = (-20..=20).map(|i| [f64::from(i) / 10.0, 1.0 / (f64::from(i) / 10.0 - 0.45)]).collect();
//! let band = curve.iter().map(|[x, y]| [*x, y - 0.5, y + 0.5]).collect();
//! let fit = Chart::new("Fit", Axis::linear("x"), Axis::linear("y").within(-10.0, 10.0))
//!     .band(Band::new("95 % confidence", band))
//!     .series(Series::dots("data", vec![[-1.5, -0.5], [-0.5, -1.1], [1.5, 1.0]]))
//!     .series(Series::line("a / (x - b)", curve))
//!     .mark(Mark::pole(0.45, "pole"));
//! println!("{}", fit.text());
//! let mut page = Page::new("A fit with a pole");
//! page.lead("a / (x - b) explains 99.2 % of the variance.");
//! page.charts([fit]);
//! page.section("Parameters");
//! page.table(&Table::new(["parameter", "value", "error"]).row(["a", "1.02", "0.03"]).row(["b", "0.45", "0.01"]));
//! assert!(page.html().contains("<svg"));
//! ```

mod chart;
mod events;
mod html;
mod number;
mod page;
mod table;
mod text;

pub use chart::{Axis, Band, Chart, Mark, Series, Style, bars};
pub use events::{events_of, events_start};
pub use number::{binary, bytes, count, counted, duration, figure, scaled_count, typeset};
pub use page::Page;
pub use table::{Cell, Table, Tone};
pub use text::{facts, short};
