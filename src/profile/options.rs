//! The options of a profile of steps, the same in every face.

use crate::options::{Entry, Group, Kind, Table};

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileOptions {
    /// Training steps in a window; as many as take about a fifth of a second if not given.
    pub steps: Option<usize>,
    /// Windows in which launches are measured.
    pub windows: usize,
}

impl Default for ProfileOptions {
    fn default() -> Self {
        Self { steps: None, windows: 9 }
    }
}

/// The options of a profile of steps.
pub static OPTIONS: Table<ProfileOptions> = Table { groups: &[Group { title: "Measuring", entries: || ENTRIES }] };

/// More steps or windows than anyone can wait for.
const MOST: u64 = 1_000_000;

const ENTRIES: &[Entry<ProfileOptions>] = &[
    Entry::new("steps", Kind::Whole { least: 1, most: MOST }, "Training steps in a window")
        .default("as many as take about 0.2 seconds")
        .set(|options, value| options.steps = Some(value.whole())),
    Entry::new(
        "windows",
        Kind::Whole { least: 1, most: MOST },
        "Windows in which launches are measured, each next to one in which they are not; the median one is shown",
    )
    .default("9")
    .set(|options, value| options.windows = value.whole()),
];
