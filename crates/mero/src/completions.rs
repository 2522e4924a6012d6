//! `mero completions`: a script that completes the commands and options of `mero` in a shell.

use clap::Command;
use clap_complete::{Shell, generate};

use crate::Answer;
use crate::terminal::console::say_data;

#[derive(clap::Args)]
pub(super) struct Args {
    /// The shell that reads the script
    shell: Shell,
}

#[allow(clippy::unnecessary_wraps, reason = "the form of every command")]
pub(super) fn run(args: &Args, mut parser: Command) -> Answer {
    let mut script = Vec::new();
    generate(args.shell, &mut parser, "mero", &mut script);
    say_data(&script);
    Ok(())
}
