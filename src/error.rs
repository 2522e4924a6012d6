//! One `Error`, one `Result`. The kind says who can act; the message says what is wrong, what was given and what is expected, in the user's names.

use std::fmt;

/// Who can do something about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Wrong options or a wrong call: the caller asks for something else.
    Usage,
    /// Data or a file that cannot be used.
    Input,
    /// A device that is absent, too small or lost: another device, or the same one opened again, may work.
    Device,
    /// A bug in the engine.
    Internal,
}

impl ErrorKind {
    /// Its name in other languages: `usage`, `input`, `device` or `internal`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::Input => "input",
            Self::Device => "device",
            Self::Internal => "internal",
        }
    }
}

/// A failure that is not a programming error of the caller: a kind and a message for the user.
///
/// ```
/// use meromorph::{Error, ErrorKind};
/// let error = Error::usage("batch is 0, expected at least 1").within("train");
/// assert_eq!(error.kind(), ErrorKind::Usage);
/// assert_eq!(error.to_string(), "train: batch is 0, expected at least 1");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    message: String,
    kind: ErrorKind,
}

/// The result of everything that can fail for reasons outside the program.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Data or a file cannot be used. The message is shown to the user unchanged.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), kind: ErrorKind::Input }
    }

    /// An option or a call is wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(message).with_kind(ErrorKind::Usage)
    }

    /// A device is absent, too small or lost.
    pub fn device(message: impl Into<String>) -> Self {
        Self::new(message).with_kind(ErrorKind::Device)
    }

    /// The engine has a bug.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(message).with_kind(ErrorKind::Internal)
    }

    /// Who can do something about it.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The same message as an error of another kind.
    #[must_use]
    pub fn with_kind(self, kind: ErrorKind) -> Self {
        Self { kind, ..self }
    }

    /// The same error with its context in front: `what: message`. The kind stays.
    #[must_use]
    pub fn within(self, what: &str) -> Self {
        Self { message: format!("{what}: {}", self.message), ..self }
    }
}

/// Names for a message, each in quotes. Up to twelve are listed in full; of more, the first eleven, an ellipsis and the last.
pub fn listed(names: &[&str]) -> String {
    match names {
        [first @ .., last] if first.len() >= 12 => format!("\"{}\", …, \"{last}\"", first[..11].join("\", \"")),
        [] => String::new(),
        _ => format!("\"{}\"", names.join("\", \"")),
    }
}

/// The candidate that `name` most likely misspells, if any: at most a third of the letters differ. Case, `-` and `_` are ignored.
pub fn similar<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.replace(['-', '_'], "").to_ascii_lowercase();
    let expected = plain(name);
    if expected.len() > 64 {
        return None;
    }
    let near = candidates.map(|candidate| (strsim::osa_distance(&expected, &plain(candidate)), candidate));
    let (distance, candidate) = near.min_by_key(|(distance, _)| *distance)?;
    (distance <= expected.len().div_ceil(3).min(3) && distance < expected.len()).then_some(candidate)
}

/// The end of a message about an unknown name, `; did you mean "batch"?`; empty if no candidate is [`similar`].
pub fn hint<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    similar(name, candidates).map_or_else(String::new, |near| format!("; did you mean \"{near}\"?"))
}

/// The error for an unknown name of a built-in; `otherwise` describes what is valid besides the names.
pub fn unknown_name(kind: &str, name: &str, names: &[&str], otherwise: &str) -> Error {
    let hint = match similar(name, names.iter().copied()) {
        Some(close) => format!("did you mean \"{close}\"?"),
        None => format!("expected one of {}{otherwise}", listed(names)),
    };
    Error::new(format!("{kind}: unknown name \"{name}\": {hint}"))
}

/// The message unescaped: escaping would add Unicode tables to the browser build.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
