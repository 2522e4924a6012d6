//! Options of reading in messages of the engine, which names them as programs do: `bad_rows skip` is `--bad-rows skip` here.

use meromorph::options::Naming;
use meromorph::run::READING;

/// An option of training that is about how cells are written.
const DATE_ORDER: &str = "date_order";

/// A message for a person at the command line: names of several words, such as `bad_rows`, are those of flags. What is in quotes is a person's own
/// text, and names of one word could be words of the sentence.
pub(crate) fn spelled(message: &str) -> String {
    let parts = message.split('"').enumerate();
    parts.map(|(at, part)| if at % 2 == 0 { flags(part) } else { part.to_owned() }).collect::<Vec<_>>().join("\"")
}

fn flags(text: &str) -> String {
    let names: Vec<&str> =
        READING.entries().map(|entry| entry.name).filter(|name| name.contains('_')).chain([DATE_ORDER]).collect();
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/');
    let mut spelled = String::new();
    for word in text.split_inclusive(|letter: char| !is_part(letter)) {
        let name = word.trim_end_matches(|letter: char| !is_part(letter) || letter == '.');
        let rest = &word[name.len()..];
        let flag = names.contains(&name).then(|| Naming::Command.shown(name));
        spelled += flag.as_deref().unwrap_or(name);
        spelled += rest;
    }
    spelled
}

#[cfg(test)]
mod tests {
    use super::spelled;

    #[test]
    fn options_of_several_words_are_flags() {
        let cases = [
            ("a.csv: line 3; bad_rows skip leaves it out", "a.csv: line 3; --bad-rows skip leaves it out"),
            ("skip and header_row declare another start", "skip and --header-row declare another start"),
            ("keep_na, which keeps it.", "--keep-na, which keeps it."),
            ("the option date_order.", "the option --date-order."),
            ("column \"bad_rows\" of /data/bad_rows/a.csv", "column \"bad_rows\" of /data/bad_rows/a.csv"),
            ("tau_infer is 0", "tau_infer is 0"),
            ("--bad-rows and my_bad_rows", "--bad-rows and my_bad_rows"),
        ];
        for (engine, command) in cases {
            assert_eq!(spelled(engine), command);
        }
    }
}
