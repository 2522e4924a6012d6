//! Which order the dates of a column have: the one that reads the most of its texts.

use super::{DateOrder, Moment};
use crate::files::text::missing;

/// How the dates of some texts are written: in the `expected` order if it is possible; `None` unless nine of ten texts are dates, all in one order.
/// Signs for a missing cell do not count.
pub(crate) fn order_of(texts: &[String], expected: Option<DateOrder>) -> Option<DateOrder> {
    let all = fitting(texts);
    match (expected.filter(|order| all.contains(order)), usual(texts, all).as_slice()) {
        (Some(order), _) => Some(order),
        (None, [order]) => Some(*order),
        _ => None,
    }
}

/// The orders in which some texts are dates, without those that are unlikely: none for other texts, several if the order is open.
pub(crate) fn orders(texts: &[String]) -> Vec<DateOrder> {
    usual(texts, fitting(texts))
}

/// Whether nine of ten texts are dates in this order.
pub(crate) fn is_written_in(texts: &[String], order: DateOrder) -> bool {
    let (dates, all) = count(texts.iter(), order);
    dates > 0 && 10 * dates >= 9 * all
}

/// The share of the texts that are dates in the order that reads most, and the first text that is none.
pub(crate) fn share_of_dates(texts: &[String]) -> (f64, Option<&String>) {
    let best = DateOrder::ALL
        .map(|(_, order)| (count(texts.iter(), order), order))
        .into_iter()
        .max_by_key(|((dates, _), _)| *dates);
    let Some(((dates, all), order)) = best else { return (0.0, None) };
    let other = texts.iter().find(|text| Moment::parse(text, order).is_none() && !missing::is_word(text));
    (dates as f64 / all.max(1) as f64, other)
}

/// The number of texts that are dates, and of all that are not missing.
fn count<'a>(texts: impl Iterator<Item = &'a String>, order: DateOrder) -> (usize, usize) {
    texts
        .filter(|text| !missing::is_word(text))
        .fold((0, 0), |(dates, all), text| (dates + usize::from(Moment::parse(text, order).is_some()), all + 1))
}

/// The orders in which nine of ten texts, and as many as possible, are dates; one of those in which all texts mean the same.
fn fitting(texts: &[String]) -> Vec<DateOrder> {
    const SAMPLE: usize = 200;
    let step = texts.len() / SAMPLE + 1;
    let few = |order| count(texts.iter().step_by(step), order);
    if !DateOrder::ALL.iter().any(|(_, order)| matches!(few(*order), (dates, all) if 2 * dates >= all && dates > 0)) {
        return Vec::new();
    }
    let all = [DateOrder::YearFirst, DateOrder::DayFirst, DateOrder::MonthFirst];
    let counts = all.map(|order| if is_written_in(texts, order) { count(texts.iter(), order).0 } else { 0 });
    let most = counts.into_iter().max().filter(|most| *most > 0);
    let mut found: Vec<DateOrder> =
        all.into_iter().zip(counts).filter(|(_, dates)| Some(*dates) == most).map(|(order, _)| order).collect();
    let is_same =
        |a: DateOrder, b: DateOrder| texts.iter().all(|text| Moment::parse(text, a) == Moment::parse(text, b));
    if found.len() > 1 && found[1..].iter().all(|order| is_same(*order, found[0])) {
        found.truncate(1);
    }
    found
}

/// Without the year first if others are as good: where it has four digits it decides; where it has two it is likely only between hyphens.
fn usual(texts: &[String], mut found: Vec<DateOrder>) -> Vec<DateOrder> {
    let Some(year) = found.iter().position(|order| *order == DateOrder::YearFirst).filter(|_| found.len() > 1) else {
        return found;
    };
    let moments = || texts.iter().filter_map(|text| Moment::parse(text, DateOrder::YearFirst));
    if !moments().any(|moment| moment.has_short_year) {
        return vec![DateOrder::YearFirst];
    }
    let has_names = |text: &String| text.bytes().any(|byte| byte.is_ascii_alphabetic());
    if texts.iter().any(|text| text.contains(['/', '.']) || has_names(text)) {
        found.remove(year);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use DateOrder::{DayFirst, MonthFirst, YearFirst};

    #[test]
    fn the_order_is_that_of_all_texts() {
        let cases: [(&[&str], &[DateOrder]); 19] = [
            (&["2024-03-01", "2024-12-31"], &[YearFirst]),
            (&["1.3.2024", "31.12.2024"], &[DayFirst]),
            (&["3/1/2024", "12/31/2024"], &[MonthFirst]),
            (&["3/1/2024", "4/2/2024"], &[DayFirst, MonthFirst]),
            (&["06:00", "7:30 pm"], &[YearFirst]),
            (&["2024-03-01", "-", "None", "NA"], &[YearFirst]),
            (&["2024-03-01", "red"], &[]),
            (&["-"], &[]),
            (&[], &[]),
            (&["4/23/22", "9/1/22"], &[MonthFirst]),
            (&["23/04/22", "01/09/22"], &[DayFirst]),
            (&["23.4.22", "1.9.22"], &[DayFirst]),
            (&["3/1/22", "4/2/22"], &[DayFirst, MonthFirst]),
            (&["22-04-23", "22-09-01"], &[YearFirst, DayFirst]),
            (&["99-04-23", "98-09-30"], &[YearFirst]),
            (&["23-Apr-2022", "01-Sep-2022"], &[YearFirst]),
            (&["Mar-31", "Apr-22"], &[DayFirst, MonthFirst]),
            (&["Mar-99", "Apr-22"], &[YearFirst]),
            (&["2022-W16", "2022-W17"], &[YearFirst]),
        ];
        for (texts, expected) in cases {
            let texts: Vec<String> = texts.iter().map(ToString::to_string).collect();
            assert_eq!(orders(&texts), expected, "{texts:?}");
        }
        let open = ["03/01/22", "04/02/22"].map(String::from);
        let order = |expected| order_of(&open, expected);
        assert_eq!([None, Some(MonthFirst), Some(YearFirst)].map(order), [None, Some(MonthFirst), Some(YearFirst)]);
        let days = ["31.12.2024".to_owned()];
        assert_eq!(order_of(&days, Some(MonthFirst)), Some(DayFirst), "no other order is possible");
        let some = ["2024-03-01", "2024-03-02", "soon"].map(String::from);
        assert_eq!(share_of_dates(&some), (2.0 / 3.0, Some(&some[2])));
    }
}
