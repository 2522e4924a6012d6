//! How the columns of a new table are written otherwise than those that a model learnt from.

use super::feature::{DateFeature, Feature, NumberFeature, Seen};
use super::prepare::Preparation;
use crate::files::moment::{Moment, orders};
use crate::files::text::cell::Odd;
use crate::files::text::missing;
use crate::files::{Cells, Column, DateOrder, Notation, Table};
use crate::host;

impl Preparation {
    /// How the columns of a new table are written otherwise than those of training, in words for a person: texts where there were numbers, and
    /// the like. Single cells are noted where they are encoded; absent columns are errors there.
    pub fn differences(&self, table: &Table) -> Vec<String> {
        let columns = self.features.iter().filter_map(|feature| Some((feature, table.find(feature.name())?)));
        let said = columns.filter_map(|(feature, at)| difference(feature, &table.columns()[at]));
        let target = table.find(self.target.name()).and_then(|at| {
            let is_percent = self.target_notation.unit == PERCENT;
            let notation = if is_percent { Notation::default() } else { self.target_notation.clone() };
            let number = NumberFeature { is_percent, notation, ..NumberFeature::default() };
            of_numbers(&number, &table.columns()[at]).filter(|_| self.target.levels().is_empty())
        });
        let said = said.chain(target.map(|what| (self.target.name(), what)));
        said.map(|(name, what)| format!("column \"{name}\" {what}")).collect()
    }
}

/// The unit of a target whose cells are written as percentages.
pub(super) const PERCENT: &str = "%";

fn difference<'a>(feature: &'a Feature, column: &Column) -> Option<(&'a str, String)> {
    let what = match (feature.seen(), &column.cells) {
        (Seen::Numbers(number), Cells::Categorical { levels, .. }) => of_texts(number, column, levels)?,
        (Seen::Numbers(number), Cells::Numeric(_)) => of_numbers(number, column)?,
        (Seen::Levels { levels, .. }, Cells::Numeric(_)) if !column.cells.are_missing() => {
            let is_text = levels.iter().all(|level| host::parse_number(level).is_none());
            let level = levels.first().filter(|_| is_text)?;
            format!("held texts in the table of training, such as \"{level}\", and holds numbers here")
        }
        (Seen::Times(date), cells) => match column.as_category() {
            Cells::Categorical { levels, .. } => of_dates(date, levels)?,
            Cells::Numeric(_) if cells.are_missing() => return None,
            Cells::Numeric(_) => no_dates(date, &column.as_category().text(0)?),
        },
        _ => return None,
    };
    Some((feature.name(), what))
}

/// Texts where there were numbers, unless they are numbers as those were written.
fn of_texts(number: &NumberFeature, column: &Column, levels: &[String]) -> Option<String> {
    let is_refused = |text: &&String| match column.number_in(text, &number.notation) {
        Odd::Text => true,
        Odd::Percent(_) => !number.is_percent,
        Odd::Number(_) | Odd::Missing => false,
    };
    let text = levels.iter().find(is_refused)?;
    Some(format!(
        "held numbers in the table of training and holds texts here, such as \"{text}\"; the options decimal, thousands and na say how numbers are written"
    ))
}

/// Numbers in another unit than those of training.
fn of_numbers(number: &NumberFeature, column: &Column) -> Option<String> {
    if column.cells.are_missing() || !column.is_numeric() {
        return None;
    }
    let (own, unit) = (column.notation().unit, &number.notation.unit);
    let what = match (number.is_percent, column.is_percent()) {
        (true, false) => {
            "held percentages in the table of training, of which 50% is 50, and holds plain numbers here".to_owned()
        }
        (false, true) => {
            "held plain numbers in the table of training and holds percentages here, of which 50% is 50".to_owned()
        }
        _ if own.is_empty() && !unit.is_empty() => {
            format!(
                "held numbers with {unit} in the table of training and holds plain numbers here, which are taken as {unit}"
            )
        }
        _ if !own.is_empty() && unit.is_empty() => {
            format!(
                "held plain numbers in the table of training and holds numbers with {own} here, which are read without it"
            )
        }
        _ => return None,
    };
    Some(what)
}

/// Dates in another order, or none.
fn of_dates(date: &DateFeature, levels: &[String]) -> Option<String> {
    let is_date = |text: &&String| Moment::parse(text, date.order).is_some();
    let other = levels.iter().find(|text| !is_date(text) && !missing::is_word(text))?;
    let name = |order: DateOrder| DateOrder::ALL.iter().find(|(_, known)| *known == order).map_or("", |(name, _)| name);
    if let [order] = orders(levels)[..]
        && order != date.order
    {
        return Some(format!(
            "held dates in the order {} in the table of training and holds dates in the order {} here, such as \"{other}\"; write them as there",
            name(date.order),
            name(order)
        ));
    }
    (!levels.iter().any(|text| is_date(&text))).then(|| no_dates(date, other))
}

fn no_dates(date: &DateFeature, text: &str) -> String {
    format!("held dates in the table of training, such as {}, and holds none here, but \"{text}\"", date.range()[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::csv::{Header, read};
    use crate::table::{Choice, choose};

    fn table(text: &str) -> Table {
        read(text.as_bytes(), "new.csv", Header::Yes).unwrap()
    }

    #[test]
    fn columns_that_are_written_otherwise_are_named() {
        let rows: String =
            (0..40).map(|i| format!("{i},{i}%,{},2024-01-{:02},{i}.5\n", ["a", "b"][i % 2], i % 28 + 1)).collect();
        let own = table(&format!("x,share,k,day,y\n{rows}"));
        let chosen = choose(&own, &Choice { target: "y".into(), ..Choice::default() }).unwrap();
        let preparation = Preparation::fit(&own, &chosen, &chosen.rows).unwrap();
        assert_eq!(preparation.differences(&own), [""; 0]);
        let new = table("x,share,k,day\n\"1,5\",0.5,1,soon\n2,0.25,2,later\n");
        assert_eq!(
            preparation.differences(&new),
            [
                "column \"x\" held numbers in the table of training and holds texts here, such as \"1,5\"; the options decimal, thousands and na say how numbers are written",
                "column \"share\" held percentages in the table of training, of which 50% is 50, and holds plain numbers here",
                "column \"k\" held texts in the table of training, such as \"a\", and holds numbers here",
                "column \"day\" held dates in the table of training, such as 2024-01-28, and holds none here, but \"later\"",
            ]
        );
        let percent = table("x,share,k,day\n1%,5%,a,2024-01-01\n2%,,b,2024-01-02\n");
        assert_eq!(
            preparation.differences(&percent),
            ["column \"x\" held plain numbers in the table of training and holds percentages here, of which 50% is 50"]
        );
        assert_eq!(preparation.differences(&table("x,share,k,day\n,,,\n")), [""; 0]);
        // What training read without a word is no difference.
        let alike = table("x,share,k,day\n-,5%,a,2024-01-01\n2,6%,b,2024-01-02\n");
        assert_eq!(preparation.differences(&alike), [""; 0]);
    }

    #[test]
    fn other_orders_units_and_shares_of_the_target_are_named() {
        let rows: String =
            (0..40).map(|i| format!("{} mm,{:02}/{:02}/2024,{i}%\n", i + 1, i % 28 + 1, i % 12 + 1)).collect();
        let own = table(&format!("x,day,y\n{rows}"));
        let chosen = choose(&own, &Choice { target: "y".into(), ..Choice::default() }).unwrap();
        let preparation = Preparation::fit(&own, &chosen, &chosen.rows).unwrap();
        assert_eq!(preparation.differences(&own), [""; 0]);
        let new = table("x,day,y\n1,03/15/2024,0.5\n2,04/01/2024,0.25\n");
        assert_eq!(
            preparation.differences(&new),
            [
                "column \"x\" held numbers with mm in the table of training and holds plain numbers here, which are taken as mm",
                "column \"day\" held dates in the order dmy in the table of training and holds dates in the order mdy here, such as \"03/15/2024\"; write them as there",
                "column \"y\" held percentages in the table of training, of which 50% is 50, and holds plain numbers here",
            ]
        );
    }
}
