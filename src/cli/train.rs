//! `mero train`: trains on a table and writes a model file, or resumes from a checkpoint.

use std::path::{Path, PathBuf};

use super::Answer;
use super::args::{Hardware, Output, Reading, check_header, check_out, read, read_model};
use super::flags::{All, Flags, GROUP, prepare};
use super::replace::check_replaced;
use super::session::Session;
use crate::error::Error;
use crate::train::{Checkpoint, Origin, Run, TrainOptions, Trainer};
use crate::{Result, host};

#[derive(clap::Args)]
pub(super) struct Args {
    /// CSV, TSV, JSON lines, Parquet, XLSX, NPY or NPZ file, text also as .gz or .zst; - reads standard input
    file: PathBuf,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    flags: Flags<All>,
    #[command(flatten)]
    hardware: Hardware,
    #[command(flatten)]
    output: Output,
    /// Checkpoint file, written at Ctrl-C and every minute of a long run, removed at its end [default: MODEL.ckpt]
    #[arg(long, value_name = "CKPT", help_heading = "Output")]
    checkpoint: Option<PathBuf>,
    /// Resume the run of a checkpoint, which holds all its options; the result is the same as without the interruption
    #[arg(long, value_name = "CKPT", conflicts_with_all = ["Reading", GROUP])]
    resume: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Answer {
    let options = args.flags.apply(TrainOptions::default())?;
    args.hardware.check()?;
    let out = args.out();
    let checkpoint = args.checkpoint.clone().unwrap_or_else(|| with_ending(&out, ".ckpt"));
    let table = ("table", args.file.as_path());
    let old = args.resume.as_deref().unwrap_or(&checkpoint);
    check_out(&out, &[table, ("checkpoint", &checkpoint), ("checkpoint", old)])?;
    check_out(&checkpoint, &[table])?;
    let Start { mut run, origin, source, old } = args.start(options)?;
    check_replaced(&run, Some(&out), Some(&checkpoint), args.output.force)?;
    let is_resumed_here = args.resume.as_deref().is_some_and(|old| host::is_same_file(old, &checkpoint));
    let data = std::mem::take(&mut run.data);
    let device = args.hardware.open()?;
    let mut trainer = match old {
        Some(checkpoint) => Trainer::resume(&device, data, checkpoint)?,
        None => Trainer::new(&device, run.spec.clone(), run.settings.clone(), data)?,
    };
    let command = args.resume_command(&origin.choice.target, &out, &checkpoint);
    let checkpoint = Some((checkpoint, command));
    let is_json = args.output.json;
    let has_checkpoint = is_resumed_here.into();
    Session { device, run, origin, source, is_json, out: Some(out), checkpoint, has_checkpoint }.run(&mut trainer)
}

/// A run before its first step.
struct Start {
    run: Run,
    origin: Origin,
    /// The name of the table.
    source: String,
    /// The checkpoint to resume from.
    old: Option<Checkpoint>,
}

impl Args {
    fn start(&self, options: TrainOptions) -> Answer<Start> {
        if let Some(path) = &self.resume {
            return Ok(self.resume_from(path)?);
        }
        let format = self.reading.format()?;
        let table = read(&self.file, &format)?;
        let source = table.source().to_owned();
        let names = options.choice.features.iter().flatten().chain([&options.choice.target]);
        check_header(&table, format.header, names.map(String::as_str))?;
        let run = prepare(&options, table)?;
        let TrainOptions { choice, fractions, .. } = options;
        Ok(Start { run, origin: Origin { format, choice, fractions }, source, old: None })
    }

    /// The rows of the checkpoint's run, split the same way.
    fn resume_from(&self, path: &Path) -> Result<Start> {
        let name = path.display().to_string();
        let (checkpoint, _) = Checkpoint::load(&read_model(path)?, &name)?;
        let origin = checkpoint.origin(&name)?.clone();
        let learnt = &origin.choice.target;
        if let Some(target) = self.flags.text("target").filter(|target| target != learnt) {
            return Err(Error::new(format!("{name}: it learns \"{learnt}\", not \"{target}\"")));
        }
        let table = read(&self.file, &origin.format)?;
        let source = table.source().to_owned();
        let run = Run::again(&table, &checkpoint, &name)?;
        if run.data.fingerprint() != checkpoint.fingerprint {
            return Err(Error::new(format!("{source}: these are not the rows that {name} was trained on")));
        }
        Ok(Start { run, origin, source, old: Some(checkpoint) })
    }

    /// The model file: as given, or the table's name in the current folder.
    fn out(&self) -> PathBuf {
        self.output.out.clone().unwrap_or_else(|| self.default_out())
    }

    fn default_out(&self) -> PathBuf {
        let is_packed = self.file.extension().is_some_and(|ending| ending == "gz" || ending == "zst");
        let file = if is_packed { self.file.with_extension("") } else { self.file.clone() };
        let stem = file.file_stem().filter(|stem| *stem != "-").unwrap_or("model".as_ref());
        with_ending(Path::new(stem), ".safetensors")
    }

    /// The command that resumes from the checkpoint.
    fn resume_command(&self, target: &str, out: &Path, checkpoint: &Path) -> String {
        let text = |path: &Path| quoted(&path.display().to_string());
        let mut command =
            format!("mero train {} --target {} --resume {}", text(&self.file), quoted(target), text(checkpoint));
        if out != self.default_out() {
            command += &format!(" --out {}", text(out));
        }
        if self.hardware.device != "auto" {
            command += &format!(" --device {}", self.hardware.device);
        }
        if self.hardware.threads != 0 {
            command += &format!(" --threads {}", self.hardware.threads);
        }
        command
    }
}

/// `a.b` with `.c` is `a.b.c`.
fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// A word quoted for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
