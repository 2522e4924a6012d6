//! Refuses columns of numbers with commas, which would otherwise become unordered categories.

use crate::error::Result;
use crate::files::text::comma::{is_finite, is_number};
use crate::files::text::missing;
use crate::files::{Cells, Column, Table};

/// Errors if at least nine tenths of a column's texts are numbers and some have commas; names the first of those.
pub(crate) fn check(table: &Table, column: &Column) -> Result<()> {
    let Cells::Categorical { codes, levels } = &column.cells else { return Ok(()) };
    let has_comma: Vec<bool> = levels.iter().map(|level| is_number(level)).collect();
    let is_word = |level: &str| !is_finite(level) && !missing::is_na(level.as_bytes());
    let words = levels.iter().zip(&has_comma).filter(|(level, has_comma)| !**has_comma && is_word(level)).count();
    let first = codes.iter().position(|code| has_comma.get(*code as usize) == Some(&true));
    let Some(row) = first.filter(|_| 10 * words <= levels.len()) else { return Ok(()) };
    let text = column.cells.text(row).unwrap_or_default();
    let what = format!(
        "\"{text}\" has a comma, but numbers are written with a point; the options decimal and thousands declare others; if the column holds categories, name it under categorical"
    );
    Err(table.at(row, &column.name, &what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::csv::{Header, read};

    #[test]
    fn numbers_with_commas_are_distinguished_from_texts() {
        for text in ["1,5", "-0,25", "+3,0", ",5", "5,", "1,5e-3", "1.234,5", "1,234.5", "1,234,567", "1,234,567.89"] {
            assert!(is_number(text), "{text}");
        }
        for text in ["15", "1.5", "", ",", "-,", "a,b", "1,2,3", "1,x", "10,20,30", "52.5,13.4", ",inf", "nan,", "1;5"]
        {
            assert!(!is_number(text), "{text}");
        }
    }

    #[test]
    fn columns_of_numbers_with_commas_are_an_error() {
        let checked = |cells: &[&str]| {
            let table = read(format!("y\n{}\n", cells.join("\n")).as_bytes(), "a.tsv", Header::Yes)?;
            check(&table, &table.columns()[0])
        };
        let refused = |row: usize, text: &str| {
            format!(
                "a.tsv: row {row}, column \"y\": \"{text}\" has a comma, but numbers are written with a point; \
                 the options decimal and thousands declare others; if the column holds categories, name it under categorical"
            )
        };
        let mostly = ["1,5", "2,5", "3,5", "4,5", "5,5", "6,5", "7,5", "8,5", "9,5", "-"];
        let cases: [(&[&str], Option<String>); 8] = [
            (&["1.5", "2.5"], None),
            (&["red", "blue"], None),
            (&["1,2", "1,2,3", "1,2,3,4", "2"], None),
            (&["1,5", "small", "large"], None),
            (&["1,5", "2,5"], Some(refused(1, "1,5"))),
            (&["1", "NA", "2", "2,5"], Some(refused(4, "2,5"))),
            (&mostly, Some(refused(1, "1,5"))),
            (&mostly[1..], None),
        ];
        for (cells, expected) in cases {
            assert_eq!(checked(cells).err().map(|error| error.to_string()), expected, "{cells:?}");
        }
    }
}
