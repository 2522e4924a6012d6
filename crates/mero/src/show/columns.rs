//! The columns that a model reads, as a table.

use meromorph::report::{Table, count, figure, short};
use meromorph::table::{Feature, NumberFeature, Preparation, Seen};

/// A row for each column that a model reads.
pub(crate) fn column_table(preparation: &Preparation) -> Table {
    let no_value = "no prediction";
    let row = |feature: &Feature| match feature.seen() {
        Seen::Numbers(NumberFeature { name, min, max, impute, .. }) => {
            let missing = impute.map_or_else(|| no_value.to_owned(), |value| format!("counts as {}", figure(value)));
            [short(name, 28), "number".into(), format!("{} to {}", figure(*min), figure(*max)), missing]
        }
        Seen::Times(date) => {
            let missing = date.elapsed.impute.map(|days| format!("counts as {}", date.text(days)));
            let missing = missing.unwrap_or_else(|| no_value.to_owned());
            [short(feature.name(), 28), "date".into(), date.range().join(" to "), missing]
        }
        Seen::Levels { levels, counts, missing, .. } => {
            let as_level = |level: &String| format!("counts as {}", short(level, 24));
            let missing =
                missing.map(|at| levels.get(at as usize).map_or_else(|| "a level of its own".into(), as_level));
            [
                short(feature.name(), 28),
                "category".into(),
                listed(levels, counts),
                missing.unwrap_or_else(|| no_value.to_owned()),
            ]
        }
        Seen::Texts { example, what, missing } => {
            let missing = missing.unwrap_or(no_value);
            [
                short(feature.name(), 28),
                "category".into(),
                format!("{what}, such as {}", short(example, 24)),
                missing.into(),
            ]
        }
    };
    Table::new(["column", "kind", "in training", "missing cell"]).rows(preparation.features.iter().map(row))
}

/// Texts of a table that are shown at most.
const SHOWN: usize = 6;

/// The most frequent texts with their counts.
pub(crate) fn listed(levels: &[String], counts: &[u32]) -> String {
    let mut order: Vec<usize> = (0..levels.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(counts[at]));
    listed_as(&order, levels, counts)
}

/// The first texts of an order with their counts.
pub(crate) fn listed_as(order: &[usize], levels: &[String], counts: &[u32]) -> String {
    let shown =
        order.iter().take(SHOWN).map(|&at| format!("{} ({})", short(&levels[at], 24), count(u64::from(counts[at]))));
    let more = levels.len().saturating_sub(SHOWN);
    shown.chain((more > 0).then(|| format!("{} more", count(more as u64)))).collect::<Vec<_>>().join(", ")
}
