//! One HTML page in one file: no script, nothing to load, light or dark as the reader prefers, legible on a phone. What is added is shown in
//! that order. Texts are plain text.

use super::chart::Chart;
use super::html::{element, escaped};
use super::table::Table;

const STYLE: &str = include_str!("page.css");

/// A page under construction. Start with the lead and the chart that answers the reader's question, so that both are in the first view.
pub struct Page {
    title: String,
    header: String,
    body: String,
    is_in_section: bool,
}

impl Page {
    /// With a title only.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), header: String::new(), body: String::new(), is_in_section: false }
    }

    /// A short line above the title: what kind of page this is.
    pub fn kind(&mut self, text: &str) {
        let title = element("h1", &self.title);
        self.header = format!("{}{title}", element("p class=\"kind\"", text));
    }

    /// The main result in a sentence or two, in large letters.
    pub fn lead(&mut self, text: &str) {
        self.add(&element("p class=\"lead\"", text));
    }

    /// Starts a section.
    pub fn section(&mut self, title: &str) {
        let end = if self.is_in_section { "</section>\n" } else { "" };
        self.add(&format!("{end}<section>{}", element("h2", title)));
        self.is_in_section = true;
    }

    /// A heading inside a section.
    pub fn heading(&mut self, text: &str) {
        self.add(&element("h3", text));
    }

    /// A paragraph.
    pub fn paragraph(&mut self, text: &str) {
        self.add(&element("p", text));
    }

    /// A paragraph in small letters: how something was measured, how to read it.
    pub fn note(&mut self, text: &str) {
        self.add(&element("p class=\"note\"", text));
    }

    /// A framed statement: its heading, its text and a note.
    pub fn statement(&mut self, heading: &str, text: &str, note: &str) {
        let (heading, text) = (element("h2", heading), element("p", text));
        self.add(&format!("<div class=\"statement\">{heading}{text}{}</div>", element("p class=\"note\"", note)));
    }

    /// Names with a text each.
    pub fn facts<'a>(&mut self, facts: impl IntoIterator<Item = (&'a str, &'a str)>) {
        let fact = |(name, text)| format!("<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(text));
        let facts: String = facts.into_iter().map(fact).collect();
        self.add(&if facts.is_empty() { facts } else { format!("<dl>{facts}</dl>") });
    }

    /// A command or a formula, letter by letter.
    pub fn code(&mut self, text: &str) {
        self.add(&format!("<p>{}</p>", element("code", text)));
    }

    /// A table.
    pub fn table(&mut self, table: &Table) {
        self.add(&table.html());
    }

    /// Charts next to each other where the screen is wide enough. An empty chart says that it has no values.
    pub fn charts(&mut self, charts: impl IntoIterator<Item = Chart>) {
        let charts: String = charts.into_iter().map(|chart| chart.html()).collect();
        self.add(&if charts.is_empty() { charts } else { format!("<div class=\"charts\">{charts}</div>") });
    }

    /// The file.
    pub fn html(&self) -> String {
        let title = escaped(&self.title);
        let header = if self.header.is_empty() { element("h1", &self.title) } else { self.header.clone() };
        let end = if self.is_in_section { "</section>" } else { "" };
        let body = &self.body;
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <title>{title}</title><style>\n{STYLE}</style></head>\n<body><main>\n<header>{header}</header>\n{body}{end}\
             </main></body></html>\n"
        )
    }

    fn add(&mut self, html: &str) {
        if !html.is_empty() {
            self.body += html;
            self.body.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Series};
    use super::*;

    const EVIL: &str = "</title><script>alert('1')</script>\" onload=\"&";

    #[test]
    fn every_text_is_escaped() {
        let mut page = Page::new(EVIL);
        page.kind(EVIL);
        page.lead(EVIL);
        page.statement(EVIL, EVIL, EVIL);
        page.section(EVIL);
        page.heading(EVIL);
        page.paragraph(EVIL);
        page.note(EVIL);
        page.facts([(EVIL, EVIL)]);
        page.code(EVIL);
        page.table(&Table::new([EVIL]).row([EVIL]));
        let names = Axis::names([EVIL]);
        let chart = Chart::new(EVIL, Axis::linear(EVIL), names).series(Series::dots(EVIL, vec![[0.0, 0.0]])).note(EVIL);
        page.charts([chart]);
        let html = page.html();
        assert!(!html.contains("<script") && !html.contains("\" onload"), "{html}");
        assert!(html.matches("&lt;/title&gt;&lt;script&gt;").count() >= 20, "{html}");
    }

    #[test]
    fn sections_are_closed_and_nothing_is_loaded() {
        let mut page = Page::new("Title");
        page.lead("Result.");
        let before = page.html();
        assert!(before.contains("<header><h1>Title</h1></header>") && !before.contains("section>"));
        page.section("One");
        page.section("Two");
        page.facts([]);
        page.charts([]);
        let html = page.html();
        assert_eq!([html.matches("<section>").count(), html.matches("</section>").count()], [2, 2]);
        assert!(!html.contains("<dl>") && !html.contains("class=\"charts\""));
        assert!(["http", "<script", "<link", "url(", "@import"].iter().all(|outside| !html.contains(outside)));
        assert!(html.contains("prefers-color-scheme: dark"));
    }
}
