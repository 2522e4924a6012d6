//! Options of the command line in messages of the engine, which names them as programs do: `bad_rows skip` is `--bad-rows skip` here.

/// What the engine says of options of reading a table, and the same with flags.
const PHRASES: [(&str, &str); 12] = [
    ("bad_rows skip leaves", "--bad-rows skip leaves"),
    ("skip and header_row declare", "--skip and --header-row declare"),
    ("skip or no header declares", "--skip or --no-header declares"),
    ("and no header name the columns", "and --no-header name the columns"),
    ("a delimiter declares", "--delimiter declares"),
    ("read so, as escape declares", "read so, as --escape declares"),
    ("which header_row leaves out", "which --header-row leaves out"),
    ("which skip leaves out", "which --skip leaves out"),
    ("names: header_row ", "names: --header-row "),
    ("; keep_na keeps it", "; --keep-na keeps it"),
    ("? skip ", "? --skip "),
    ("such as encoding latin1", "such as --encoding latin1"),
];

/// A message for a person at the command line.
pub(crate) fn spelled(message: &str) -> String {
    PHRASES.iter().fold(message.to_owned(), |text, (engine, command)| text.replace(engine, command))
}

#[cfg(test)]
mod tests {
    use meromorph::files::{Header, read_plain};

    use super::spelled;

    #[test]
    fn options_that_the_engine_names_are_flags() {
        let said = |text: &str| match read_plain(text.as_bytes(), "a.csv", Header::Auto) {
            Ok(table) => table.notes().iter().map(|note| spelled(&note.to_string())).collect::<Vec<_>>().join("|"),
            Err(error) => spelled(&error.to_string()),
        };
        for (text, wanted) in [
            ("a,b,c\n1,2,3\nSource: x\n\n", "? --bad-rows skip leaves such rows out"),
            ("a,b,c\n1,2,3\n4,5\n6,7,8\n", "; --bad-rows skip leaves such rows out, and fill takes"),
            ("Title\n\na,b,c\n1,x,3\n4,y,6\n", "left out; --skip and --header-row declare another start"),
            ("# colours\n#\na,b\n1,2\n", "; --skip or --no-header declares another start"),
            ("a,b\n1,x,3\n2,y,4\n3,z,5\n", "? --skip 1 and --no-header name the columns c0"),
            ("Title\n1,2,3\n4,5,6\n7,8,9\n", "above the table? --skip 1 leaves out"),
            ("a b\n1 2\n3 4\n", "apart by spaces; --delimiter declares another character"),
        ] {
            let said = said(text);
            assert!(said.contains(wanted), "{text:?}: {said}");
        }
    }
}
