//! What a caller says of how a table is written, over how another table was written: that which a model learnt from.

use crate::files::text::Format;
use crate::json::{Json, Record};

/// One option of a [`Format`].
pub(crate) struct FormatOption {
    /// The option's name.
    pub name: &'static str,
    /// The name of its field in files.
    field: &'static str,
    copy: fn(&mut Format, &Format),
}

/// Every option of a [`Format`].
pub(crate) static OPTIONS: [FormatOption; 13] = [
    FormatOption { name: "header", field: "header", copy: |to, from| to.header = from.header },
    FormatOption { name: "delimiter", field: "delimiter", copy: |to, from| to.delimiter.clone_from(&from.delimiter) },
    FormatOption { name: "decimal", field: "decimal", copy: |to, from| to.decimal.clone_from(&from.decimal) },
    FormatOption { name: "thousands", field: "thousands", copy: |to, from| to.thousands.clone_from(&from.thousands) },
    FormatOption { name: "na", field: "missing", copy: |to, from| to.missing.clone_from(&from.missing) },
    FormatOption { name: "keep_na", field: "keeps_words", copy: |to, from| to.keeps_words = from.keeps_words },
    FormatOption { name: "sheet", field: "sheet", copy: |to, from| to.sheet.clone_from(&from.sheet) },
    FormatOption {
        name: "encoding",
        field: "encoding",
        copy: |to, from| to.layout.encoding.clone_from(&from.layout.encoding),
    },
    FormatOption {
        name: "comment",
        field: "comment",
        copy: |to, from| to.layout.comment.clone_from(&from.layout.comment),
    },
    FormatOption { name: "skip", field: "skip", copy: |to, from| to.layout.skip = from.layout.skip },
    FormatOption {
        name: "header_row",
        field: "header_row",
        copy: |to, from| to.layout.header_row = from.layout.header_row,
    },
    FormatOption { name: "bad_rows", field: "bad_rows", copy: |to, from| to.layout.bad_rows = from.layout.bad_rows },
    FormatOption { name: "escape", field: "escape", copy: |to, from| to.layout.escape.clone_from(&from.layout.escape) },
];

impl FormatOption {
    /// Whether two formats say the same.
    fn is_same(&self, one: &Format, other: &Format) -> bool {
        let mut copy = one.clone();
        (self.copy)(&mut copy, other);
        copy == *one
    }

    /// Whether a format says something other than usual.
    pub(crate) fn is_set(&self, format: &Format) -> bool {
        !self.is_same(format, &Format::default())
    }

    /// Sets it to what is usual.
    pub(crate) fn clear(&self, format: &mut Format) {
        (self.copy)(format, &Format::default());
    }

    /// What a format says, with the option's name: `decimal ","`.
    pub(crate) fn text(&self, format: &Format) -> String {
        let json = format.to_json();
        let layout = json.get("layout").and_then(|layout| layout.get(self.field));
        let words = match json.get(self.field).or(layout) {
            Some(Json::List(words)) if !words.is_empty() => {
                words.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            }
            None | Some(Json::Null | Json::List(_)) => "none".to_owned(),
            Some(word) => word.to_string(),
        };
        format!("{} {words}", self.name)
    }
}

/// What a caller says of how a table is written; the rest is as in another table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    /// What is said; usual where nothing is.
    pub format: Format,
    /// The names of the options that are said.
    pub names: Vec<&'static str>,
}

impl Given {
    /// The format of a table that is written like another one, of format `own`, except in what is said.
    pub fn over(&self, own: &Format) -> Format {
        let mut format = own.clone();
        // Both say where the table begins, so that one of them replaces what the other table has of both.
        if self.names.iter().any(|name| ["skip", "header_row"].contains(name)) {
            (format.layout.skip, format.layout.header_row) = (0, None);
        }
        for option in OPTIONS.iter().filter(|option| self.names.contains(&option.name)) {
            (option.copy)(&mut format, &self.format);
        }
        format
    }

    /// Where what is said differs from the format of the other table, of the options that `applies` names, in words for a person.
    pub(crate) fn differences(&self, own: &Format, applies: &[&str]) -> Vec<String> {
        let is_said = |option: &&FormatOption| self.names.contains(&option.name) && applies.contains(&option.name);
        let said = OPTIONS.iter().filter(is_said).filter(|option| !option.is_same(own, &self.format));
        // A name of a sheet says nothing about its cells.
        let said = said.filter(|option| option.name != "sheet");
        said.map(|option| {
            format!(
                "is read with {}, the table of training was read with {}",
                option.text(&self.format),
                option.text(own)
            )
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{BadRows, Header, Layout};

    fn german() -> Format {
        Format { decimal: ",".into(), missing: vec!["-999".into()], ..Format::from(Header::Yes) }
    }

    #[test]
    fn every_option_is_taken_over() {
        let layout = Layout {
            encoding: Some("latin1".into()),
            comment: Some("#".into()),
            skip: 1,
            header_row: Some(2),
            bad_rows: BadRows::Skip,
            escape: Some("\\".into()),
        };
        let all = Format {
            delimiter: Some(";".into()),
            thousands: Some(".".into()),
            sheet: Some("a".into()),
            keeps_words: true,
            layout,
            ..german()
        };
        let names: Vec<&str> = OPTIONS.iter().map(|option| option.name).collect();
        let given = Given { format: all.clone(), names };
        assert_eq!(given.over(&Format::default()), all);
        assert_eq!(OPTIONS.iter().filter(|option| option.is_set(&all)).count(), OPTIONS.len());
        assert!(!OPTIONS.iter().any(|option| option.is_set(&Format::default())));
    }

    #[test]
    fn the_start_of_a_table_is_declared_in_one_way() {
        let layout = |skip, header_row| Layout { skip, header_row, ..Layout::default() };
        let over = |names: &[&'static str], said: Layout, own: Layout| {
            let of = |layout| Format { layout, ..Format::default() };
            Given { format: of(said), names: names.to_vec() }.over(&of(own)).layout
        };
        assert_eq!(over(&["header_row"], layout(0, Some(2)), layout(5, None)), layout(0, Some(2)));
        assert_eq!(over(&["skip"], layout(1, None), layout(0, Some(4))), layout(1, None));
        assert_eq!(over(&["decimal"], layout(0, None), layout(5, None)), layout(5, None));
    }

    #[test]
    fn what_is_not_said_is_as_in_the_other_table() {
        let given = Given { format: Format::default(), names: vec!["decimal"] };
        assert_eq!(given.over(&german()), Format { decimal: ".".into(), ..german() });
        assert_eq!(Given::default().over(&german()), german());
        let skipping =
            |skip, header_row| Format { layout: Layout { skip, header_row, ..Layout::default() }, ..german() };
        let at_row = Given { format: skipping(0, Some(2)), names: vec!["header_row"] };
        assert_eq!(at_row.over(&skipping(2, None)), skipping(0, Some(2)));
        let all = ["decimal", "na"];
        assert_eq!(
            given.differences(&german(), &all),
            ["is read with decimal \".\", the table of training was read with decimal \",\""]
        );
        let none = Given { format: Format::default(), names: vec!["na"] };
        assert_eq!(
            none.differences(&german(), &all),
            ["is read with na none, the table of training was read with na \"-999\""]
        );
        assert_eq!(none.differences(&german(), &["decimal"]), [""; 0]);
        assert_eq!(Given { format: german(), names: vec!["na"] }.differences(&german(), &all), [""; 0]);
    }
}
