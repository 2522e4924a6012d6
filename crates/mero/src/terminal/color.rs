//! Whether output has colours: `--color` decides; by default a terminal has them, unless `NO_COLOR` is set or `TERM` is dumb.

use std::env;
use std::io::IsTerminal;
use std::sync::OnceLock;

use clap::ValueEnum;

/// The values of `--color`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    // Without docs of their own, or the help of every command would be the long one.
    Auto,
    Always,
    Never,
}

static CHOICE: OnceLock<Color> = OnceLock::new();

/// Stores the value of `--color` as given; the parser reports an invalid value.
pub(crate) fn choose(given: Option<&str>) {
    let choice = given.and_then(|text| Color::from_str(text, false).ok());
    // It is called once.
    let _ = CHOICE.set(choice.unwrap_or(Color::Auto));
}

/// Whether a stream gets colours.
pub(crate) fn is_on(stream: &impl IsTerminal) -> bool {
    match CHOICE.get() {
        Some(Color::Always) => true,
        Some(Color::Never) => false,
        _ => stream.is_terminal() && !is_dumb() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
    }
}

/// Whether the terminal cannot move its cursor or change its colours.
pub(crate) fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}
