//! Names the file of `--config` in an error about an option that came from it.

use std::ffi::OsString;

use crate::Failure;
use meromorph::error::Error;

/// The options that a file added to the command line.
pub(crate) struct FromFile {
    pub(super) file: String,
    /// Words such as `--lr=0.1`.
    pub(super) words: Vec<OsString>,
}

impl FromFile {
    /// The failure of a command, with the file's name in front if it is about one of these options.
    pub(crate) fn blame(&self, failure: Failure, command: &str) -> Failure {
        match failure {
            Failure::Error(error) => {
                let text = error.to_string();
                let message = text.strip_prefix(command).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(&text);
                if self.is_cause(message) {
                    Error::new(message).with_kind(error.kind()).within(&self.file).into()
                } else {
                    error.into()
                }
            }
            Failure::Parse(message) if self.is_cause(&message) => Failure::Parse(format!("{}: {message}", self.file)),
            other => other,
        }
    }

    /// Whether a message is about one of these options: it has `--name`, starts with the name, or its first quoted text is the value.
    fn is_cause(&self, message: &str) -> bool {
        let is_end = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_');
        let quoted = message.split('"').nth(1);
        self.words.iter().any(|word| {
            let word = word.to_string_lossy();
            let (flag, value) = word.split_once('=').map_or((&*word, None), |(flag, value)| (flag, Some(value)));
            let name = flag.trim_start_matches('-');
            let begins = |name: &str| message.strip_prefix(name).is_some_and(is_end);
            message.split(flag).skip(1).any(is_end)
                || begins(name)
                || begins(&name.replace('-', " "))
                || value.is_some() && value == quoted
        })
    }
}
