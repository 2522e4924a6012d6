//! The options of reading a table of text, the same in every face.

use crate::files::{BadRows, Format, Header, encoding_by_name};
use crate::options::{Entry, Group, Kind, Table};

/// The options of reading a table of text.
pub static READING: Table<Format> = Table { groups: &[Group { title: "Reading the table", entries: || ENTRIES }] };

const fn option(name: &'static str, kind: Kind, doc: &'static str) -> Entry<Format> {
    Entry::new(name, kind, doc)
}

const ENTRIES: &[Entry<Format>] = &[
    option("header", Kind::Flag, "Whether the first line holds names; false names the columns c0, c1 and so on")
        .default("true if none of its cells is a number")
        .set(|f, v| f.header = if v.flag() { Header::Yes } else { Header::No }),
    option(
        "delimiter",
        Kind::Text("one character, or spaces"),
        "Character between cells, or spaces for any number of blanks; a tab is \\t",
    )
    .default("the one of , ; | and tab that the first line has most often, or spaces")
    .set(|f, v| f.delimiter = Some(v.text().replace("\\t", "\t"))),
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
    option(
        "encoding",
        Kind::Text("the name of an encoding"),
        "Encoding of the text: utf-8, utf-16le, utf-16be, latin1, windows-1252 or iso-8859-15",
    )
    .default("utf-8, or the one of the mark at its start")
    .try_set(|f, v| encoding_by_name(v.text()).map(|name| f.layout.encoding = Some(name.into()))),
    option("comment", Kind::Text("the text at the start of a comment"), "Lines that begin with this are left out")
        .default("# for lines at the top")
        .set(|f, v| f.layout.comment = Some(v.text().into())),
    option("skip", Kind::whole(0), "Lines before the table, which are left out")
        .default("those that are clearly above the names")
        .set(|f, v| f.layout.skip = v.whole()),
    option("header_row", Kind::whole(1), "Line of the names, from 1; lines before it are left out")
        .set(|f, v| f.layout.header_row = Some(v.whole())),
    option("bad_rows", Kind::Name(bad_rows), "What is done with rows that have too few or too many cells")
        .default("refuse")
        .set(|f, v| f.layout.bad_rows = BadRows::by_name(v.text()).unwrap_or_default()),
    option(
        "escape",
        Kind::Text("one character"),
        "Character before a quote within quotes, if that is not another quote",
    )
    .default("a backslash where only that makes sense")
    .set(|f, v| f.layout.escape = Some(v.text().into())),
];

fn bad_rows() -> Vec<(&'static str, &'static str)> {
    BadRows::ALL.map(|(name, doc, _)| (name, doc)).to_vec()
}
