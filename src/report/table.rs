//! A table: aligned text for a terminal, HTML for a page. A column of numbers is aligned to the right in both.

use super::html::escaped;
use super::text::{left, printable, right, width};

/// How a cell is emphasised on a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// As any other.
    #[default]
    Plain,
    /// A good outcome.
    Good,
    /// A bad outcome.
    Bad,
    /// An open outcome.
    Open,
}

/// A cell of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    text: String,
    detail: String,
    tone: Tone,
}

/// A header and rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

impl Cell {
    /// With a second text in small letters, such as an interval.
    #[must_use]
    pub fn detail(mut self, text: impl Into<String>) -> Self {
        self.detail = text.into();
        self
    }

    /// As a badge.
    #[must_use]
    pub fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    fn line(&self) -> String {
        let gap = if self.text.is_empty() || self.detail.is_empty() { "" } else { " " };
        printable(&format!("{}{gap}{}", self.text, self.detail))
    }

    fn html(&self) -> String {
        let text = escaped(&self.text);
        let badge = |name: &str| format!("<span class=\"badge {name}\">{text}</span>");
        let text = match self.tone {
            Tone::Plain => text,
            Tone::Good => badge("good"),
            Tone::Bad => badge("bad"),
            Tone::Open => badge("open"),
        };
        if self.detail.is_empty() { text } else { format!("{text}<small>{}</small>", escaped(&self.detail)) }
    }

    /// Whether it is a number, or a sign that there is none.
    fn is_number(&self) -> bool {
        let text = self.text.trim_start_matches(['+', '±']);
        text.is_empty() && self.detail.is_empty()
            || text.starts_with(|c: char| c.is_ascii_digit() || "-−–·".contains(c))
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl Table {
    /// Without rows.
    pub fn new<S: Into<String>>(header: impl IntoIterator<Item = S>) -> Self {
        Self { header: header.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// With one more row. Missing cells are empty; cells beyond the header are left out.
    #[must_use]
    pub fn row<C: Into<Cell>>(mut self, cells: impl IntoIterator<Item = C>) -> Self {
        let mut cells: Vec<Cell> = cells.into_iter().map(Into::into).collect();
        cells.resize(self.header.len(), Cell::default());
        self.rows.push(cells);
        self
    }

    /// With more rows.
    #[must_use]
    pub fn rows<C: Into<Cell>, R: IntoIterator<Item = C>>(self, rows: impl IntoIterator<Item = R>) -> Self {
        rows.into_iter().fold(self, Self::row)
    }

    /// Lines indented by two, columns two apart.
    pub fn text(&self) -> String {
        let header: Vec<String> = self.header.iter().map(|name| printable(name)).collect();
        let rows: Vec<Vec<String>> = self.rows.iter().map(|row| row.iter().map(Cell::line).collect()).collect();
        let all = || [&header].into_iter().chain(&rows);
        let aligned = |column: usize| {
            let widest = all().map(|row| width(&row[column])).max().unwrap_or(0);
            (widest, if self.is_numeric(column) { right } else { left })
        };
        let columns: Vec<_> = (0..header.len()).map(aligned).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&columns).map(|(cell, (width, align))| format!("  {}", align(cell, *width)));
            cells.collect::<String>().trim_end().to_owned()
        };
        all().map(line).collect::<Vec<_>>().join("\n")
    }

    /// A table element that scrolls sideways on a narrow screen. The first column names the rows.
    pub fn html(&self) -> String {
        let class = |column: usize| if self.is_numeric(column) { " class=\"number\"" } else { "" };
        let header = self.header.iter().enumerate();
        let header: String =
            header.map(|(at, name)| format!("<th scope=\"col\"{}>{}</th>", class(at), escaped(name))).collect();
        let cell = |(at, cell): (usize, &Cell)| match at {
            0 => format!("<th scope=\"row\"{}>{}</th>", class(at), cell.html()),
            _ => format!("<td{}>{}</td>", class(at), cell.html()),
        };
        let row = |row: &Vec<Cell>| format!("<tr>{}</tr>", row.iter().enumerate().map(cell).collect::<String>());
        let rows: String = self.rows.iter().map(row).collect();
        format!("<div class=\"wide\"><table><thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table></div>")
    }

    /// Whether every cell of a column is a number or stands for a missing one.
    fn is_numeric(&self, column: usize) -> bool {
        !self.rows.is_empty() && self.rows.iter().all(|row| row[column].is_number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_aligned_to_the_right_and_words_to_the_left() {
        let table = Table::new(["", "x", "what"]).row(["a", "1", "one"]).row(["long", "−22", "other"]);
        assert_eq!(table.text(), "          x  what\n  a       1  one\n  long  −22  other");
        assert!(table.html().contains("<td class=\"number\">−22</td><td>other</td>"), "{}", table.html());
        let table = Table::new(["tau", "rmse"]).row(["0.1", "–"]).row(["10", "+2"]);
        assert_eq!(table.text(), "  tau  rmse\n  0.1     –\n   10    +2");
    }

    #[test]
    fn wide_characters_keep_columns_aligned() {
        let table = Table::new(["class", "rows"]).row(["東京", "8"]).row(["ab", "12"]);
        assert_eq!(table.text(), "  class  rows\n  東京      8\n  ab       12");
    }

    #[test]
    fn short_rows_are_filled_and_long_ones_cut() {
        let table = Table::new(["a", "b"]).row(["x"]).row(["x", "y", "z"]);
        assert_eq!(table.text(), "  a  b\n  x\n  x  y");
        assert_eq!(Table::new(["a", "b"]).text(), "  a  b", "no rows");
    }

    #[test]
    fn a_row_stays_on_its_line() {
        assert_eq!(Table::new(["a\nb"]).row(["\u{1b}[2J"]).text(), "  a b\n   [2J");
    }

    #[test]
    fn details_and_tones_are_for_pages() {
        let cell = Cell::from("0.1").detail("0 – 0.2");
        let table = Table::new(["", "mean"]).row([Cell::from("better").tone(Tone::Good), cell]);
        assert_eq!(table.text(), "                 mean\n  better  0.1 0 – 0.2");
        assert!(table.html().contains("<span class=\"badge good\">better</span>"));
        assert!(table.html().contains("<td class=\"number\">0.1<small>0 – 0.2</small></td>"));
    }

    #[test]
    fn every_text_is_escaped() {
        let evil = "<i a=\"b\">&";
        let cell = Cell::from(evil).detail(evil).tone(Tone::Bad);
        let html = Table::new([evil, evil]).row([cell.clone(), cell]).html();
        assert!(!html.contains("<i") && html.matches("&lt;i a=&quot;b&quot;&gt;&amp;").count() == 6, "{html}");
    }
}
