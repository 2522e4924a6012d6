//! Looks for what is probably a mistake in the texts of a column: dates that are read in a way that a person should know or are not read, words that
//! may mean a missing cell, texts that differ only in case or in spaces.

use super::feature::Role;
use super::levels::truth_of;
use crate::files::moment::{self, DateOrder, Moment, text};
use crate::files::text::missing;
use crate::files::text::reading::Warning;
use crate::files::{Cells, Column};

/// What a person should know about the texts of a column in its role.
pub(crate) fn of(column: &Column, role: Role) -> Vec<Warning> {
    let Cells::Categorical { levels, .. } = &column.cells else { return Vec::new() };
    let found = match role {
        Role::Date(order) => dates(levels, order),
        Role::Category | Role::Number => {
            let mut found = categories(column, levels);
            found.extend(unread_dates(column, levels));
            found
        }
    };
    let named = |(message, cells)| Warning { column: column.name.clone(), message, cells };
    found.into_iter().map(named).collect()
}

/// A message, and some of the cells it is about.
type Found = (String, Vec<String>);

/// About texts that are used as dates in an order.
fn dates(levels: &[String], order: DateOrder) -> Vec<Found> {
    let mut found = Vec::new();
    let is_text = |text: &&String| Moment::parse(text, order).is_none() && !missing::is_word(text);
    let texts: Vec<String> = levels.iter().filter(is_text).cloned().collect();
    if !texts.is_empty() {
        found.push(("holds dates; other texts count as missing".into(), texts));
    }
    let moments = || levels.iter().filter_map(|text| Some((text, Moment::parse(text, order)?)));
    if let Some((short, moment)) = moments().find(|(_, moment)| moment.has_short_year) {
        let date = text(moment.local.floor(), true);
        let (name, _) = DateOrder::ALL.iter().find(|(_, known)| *known == order).unwrap_or(&DateOrder::ALL[0]);
        let what = if short.bytes().any(|byte| byte.is_ascii_alphabetic()) {
            String::new()
        } else {
            format!(" in the order {name}")
        };
        found.push((
            format!("holds dates{what} with years of two digits, from 1969 to 2068: \"{short}\" is {date}"),
            Vec::new(),
        ));
    }
    let open: Vec<String> =
        moments().filter(|(_, moment)| moment.is_zone_open).map(|(text, _)| text.clone()).take(1).collect();
    if let Some((_, moment)) = moments().find(|(_, moment)| moment.is_zone_open) {
        let hours = (24.0 * (moment.local - moment.universal)).round() as i64;
        let message = format!(
            "has a time zone of no clear meaning, which is read as universal time {hours:+} hours; write offsets such as +02:00"
        );
        found.push((message, open));
    }
    found
}

/// About texts that are used as categories though they may be dates.
fn unread_dates(column: &Column, levels: &[String]) -> Option<Found> {
    if moment::orders(levels).len() > 1 {
        let message = "holds dates of which it is open which part is the day, the month or the year, so it is a category; the option date_order says it (dmy, mdy or ymd)";
        return Some((message.into(), levels.iter().take(2).cloned().collect()));
    }
    let (share, other) = moment::share_of_dates(levels);
    // All of them are dates where a column is named as a category.
    let other = other.filter(|_| (0.5..0.9).contains(&share))?;
    let Warning { message, cells, .. } = Warning::few_dates(&column.name, share, other);
    Some((message, cells))
}

/// About the levels of a category.
fn categories(column: &Column, levels: &[String]) -> Vec<Found> {
    let mut found = Vec::new();
    let words: Vec<String> = levels.iter().filter(|text| missing::is_word(text)).cloned().collect();
    if let (Some(first), true) = (words.first(), words.len() < levels.len() && !column.keeps_words()) {
        let empty = column.cells.missing();
        let apart = if empty > 0 { ", apart from empty cells" } else { "" };
        let keep = if words.iter().any(|word| missing::is_na(word.as_bytes())) {
            "; keep_na keeps it without this warning"
        } else {
            ""
        };
        found.push((format!("a word that can mean a missing cell is a value of its own here{apart}; na {first} makes it missing{keep}"), words));
    }
    if levels.iter().all(|text| truth_of(text).is_some()) {
        if levels.len() > 2 {
            let message = "words for true and false are read as two values, whatever their spelling";
            found.push((message.into(), levels.iter().take(5).cloned().collect()));
        }
        return found;
    }
    let mut plain: Vec<(String, &String)> = levels.iter().map(|text| (folded(text), text)).collect();
    plain.sort();
    let alike: Vec<String> = plain
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|texts| texts.len() > 1)
        .flat_map(|texts| texts.iter().map(|(_, text)| (*text).clone()))
        .take(6)
        .collect();
    if !alike.is_empty() {
        found.push((
            "has values that differ only in case or in spaces; write each in one way if they mean the same".into(),
            alike,
        ));
    }
    found
}

/// A text in lower case without spaces and hyphens.
fn folded(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(texts: &[&str], role: Role) -> String {
        let texts: Vec<String> = texts.iter().map(ToString::to_string).collect();
        let found = of(&Column::categorical("a", &texts), role);
        found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn what_is_said_of_texts() {
        let cases: [(&[&str], Role, &str); 9] = [
            (&["red", "blue"], Role::Category, ""),
            (
                &["NA", "DE", ""],
                Role::Category,
                "column \"a\": a word that can mean a missing cell is a value of its own here, apart from empty cells; na NA makes it missing; keep_na keeps it without this warning: \"NA\"",
            ),
            (
                &["unknown", "red"],
                Role::Category,
                "column \"a\": a word that can mean a missing cell is a value of its own here; na unknown makes it missing: \"unknown\"",
            ),
            (
                &["Red", "red", "light blue", "light  blue", "x1"],
                Role::Category,
                "column \"a\": has values that differ only in case or in spaces; write each in one way if they mean the same: \"light  blue\", \"light blue\", \"Red\", \"red\"",
            ),
            (&["yes", "no"], Role::Category, ""),
            (
                &["yes", "Y", "no"],
                Role::Category,
                "column \"a\": words for true and false are read as two values, whatever their spelling: \"Y\", \"no\", \"yes\"",
            ),
            (
                &["4/23/22"],
                Role::Date(DateOrder::MonthFirst),
                "column \"a\": holds dates in the order mdy with years of two digits, from 1969 to 2068: \"4/23/22\" is 2022-04-23",
            ),
            (
                &["2024-03-01 10:00 CST"],
                Role::Date(DateOrder::YearFirst),
                "column \"a\": has a time zone of no clear meaning, which is read as universal time -6 hours; write offsets such as +02:00: \"2024-03-01 10:00 CST\"",
            ),
            (
                &["2024-03-01", "2024-03-02", "soon"],
                Role::Category,
                "column \"a\": 66 % of its texts are dates, others are not, so the column is a category; the option na declares texts that mean a missing cell: \"soon\"",
            ),
        ];
        for (texts, role, wanted) in cases {
            assert_eq!(said(texts, role), wanted, "{texts:?}");
        }
    }
}
