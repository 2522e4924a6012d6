//! How the columns of a new table are written otherwise than those that a model learnt from.

use super::feature::{Feature, Moments};
use super::prepare::Preparation;
use crate::files::{Cells, Column, Table};
use crate::host;

impl Preparation {
    /// How the columns of a new table are written otherwise than those of training, in words for a person: texts where there were numbers, and
    /// the like. Single cells are noted where they are encoded; absent columns are errors there.
    pub fn differences(&self, table: &Table) -> Vec<String> {
        let columns = self.features.iter().filter_map(|feature| Some((feature, table.find(feature.name())?)));
        let said = columns.filter_map(|(feature, at)| difference(feature, &table.columns()[at]));
        said.map(|(name, what)| format!("column \"{name}\" {what}")).collect()
    }
}

fn difference<'a>(feature: &'a Feature, column: &Column) -> Option<(&'a str, String)> {
    let first = || (0..column.cells.len()).find_map(|row| column.as_category().text(row));
    let what = match (feature, &column.cells) {
        (Feature::Numeric(_), Cells::Categorical { levels, .. }) if !levels.is_empty() => {
            // With another decimal mark, texts may be numbers as they are usually written.
            let is_number = |text: &&str| host::parse_number(text).is_some();
            let texts = || levels.iter().map(String::as_str);
            let text = texts().find(|text| !is_number(text)).or_else(|| texts().next())?;
            format!(
                "held numbers in the table of training and holds texts here, such as \"{text}\"; the options decimal, thousands and na say how numbers are written"
            )
        }
        (Feature::Numeric(number), Cells::Numeric(_)) if number.is_percent && !column.is_percent() => {
            let is_empty = column.cells.are_missing();
            (!is_empty).then(|| {
                "held percentages in the table of training, of which 50% is 50, and holds plain numbers here".to_owned()
            })?
        }
        (Feature::Numeric(number), Cells::Numeric(_)) if !number.is_percent && column.is_percent() => {
            "held plain numbers in the table of training and holds percentages here, of which 50% is 50".to_owned()
        }
        (Feature::Categorical(category), Cells::Numeric(_)) if !column.cells.are_missing() => {
            let is_text = category.levels.iter().all(|level| host::parse_number(level).is_none());
            let level = category.levels.first().filter(|_| is_text)?;
            format!("held texts in the table of training, such as \"{level}\", and holds numbers here")
        }
        (Feature::Date(date), _) => {
            let moments = Moments::of(column, date.order);
            if (0..column.cells.len()).any(|row| moments.get(row).is_some()) {
                return None;
            }
            let like = &date.range()[1];
            format!("held dates in the table of training, such as {like}, and holds none here, but \"{}\"", first()?)
        }
        _ => return None,
    };
    Some((feature.name(), what))
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
                "column \"day\" held dates in the table of training, such as 2024-01-28, and holds none here, but \"soon\"",
            ]
        );
        let percent = table("x,share,k,day\n1%,5%,a,2024-01-01\n2%,,b,2024-01-02\n");
        assert_eq!(
            preparation.differences(&percent),
            ["column \"x\" held plain numbers in the table of training and holds percentages here, of which 50% is 50"]
        );
        assert_eq!(preparation.differences(&table("x,share,k,day\n,,,\n")), [""; 0]);
    }
}
