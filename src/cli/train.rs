//! `mero train`: a table to a model file, or a checkpoint taken up again.

use std::path::{Path, PathBuf};

use super::Answer;
use super::args::{Columns, Hardware, Heading, Output, Recipe, read};
use super::data::{Prepared, prepare};
use super::session::Session;
use crate::error::Error;
use crate::io::{Choice, Fractions};
use crate::train::{Checkpoint, Origin, Settings, Trainer};
use crate::{Device, Result, host};

#[derive(clap::Args)]
pub(super) struct Args {
    /// CSV, TSV, NPY or NPZ file; - reads standard input
    file: PathBuf,
    /// The column to learn
    #[arg(long, value_name = "COLUMN", required_unless_present = "resume")]
    target: Option<String>,
    #[command(flatten)]
    heading: Heading,
    #[command(flatten)]
    columns: Columns,
    #[command(flatten)]
    recipe: Recipe,
    #[command(flatten)]
    hardware: Hardware,
    #[command(flatten)]
    output: Output,
    /// Where Ctrl-C leaves the run, and a long run every minute [default: MODEL.ckpt]
    #[arg(long, value_name = "CKPT", help_heading = "Output")]
    checkpoint: Option<PathBuf>,
    /// Take up a checkpoint exactly where it stands; all settings are in it
    #[arg(long, value_name = "CKPT", conflicts_with_all = ["Heading", "Columns", "Recipe"])]
    resume: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Answer {
    args.recipe.check()?;
    args.hardware.check()?;
    let out = args.out();
    let checkpoint = args.checkpoint.clone().unwrap_or_else(|| with_ending(&out, ".ckpt"));
    host::check_writable(&out)?;
    host::check_writable(&checkpoint)?;
    let Start { mut prepared, origin, settings, run } = args.start()?;
    let data = std::mem::take(&mut prepared.data);
    let device = args.hardware.open()?;
    let mut trainer = run.trainer(&device, &settings, data)?;
    let command = args.resume_command(&origin.choice.target, &out, &checkpoint);
    let checkpoint = Some((checkpoint, command));
    let is_json = args.output.json;
    Session { device, settings, prepared, origin, is_json, out: Some(out), checkpoint }.run(&mut trainer)
}

/// A run about to begin.
struct Start {
    prepared: Prepared,
    origin: Origin,
    settings: Settings,
    run: Run,
}

/// A new run, or an old one.
enum Run {
    New(crate::nn::Spec),
    Old(Box<Checkpoint>),
}

impl Run {
    fn trainer(self, device: &Device, settings: &Settings, data: crate::train::Data) -> Result<Trainer> {
        match self {
            Self::New(spec) => Trainer::new(device, spec, settings.clone(), data),
            Self::Old(checkpoint) => Trainer::resume(device, data, *checkpoint),
        }
    }
}

impl Args {
    fn start(&self) -> Answer<Start> {
        if let Some(path) = &self.resume {
            return Ok(self.take_up(path)?);
        }
        let origin = self.origin();
        let table = read(&self.file, origin.header)?;
        let mut prepared = prepare(table, &origin, self.recipe.seed())?;
        let rows = prepared.data.train.rows(prepared.data.targets);
        let loss = self.recipe.loss(&prepared.preparation.target, rows)?;
        prepared.fit_to(loss);
        let settings = self.recipe.settings(&prepared.preparation, loss, rows);
        let spec = self.recipe.spec(prepared.data.inputs, prepared.preparation.target.outputs());
        Ok(Start { prepared, origin, settings, run: Run::New(spec) })
    }

    /// The same rows again, dealt out as the checkpoint says.
    fn take_up(&self, path: &Path) -> Result<Start> {
        let source = path.display().to_string();
        let (checkpoint, _) = Checkpoint::load(&host::read(path)?, &source)?;
        let Some(origin) = checkpoint.origin.clone() else {
            return Err(Error::new(format!("{source}: it does not say how its rows came out of a table")));
        };
        let learnt = &origin.choice.target;
        if let Some(target) = self.target.as_ref().filter(|target| *target != learnt) {
            return Err(Error::new(format!("{source}: it learns \"{learnt}\", not \"{target}\"")));
        }
        let settings = checkpoint.settings.clone();
        let mut prepared = prepare(read(&self.file, origin.header)?, &origin, settings.seed)?;
        prepared.fit_to(settings.loss);
        if prepared.data.fingerprint() != checkpoint.fingerprint {
            let file = &prepared.source;
            return Err(Error::new(format!("{file}: these are not the rows that {source} was trained on")));
        }
        Ok(Start { prepared, origin, settings, run: Run::Old(Box::new(checkpoint)) })
    }

    fn origin(&self) -> Origin {
        let columns = &self.columns;
        Origin {
            header: self.heading.header(),
            choice: Choice {
                target: self.target.clone().unwrap_or_default(),
                features: columns.features.clone(),
                ignore: columns.ignore.clone(),
                categorical: columns.categorical.clone(),
                numeric: columns.numeric.clone(),
                task: columns.task.map(Into::into),
                missing: columns.missing.into(),
            },
            fractions: Fractions { validation: columns.validation, test: columns.test },
        }
    }

    /// The model file: as asked, or the table's name in the current folder.
    fn out(&self) -> PathBuf {
        self.output.out.clone().unwrap_or_else(|| self.default_out())
    }

    fn default_out(&self) -> PathBuf {
        let stem = self.file.file_stem().filter(|stem| *stem != "-").unwrap_or("model".as_ref());
        with_ending(Path::new(stem), ".safetensors")
    }

    /// The command that goes on from the checkpoint.
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

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
