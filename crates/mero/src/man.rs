//! `mero man`: the manual as pages for `man`, in roff.

use std::path::{Path, PathBuf};

use clap::Command;
use clap_mangen::Man;

use crate::Answer;
use crate::options::contents::MANUAL;
use crate::options::outputs::{Force, write_out};
use crate::terminal::console::{say, say_data};
use meromorph::internal::host;
use meromorph::report::counted;
use meromorph::{Error, Result};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Folder for the pages of all commands: mero.1, mero-train.1, …; created if missing
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

pub(super) fn run(args: &Args, parser: Command) -> Answer {
    let mut command = parser.disable_help_subcommand(true);
    command.build();
    let Some(folder) = &args.dir else {
        say_data(&page(&Man::new(command))?);
        return Ok(());
    };
    host::make_folder(folder)?;
    let count = write(command, folder, args.force.force)?;
    say(&format!("  {} in {}", counted(count, "page"), folder.display()));
    Ok(())
}

/// Writes the page of a command and those of its subcommands. Returns their number.
fn write(command: Command, folder: &Path, is_forced: bool) -> Result<usize> {
    let below: Vec<Command> = command.get_subcommands().cloned().collect();
    let man = Man::new(command);
    write_out(&folder.join(man.get_filename()), &MANUAL, &page(&man)?, is_forced)?;
    below.into_iter().try_fold(1, |count, command| Ok(count + write(command, folder, is_forced)?))
}

fn page(man: &Man) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    man.render(&mut text).map_err(|error| Error::internal(format!("the page is not written: {error}")))?;
    Ok(text)
}
