//! A run before its first step: new, or resumed from a checkpoint.

use std::path::{Path, PathBuf};

use super::Args;
use super::log::{Log, Run};
use super::rows::Rows;
use super::watch::Watch;
use crate::options::contents::{CONTRAST_LOG, MAP, MEMORY};
use crate::options::outputs::check_outs;
use crate::saved::read_model;
use crate::session::ResumeCommand;
use crate::session::checkpoints::{Checkpoints, default_checkpoint};
use crate::session::replace::check_checkpoint;
use crate::terminal::interrupt;
use crate::terminal::shell::{quoted, quoted_option};
use crate::{Answer, Failure};
use meromorph::contrast::{ContrastOptions, ContrastOrigin, Labelled, RowOrigin};
use meromorph::device::Geometry;
use meromorph::internal::host::{self, FileLock};
use meromorph::train::{Checkpoint, Trainer};
use meromorph::{Device, Error};

/// A run before its first step.
pub(super) struct Start {
    pub(super) origin: ContrastOrigin,
    pub(super) rows: Rows,
    /// The checkpoint to resume from, and its name.
    pub(super) old: Option<(Checkpoint, String)>,
    /// The memory or the model.
    pub(super) out: PathBuf,
    checkpoint: PathBuf,
    is_resumed_here: bool,
    _lock: Option<FileLock>,
}

impl Start {
    /// Errors for options that contradict each other, and for files that cannot be written.
    pub(super) fn of(args: &Args) -> Answer<Self> {
        let (options, old) = match &args.resume {
            None => (args.flags.apply(ContrastOptions::default())?, None),
            Some(path) => {
                let name = path.display().to_string();
                let (checkpoint, _) = Checkpoint::load(&read_model(path)?, &name)?;
                let origin = ContrastOrigin::of(&checkpoint, &name)?;
                (origin.options.clone(), Some((checkpoint, origin, name)))
            }
        };
        options.check()?;
        args.hardware.check()?;
        let has_layers = !options.hidden.is_empty();
        if has_layers && args.map_out.is_some() {
            return Err(Failure::usage(
                "--map-out: got layers, expected a memory, which has a map: leave out --hidden",
            ));
        }
        let out = args.out_of(ending(&options));
        let checkpoint = args.checkpoint.clone().unwrap_or_else(|| default_checkpoint(&out));
        let is_resumed_here = args.resume.as_deref().is_some_and(|old| host::is_same_file(old, &checkpoint));
        if has_layers && args.through.is_some() {
            return Err(Failure::usage("--through: got layers, expected a memory: leave out --hidden"));
        }
        // What a model may replace is known once its columns are.
        let (what, content) = if has_layers { ("model", None) } else { ("memory", Some(&MEMORY)) };
        let outs = [
            (what, Some(&*out), content),
            ("map", args.map_out.as_deref(), Some(&MAP)),
            ("log", args.log.as_deref(), Some(&CONTRAST_LOG)),
        ];
        let mut inputs = args.source.inputs();
        inputs.extend(args.through.as_deref().map(|model| ("model of --through", model)));
        // What a checkpoint says that the rows came from.
        let stored = old.as_ref().map(|(_, origin, _)| &origin.rows);
        let files = stored.map(|rows| [("labels", &rows.labels), ("model of --through", &rows.through)]);
        let files = files.into_iter().flatten();
        inputs.extend(files.filter_map(|(what, path)| Some((what, Path::new(path.as_ref()?)))));
        if !args.profile {
            check_outs(&[("checkpoint", Some(&checkpoint), None)], &inputs, args.force)?;
            let own = [&checkpoint, args.resume.as_ref().unwrap_or(&checkpoint)];
            inputs.extend(own.map(|path| ("checkpoint", &**path)));
            check_outs(&outs, &inputs, args.force)?;
        }
        let lock = if args.profile { None } else { FileLock::of(&checkpoint)? };
        if !is_resumed_here && !args.profile {
            check_checkpoint(&checkpoint, args.force)?;
        }
        interrupt::watch_until_work();
        let (mut rows, fingerprint, old) = match old {
            None => (args.source.rows()?, 0, None),
            Some((checkpoint, origin, name)) => {
                (args.source.rows_again(origin.rows, &name)?, origin.fingerprint, Some((checkpoint, name)))
            }
        };
        if let Some(model) = &args.through {
            rows.source.through = Some(model.display().to_string());
            rows.source.layer = args.layer.or(rows.source.layer);
        }
        let origin = ContrastOrigin { options, rows: rows.source.clone(), fingerprint };
        Ok(Self { origin, rows, old, out, checkpoint, is_resumed_here, _lock: lock })
    }

    /// Notes the rows of a new run. Errors if those of a resumed one are others.
    pub(super) fn check_rows(&mut self, rows: &Labelled, args: &Args) -> Answer {
        let found = rows.fingerprint();
        match &self.old {
            Some((_, name)) if found != self.origin.fingerprint => Err(Self::other_rows(name, args)),
            _ => {
                self.origin.fingerprint = found;
                Ok(())
            }
        }
    }

    /// The error of a table that is not that of the checkpoint.
    pub(super) fn other_rows(name: &str, args: &Args) -> Failure {
        let source = args.source.file.display();
        Error::new(format!("{source}: these are not the rows that {name} was trained on")).into()
    }

    /// Follows the run: progress, and the log if one is wanted. `sizes` has the rows to learn from and those that judge, columns and classes.
    pub(super) fn watch(
        &self,
        args: &Args,
        device: &Device,
        trainer: &Trainer,
        (rows, columns, classes): ([usize; 2], usize, usize),
    ) -> Answer<Watch> {
        let run = Run { origin: &self.origin, device, rows, columns, classes };
        let done = args.resume.is_some().then(|| trainer.history().len());
        let log = args.log.as_deref().map(|path| Log::open(path, &run, done, args.force)).transpose()?;
        Ok(Watch::new(self.origin.options.epochs, args.json, log))
    }

    /// Where the checkpoints of the run are written, and the command that resumes from one.
    pub(super) fn checkpoints(&self, args: &Args) -> Checkpoints {
        Checkpoints {
            command: "contrast",
            path: self.checkpoint.clone(),
            resume: self.command(args),
            is_written: self.is_resumed_here.into(),
        }
    }

    fn command(&self, args: &Args) -> ResumeCommand {
        let option = |name: &str, path: &Path| format!(" --{name}{}", quoted_option(&path.display().to_string()));
        let RowOrigin { target, labels, .. } = &self.rows.source;
        let classes = match (target, labels) {
            (Some(target), _) => format!("--target{}", quoted_option(target)),
            (None, labels) => format!("--labels{}", quoted_option(labels.as_deref().unwrap_or_default())),
        };
        let words = format!("mero contrast {} {classes}", quoted(&self.rows.file.display().to_string()));
        let default_out = args.default_out(ending(&self.origin.options));
        let out = if self.out == default_out { String::new() } else { option("out", &self.out) };
        let files = [("through", &args.through), ("log", &args.log), ("map-out", &args.map_out)];
        let files = files.iter().filter_map(|(name, path)| Some(option(name, path.as_deref()?)));
        let mut options = files.collect::<String>() + &args.hardware.options(Geometry::DEFAULT);
        let flags = [("force", args.force), ("json", args.json)];
        for (name, _) in flags.into_iter().filter(|(_, is_given)| *is_given) {
            options += &format!(" --{name}");
        }
        ResumeCommand { words, default_checkpoint: default_checkpoint(&self.out), out, options }
    }
}

/// The ending of the name of what a run writes.
fn ending(options: &ContrastOptions) -> &'static str {
    if options.hidden.is_empty() { "memory" } else { "safetensors" }
}
