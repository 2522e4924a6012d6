//! `mero plan --print`: the kernels of a step as text.

use std::path::Path;

use serde_json::json;

use crate::options::contents::KERNEL;
use crate::options::outputs::write_out;
use crate::terminal::console::{say, say_json};
use crate::{Answer, Failure};
use meromorph::device::cuda::print::{Form, INTRINSICS, PRELUDE, print};
use meromorph::device::{Code, Launch, Summary};
use meromorph::internal::host;

/// A form of text: its name, the ending of its files, and how a kernel is written in it.
type Writer = (&'static str, &'static str, fn(&Code) -> meromorph::Result<String>);

static WRITERS: [Writer; 2] = [
    ("wgsl", "wgsl", |code| Ok(code.wgsl(1))),
    ("cuda", "cu", |code| {
        let printed = match code.sized_wgsl(WARP) {
            Some(source) => print(&source, Form::SIZED),
            None => print(&code.wgsl(WARP), Form::PLAIN),
        };
        Ok([INTRINSICS, PRELUDE, &printed?.text].concat())
    }),
];

/// Lanes of a subgroup of an NVIDIA GPU.
const WARP: u32 = 32;

/// Writes each kernel of the step once, in the order of the launches.
pub(super) fn kernels(summary: &Summary, form: &str, folder: &Path, is_json: bool, is_forced: bool) -> Answer {
    let Some((_, ending, write)) = WRITERS.iter().find(|(name, ..)| *name == form) else {
        let names: Vec<_> = WRITERS.iter().map(|(name, ..)| *name).collect();
        return Err(Failure::usage(format!("--print: got the form \"{form}\", expected one of {}", names.join(", "))));
    };
    host::make_folder(folder)?;
    let mut written: Vec<String> = Vec::new();
    for (at, Launch { kernel, code, .. }) in summary.launches.iter().enumerate() {
        let Some(code) = code else { continue };
        let text = write(code)?;
        if written.contains(&text) {
            continue;
        }
        let path = folder.join(format!("{:02}_{kernel}.{ending}", at + 1));
        write_out(&path, &KERNEL, text.as_bytes(), is_forced)?;
        written.push(text);
        let name = path.display().to_string();
        if is_json {
            say_json(&json!({ "event": "kernel", "launch": at + 1, "kernel": kernel, "file": name }));
        } else {
            say(&name);
        }
    }
    Ok(())
}
