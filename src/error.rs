//! One `Error`, one `Result`. The message says what happened, what was got, what was wanted, in the user's names.

use std::fmt;

/// Anything that came from outside and could not be used: a file, a flag, a device, a value.
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    message: String,
    is_of_device: bool,
}

/// The result of anything that touches the outside.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error whose message is shown to the user as it stands.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_of_device: false }
    }

    /// The same for a device that is absent, too small or lost: another device, or the same opened again, may do.
    pub fn of_device(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_of_device: true }
    }

    /// Whether it is the device that failed, and not what it was given.
    pub fn is_of_device(&self) -> bool {
        self.is_of_device
    }

    /// The same error, told from further out: `what: message`.
    #[must_use]
    pub fn within(self, what: &str) -> Self {
        Self { message: format!("{what}: {}", self.message), ..self }
    }
}

/// Names for a message, each in quotes: up to twelve in full, of more the first eleven, an ellipsis and the last.
pub fn listed(names: &[&str]) -> String {
    match names {
        [first @ .., last] if first.len() >= 12 => format!("\"{}\", …, \"{last}\"", first[..11].join("\", \"")),
        [] => String::new(),
        _ => format!("\"{}\"", names.join("\", \"")),
    }
}

/// The candidate that `name` is most likely a slip of, if any is near: at most a third of its letters differ, in any case of letters.
pub fn similar<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.replace(['-', '_'], "").to_ascii_lowercase();
    let wanted = plain(name);
    if wanted.len() > 64 {
        return None;
    }
    let near = candidates.map(|candidate| (strsim::osa_distance(&wanted, &plain(candidate)), candidate));
    let (distance, candidate) = near.min_by_key(|(distance, _)| *distance)?;
    (distance <= wanted.len().div_ceil(3).min(3) && distance < wanted.len()).then_some(candidate)
}

/// The message as it stands: letters in their escaped forms would bring tables of all letters to every browser.
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
