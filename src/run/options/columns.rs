//! The options of columns and rows: what is learned from what, and how the rows are split.

use super::names::{date_orders, missing, tasks};
use super::{TrainOptions, option};
use crate::files::DateOrder;
use crate::host::number;
use crate::options::{Entry, Kind, Range, Value};
use crate::table::{CATEGORY_ENCODINGS, ColumnEncoding, Fractions, Missing, Task};

pub(crate) const COLUMNS: &[Entry<TrainOptions>] = &[
    option("target", Kind::Text("the name of a column"), "Column to predict")
        .aliases(&["label"])
        .set(|o, v| o.choice.target = v.text().into()),
    option("more_targets", Kind::Texts, "Columns that hold, with {target}, the shares of classes, for loss kl")
        .set(|o, v| o.choice.more_targets = v.texts()),
    option("task", Kind::Name(tasks), "What is learned").default("decided by the target").set(|o, v| {
        o.choice.task = Some(if v.text() == "regression" { Task::Regression } else { Task::Classification });
    }),
    option("features", Kind::Texts, "Columns to learn from; put a name with a comma in double quotes")
        .default("all but the target")
        .set(|o, v| o.choice.features = Some(v.texts())),
    option("ignore", Kind::Texts, "Columns to leave out").set(|o, v| o.choice.ignore = v.texts()),
    option("categorical", Kind::Texts, "Columns of numbers to read as categories; the target among them is a class")
        .set(|o, v| o.choice.categorical = v.texts()),
    option(
        "encode",
        Kind::Fields { names: None, has_numbers: false, example: ["zip", "levels"] },
        "How columns of categories become inputs, by column",
    )
    .default_from(|| {
        let others: Vec<&str> = CATEGORY_ENCODINGS.iter().map(|(name, _, _)| *name).skip(1).collect();
        if others.is_empty() { "levels".into() } else { format!("levels; also {}", others.join(", ")) }
    })
    .set(|o, v| {
        let one = |(column, encoding): &(String, Value)| ColumnEncoding {
            column: column.clone(),
            encoding: encoding.text().to_owned(),
        };
        o.choice.encodings.extend(v.fields().iter().map(one));
    }),
    option("classes", Kind::Texts, "Classes of the target in their order, such as low,middle,high")
        .default("numbers by size, texts by their letters")
        .set(|o, v| o.choice.classes = v.texts()),
    option("numeric", Kind::Texts, "Columns that must be numbers: a text in one is an error")
        .set(|o, v| o.choice.numeric = v.texts()),
    option("missing", Kind::Name(missing), "How rows with empty cells are treated")
        .default("impute; drop for a head with poles")
        .set(|o, v| o.choice.missing = if v.text() == "drop" { Missing::Drop } else { Missing::Impute }),
    option(
        "bins",
        Kind::whole(0),
        "Inputs per column of numbers that show where between its quantiles a value is; 0 for none",
    )
    .default("16; fewer for large tables, 0 for a head with poles")
    .set(|o, v| o.choice.bins = Some(v.whole())),
    option(
        "group",
        Kind::Text("the name of a column"),
        "Column whose equal values stay in the same part of the split; no feature",
    )
    .set(|o, v| o.choice.group = Some(v.text().into())),
    option(
        "time",
        Kind::Text("the name of a column"),
        "Column by whose order the rows are split, the last for testing; no feature",
    )
    .set(|o, v| o.choice.time = Some(v.text().into())),
    option("date_order", Kind::Name(date_orders), "Order of day, month and year in dates that could have several")
        .default("the one in which all dates of a column are possible; if there are several, it is a category")
        .set(|o, v| o.choice.date_order = DateOrder::of(v.text())),
    option("split_seed", Kind::Whole { least: 0, most: 1 << 53 }, "Seed of the split of the rows alone")
        .default("that of the run")
        .set(|o, v| o.choice.split_seed = Some(v.whole() as u64)),
    option("validation", Kind::Number(Range::Share), "Share of the rows that decides when to stop")
        .aliases(&["validation_split"])
        .default_from(|| number(Fractions::default().validation).to_string())
        .set(|o, v| o.fractions.validation = v.number()),
    option("test", Kind::Number(Range::Share), "Share of the rows that the report is about")
        .aliases(&["test_split", "test_size"])
        .default_from(|| number(Fractions::default().test).to_string())
        .set(|o, v| o.fractions.test = v.number()),
];
