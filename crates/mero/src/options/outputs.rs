//! Files that a command writes: where they may go, and the options of a trained model.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::{Answer, Failure};
use meromorph::internal::host;

/// The outputs of `train` and `demo`.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Output {
    /// The model file
    #[arg(long, value_name = "MODEL")]
    pub out: Option<PathBuf>,
    /// Replace what is in the place of the model or the checkpoint; a model of the same columns and target is replaced without it
    #[arg(long)]
    pub force: bool,
    /// Print only JSON, one object per line
    #[arg(long)]
    pub json: bool,
}

/// Errors if `out` is standard output, is one of the `inputs` (what it is, path), or cannot be written.
pub(crate) fn check_out(out: &Path, inputs: &[(&str, &Path)]) -> Answer {
    if out == Path::new("-") {
        return Err(Failure::usage("cannot write to standard output; give a file name instead of -"));
    }
    if let Some((what, _)) = inputs.iter().find(|(_, input)| host::is_same_file(out, input)) {
        return Err(Failure::usage(format!("{} is the {what} itself; name another file", out.display())));
    }
    Ok(host::check_writable(out)?)
}

/// The same for several outputs (what it is, path), and an error if two are one file.
pub(crate) fn check_outs(outs: &[(&str, Option<&Path>)], inputs: &[(&str, &Path)]) -> Answer {
    let mut known = inputs.to_vec();
    for (what, out) in outs.iter().filter_map(|(what, out)| Some((*what, (*out)?))) {
        check_out(out, &known)?;
        known.push((what, out));
    }
    Ok(())
}

/// Errors if the place of a page has something else than a page.
pub(crate) fn check_page(page: Option<&Path>) -> Answer {
    let Some(page) = page else { return Ok(()) };
    let mut start = Vec::new();
    // A pipe or a device has nothing to lose; what cannot be read is found out when the page is written.
    if let Some(Ok(file)) = host::file_bytes(page).map(|_| std::fs::File::open(page)) {
        let _ = file.take(PAGE.len() as u64).read_to_end(&mut start);
    }
    if start.is_empty() || start.eq_ignore_ascii_case(PAGE) {
        return Ok(());
    }
    Err(Failure::usage(format!("{} exists and is not a page; name another file", page.display())))
}

/// How pages begin.
const PAGE: &[u8] = b"<!doctype html";
