//! Looks for what is probably a mistake in the texts of a column: dates that are read in a way that a person should know or are not read, words that
//! may mean a missing cell, texts that differ only in case or in spaces.

use super::feature::Role;
use super::levels::truth_of;
use super::unread;
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
            found.extend(unread_dates(levels));
            if found.is_empty() {
                found.extend(unread::of_category(levels).or_else(|| of_many(column, levels)));
            }
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
    found.extend(far_date(levels, order));
    let open: Vec<String> =
        moments().filter(|(_, moment)| moment.is_zone_open).map(|(text, _)| text.clone()).take(1).collect();
    if let Some((_, moment)) = moments().find(|(_, moment)| moment.is_zone_open) {
        let minutes = (1440.0 * (moment.local - moment.universal)).round() as i64;
        let sign = if minutes < 0 { '-' } else { '+' };
        let offset = format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60);
        let is_place = minutes == 0 && open.iter().any(|text| text.ends_with(|c: char| c.is_lowercase()));
        let kind = if is_place { "that is named by a place, which is not known," } else { "of no clear meaning" };
        let message =
            format!("has a time zone {kind} and is read as universal time {offset}; write offsets such as +02:00");
        found.push((message, open));
    }
    found
}

/// About a category most of whose texts are in few rows.
fn of_many(column: &Column, levels: &[String]) -> Option<Found> {
    const MANY: usize = 20;
    let rows = column.cells.len() - column.cells.missing();
    let message = format!(
        "has {} different texts in {rows} rows, so little can be learnt from each; if they are names or codes of the rows, name it under ignore",
        levels.len()
    );
    (levels.len() > MANY && 2 * levels.len() > rows).then(|| (message, levels.iter().take(2).cloned().collect()))
}

/// About a date so far from all others that it may stand for none, such as 9999-12-31.
fn far_date(levels: &[String], order: DateOrder) -> Option<Found> {
    const FEWEST: usize = 5;
    /// Days of a generation.
    const FAR: f64 = 25.0 * 365.25;
    let mut all: Vec<(f64, &String)> =
        levels.iter().filter_map(|text| Some((Moment::parse(text, order)?.local, text))).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let [first, second, .., before, last] = all.as_slice() else { return None };
    let far = if second.0 - first.0 > FAR { first.1 } else { last.1 };
    let is_far = second.0 - first.0 > FAR || last.0 - before.0 > FAR;
    let message = format!("holds a date that is far from all others; na {far} makes it missing if it means no date");
    (is_far && all.len() >= FEWEST).then(|| (message, vec![far.clone()]))
}

/// About texts that are used as categories though they may be dates.
fn unread_dates(levels: &[String]) -> Option<Found> {
    if moment::orders(levels).len() > 1 {
        let message = "holds dates of which it is open which part is the day, the month or the year, so it is a category; the option date_order says it (dmy, mdy or ymd)";
        return Some((message.into(), levels.iter().take(2).cloned().collect()));
    }
    some_dates(levels)
}

/// About texts of which at least half are dates, and the others are not or are dates in another order.
pub(super) fn some_dates(levels: &[String]) -> Option<Found> {
    let (share, other) = moment::share_of_dates(levels);
    // All of them are dates where a column is named as a category.
    let other = other.filter(|_| (0.5..0.9).contains(&share))?;
    let as_date = DateOrder::ALL.into_iter().find(|(_, order)| Moment::parse(other, *order).is_some());
    if let Some((_, order)) = as_date {
        let first = levels.iter().find(|text| Moment::parse(text, order).is_none() && !missing::is_word(text))?;
        let message = "holds dates in two orders of day and month, so it is a category; write all of them in one order";
        return Some((message.into(), vec![first.clone(), other.clone()]));
    }
    let percent = (100.0 * share) as i64;
    let message = format!(
        "{percent} % of its different texts are dates, others are not, so the column is a category; the option na declares texts that mean a missing cell"
    );
    Some((message, vec![other.clone()]))
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
    if let Some(word) = column.missing_word() {
        let message = "cells with such a word count as missing; keep_na keeps it as a value of its own";
        found.push((message.into(), vec![word.to_owned()]));
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
            "has values that differ only in case, spaces, hyphens or accents; write each in one way if they mean the same".into(),
            alike,
        ));
    }
    found
}

/// A text in lower case without spaces, hyphens, accents and marks of no width, and with one kind of apostrophe.
fn folded(text: &str) -> String {
    let is_silent = |c: &char| {
        let has_no_width = matches!(c, '\u{200b}'..='\u{200f}' | '\u{300}'..='\u{36f}' | '\u{feff}');
        c.is_whitespace() || has_no_width || matches!(c, '-' | '_' | '\u{2010}'..='\u{2015}')
    };
    text.chars().filter(|c| !is_silent(c)).flat_map(char::to_lowercase).map(without_accent).collect()
}

/// The letter below an accent, for letters of Western Europe.
fn without_accent(letter: char) -> char {
    const WITH: &str = "àáâãäåçèéêëìíîïñòóôõöùúûüýÿ’ʼ`´";
    const WITHOUT: &str = "aaaaaaceeeeiiiinooooouuuuyy''''";
    let place = WITH.chars().position(|known| known == letter);
    place.and_then(|place| WITHOUT.chars().nth(place)).unwrap_or(letter)
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
                "column \"a\": has values that differ only in case, spaces, hyphens or accents; write each in one way if they mean the same: \"light  blue\", \"light blue\", \"Red\", \"red\"",
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
                "column \"a\": has a time zone of no clear meaning and is read as universal time -06:00; write offsets such as +02:00: \"2024-03-01 10:00 CST\"",
            ),
            (
                &["2024-03-01", "2024-03-02", "soon"],
                Role::Category,
                "column \"a\": 66 % of its different texts are dates, others are not, so the column is a category; the option na declares texts that mean a missing cell: \"soon\"",
            ),
        ];
        for (texts, role, expected) in cases {
            assert_eq!(said(texts, role), expected, "{texts:?}");
        }
        let names: Vec<String> = (0..30_u8).map(|i| format!("n{}m", (b'a' + i) as char)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert!(
            said(&names, Role::Category)
                .starts_with("column \"a\": has 30 different texts in 30 rows, so little can be learnt")
        );
        assert_eq!(said(&[names.as_slice(), names.as_slice(), names.as_slice()].concat(), Role::Category), "");
        let days = ["2024-01-01", "2024-01-02", "2024-02-01", "2024-03-01", "9999-12-31"];
        let far = "column \"a\": holds a date that is far from all others; na 9999-12-31 makes it missing if it means no date: \"9999-12-31\"";
        assert_eq!(said(&days, Role::Date(DateOrder::YearFirst)), far);
        assert_eq!(said(&days[..4], Role::Date(DateOrder::YearFirst)), "");
        let alike = said(&["Zürich", "Zu\u{308}rich", "18–25", "18-25", "O’Neil", "O'Neil"], Role::Category);
        assert!(
            alike.ends_with("\"18-25\", \"18–25\", \"O'Neil\", \"O’Neil\", \"Zu\u{308}rich\", \"Zürich\""),
            "{alike}"
        );
    }
}
