//! `mero plan --print`: the kernels of a step as text.

use std::path::Path;

use serde_json::json;

use super::super::console::{say, say_json};
use super::super::{Answer, Failure};
use crate::device::cuda::print::{Form as Printing, HALVES, PRELUDE, print};
use crate::device::{Launch, Summary};
use crate::host;

/// What a kernel is written as: its name, the ending of its files, and how it is made from WGSL.
type Form = (&'static str, &'static str, fn(&str) -> crate::Result<String>);

static FORMS: [Form; 2] = [
    ("wgsl", "wgsl", |source| Ok(source.to_owned())),
    ("cuda", "cu", |source| Ok([HALVES, PRELUDE, &print(source, Printing::PLAIN)?.text].concat())),
];

/// Lanes of a subgroup of the GPU that runs the form; WGSL is printed for one without subgroups.
fn lanes(form: &str) -> u32 {
    if form == "cuda" { 32 } else { 1 }
}

/// Writes each kernel of the step once, in the order of the launches.
pub(super) fn kernels(summary: &Summary, form: &str, folder: &Path, is_json: bool) -> Answer {
    let Some((_, ending, text)) = FORMS.iter().find(|(name, ..)| *name == form) else {
        let names: Vec<_> = FORMS.iter().map(|(name, ..)| *name).collect();
        return Err(Failure::usage(format!("--print: got the form \"{form}\", expected one of {}", names.join(", "))));
    };
    host::make_folder(folder)?;
    let mut sources: Vec<String> = Vec::new();
    for (at, Launch { kernel, code, .. }) in summary.launches.iter().enumerate() {
        let Some(code) = code else { continue };
        let source = code.wgsl(lanes(form));
        if sources.contains(&source) {
            continue;
        }
        let path = folder.join(format!("{:02}_{kernel}.{ending}", at + 1));
        host::write_whole(&path, text(&source)?.as_bytes())?;
        sources.push(source);
        let name = path.display().to_string();
        if is_json {
            say_json(&json!({ "event": "kernel", "launch": at + 1, "kernel": kernel, "file": name }));
        } else {
            say(&name);
        }
    }
    Ok(())
}
