//! Files that a command writes: where they may go, what they may replace, and the options of a trained model. Every output of every command is checked
//! and written here. A file that holds something else than what the output writes is replaced with `--force` only: this is checked before the work
//! starts and again before it is written.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;

use super::contents::Content;
use crate::{Answer, Failure};
use meromorph::internal::host;
use meromorph::{Error, Result};

/// The outputs of `train` and `demo`.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Output {
    /// The model file
    #[arg(short, long, value_name = "MODEL")]
    pub out: Option<PathBuf>,
    /// Replace whatever is in the place of an output; without it, a model replaces only one of the same columns and target, and any other output only
    /// one of its own kind
    #[arg(long)]
    pub force: bool,
    /// Print only JSON, one object per line
    #[arg(long)]
    pub json: bool,
}

/// What other commands may replace.
#[derive(Args)]
pub(crate) struct Force {
    /// Replace a file in the place of an output even if it is of another kind
    #[arg(long, help_heading = "Output")]
    pub force: bool,
}

/// An output: what it is, its path if it is wanted, and what it holds; `None` if that is checked elsewhere.
pub(crate) type Wanted<'a> = (&'a str, Option<&'a Path>, Option<&'static Content>);

/// Errors if an output is standard output, one of the `inputs` (what it is, path) or another output, if it cannot be written, or if it would replace
/// what it may not.
pub(crate) fn check_outs(outs: &[Wanted<'_>], inputs: &[(&str, &Path)], is_forced: bool) -> Answer {
    let mut known = inputs.to_vec();
    for &(what, out, content) in outs {
        let Some(out) = out else { continue };
        if out == Path::new("-") {
            return Err(Failure::usage("cannot write to standard output; give a file name instead of -"));
        }
        if let Some((what, _)) = known.iter().find(|(_, input)| host::is_same_file(out, input)) {
            return Err(Failure::usage(format!("{} is the {what} itself; name another file", out.display())));
        }
        host::check_writable(out)?;
        if let Some(content) = content {
            check_content(out, content, is_forced)?;
        }
        known.push((what, out));
    }
    Ok(())
}

/// Writes an output.
pub(crate) fn write_out(out: &Path, content: &Content, bytes: &[u8], is_forced: bool) -> Result<()> {
    check_content(out, content, is_forced)?;
    host::write_whole(out, bytes)
}

/// Writes an output that took long. What cannot be written to its place is written elsewhere, and the error names the place.
pub(crate) fn keep_out(out: &Path, content: &Content, bytes: &[u8], is_forced: bool) -> Result<()> {
    write_out(out, content, bytes, is_forced).map_err(|error| {
        let (name, kept) = (content.name, keep_elsewhere(out, bytes));
        let (place, kind) = (kept.map(|kept| kept.display().to_string()), error.kind());
        let place = place.map_or_else(|| format!("{name} is lost"), |place| format!("it is in {place} instead"));
        Error::new(format!("{error}; {place}")).with_kind(kind)
    })
}

/// Puts a result that cannot be written to its place into the first folder that takes it, and returns its path: that of its place, the current one, or
/// the one for temporary files. Nothing is replaced.
pub(crate) fn keep_elsewhere(out: &Path, bytes: &[u8]) -> Option<PathBuf> {
    let name = out.file_name()?.to_str()?;
    // The folder of a device has devices.
    let is_file = host::file_bytes(out).is_some() || !out.exists();
    let own = is_file.then(|| host::folder_of(out));
    let folders = own.into_iter().chain([PathBuf::from("."), std::env::temp_dir()]);
    let kept = folders.map(|folder| host::write_new(&folder, name, bytes)).find_map(Result::ok)?;
    Some(kept.strip_prefix(".").map(Path::to_path_buf).unwrap_or(kept))
}

/// Errors if a file is in the place of an output and does not hold what it writes. An empty file, such as one from `mktemp`, holds nothing to lose; a pipe
/// or a device is not replaced.
fn check_content(out: &Path, content: &Content, is_forced: bool) -> Result<()> {
    if is_forced || !has_content(out) {
        return Ok(());
    }
    if begins_as(out, content) {
        return Ok(());
    }
    let (out, name) = (out.display(), content.name);
    Err(Error::usage(format!("{out} exists and is not {name}; name another file, or replace it with --force")))
}

/// Whether a file holds this content, by how it begins. A pipe is not read.
pub(crate) fn begins_as(path: &Path, content: &Content) -> bool {
    let mut start = Vec::new();
    let mut read = || File::open(path).and_then(|file| file.take(START).read_to_end(&mut start));
    host::file_bytes(path).is_some() && read().is_ok() && (content.is_own)(&start, path)
}

/// Whether a file is there that has something to lose.
pub(crate) fn has_content(path: &Path) -> bool {
    host::file_bytes(path).is_some_and(|bytes| bytes > 0)
}

/// The bytes that decide what a file holds.
const START: u64 = 1 << 20;
