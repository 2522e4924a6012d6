//! Why a command ends without its result, and with which exit code.

use meromorph::error::{Error, ErrorKind};

/// The result of a command or of a part of one.
pub(crate) type Answer<T = ()> = Result<T, Failure>;

/// Why a command ended without its result.
pub(crate) enum Failure {
    /// The kind of the error gives the exit code.
    Error(Error),
    /// The command line cannot be parsed.
    Parse(String),
    /// The user stopped a run; the message says what was saved.
    Interrupted(String),
    /// A run was stopped and saved, so that the same command goes on with it.
    Saved(String),
    /// The result is written and shown, but the search for it did not converge.
    NotConverged(String),
}

impl Failure {
    /// Wrong options; clap exits with the same code.
    const USAGE: u8 = 2;
    /// 128 + SIGINT, the convention of shells.
    pub(crate) const INTERRUPTED: u8 = 130;
    /// EX_TEMPFAIL of sysexits.h: try again. Schedulers can queue the command again on it.
    const SAVED: u8 = 75;
    const NOT_CONVERGED: u8 = 3;

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Error(Error::usage(message))
    }

    /// The message on standard error, the exit code, and who can do something about it.
    pub(crate) fn report(self) -> (String, u8, &'static str) {
        match self {
            Self::Error(error) => {
                let code = if error.kind() == ErrorKind::Usage { Self::USAGE } else { 1 };
                (error.to_string(), code, error.kind().name())
            }
            Self::Parse(message) => (message, Self::USAGE, ErrorKind::Usage.name()),
            Self::Interrupted(message) => (message, Self::INTERRUPTED, "interrupted"),
            Self::Saved(message) => (message, Self::SAVED, "saved"),
            Self::NotConverged(message) => (message, Self::NOT_CONVERGED, "not converged"),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}
