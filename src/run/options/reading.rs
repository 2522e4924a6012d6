//! The options of reading a table of text, the same in the command (`src/cli/args.rs`) and in JavaScript.

use crate::files::{Format, Header};
use crate::options::{Entry, Group, Kind, Table};

/// The options of reading a table of text.
pub static READING: Table<Format> = Table { groups: &[Group { title: "Reading CSV and TSV", entries: ENTRIES }] };

const fn option(name: &'static str, kind: Kind, doc: &'static str) -> Entry<Format> {
    Entry::new(name, kind, doc)
}

const ENTRIES: &[Entry<Format>] = &[
    option("header", Kind::Flag, "Whether the first line holds names; false names the columns c0, c1 and so on")
        .default("true if none of its cells is a number")
        .set(|f, v| f.header = if v.flag() { Header::Yes } else { Header::No }),
    option("delimiter", Kind::Text("one character"), "Character between cells")
        .default("the one of , ; and tab that the first line has most often")
        .set(|f, v| f.delimiter = Some(v.text().into())),
    option("decimal", Kind::Text("a point or a comma"), "Decimal mark of numbers")
        .default("a point")
        .set(|f, v| f.decimal = v.text().into()),
    option("thousands", Kind::Text("one character"), "Character between groups of three digits")
        .set(|f, v| f.thousands = Some(v.text().into())),
    option(
        "na",
        Kind::Texts,
        "Texts that mean a missing cell, besides nothing, N/A, nan, null, ? and, among numbers and dates, NA, -, none, unknown and other usual words",
    )
    .set(|f, v| f.missing = v.texts()),
    option("keep_na", Kind::Flag, "Whether NA and the other words are texts like others, so that only empty cells and those of {na} are missing")
        .set(|f, v| f.keeps_words = v.flag()),
];
