//! `mero train`: trains on a table and writes a model file, or resumes from a checkpoint.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use crate::config::Record;
use crate::options::contents::{CONFIG, CONFIG_START, PAGE};
use crate::options::flags::{All, Flags, TEXT, TRAINING, prepare};
use crate::options::hardware::{Hardware, choose_geometry};
use crate::options::outputs::{Output, check_outs, write_out};
use crate::options::reading::{Reading, check_header, read, read_like};
use crate::saved::read_model;
use crate::session::checkpoints::{Checkpoints, default_checkpoint, with_ending};
use crate::session::folds::FoldPlan;
use crate::session::replace::check_replaced;
use crate::session::tensorboard::TensorBoard;
use crate::session::{Held, JudgedRows, Judging, ResumeCommand, Session};
use crate::terminal::console::complain;
use crate::terminal::interrupt;
use crate::terminal::shell::{quoted, quoted_option};
use crate::{Answer, Failure};
use meromorph::device::Geometry;
use meromorph::error::Error;
use meromorph::files::{Format, ReadLike, Table};
use meromorph::internal::host::{self, FileLock};
use meromorph::run::{Origin, Run, TrainOptions, check_groups};
use meromorph::train::{Checkpoint, Trainer};

#[derive(clap::Args)]
pub(super) struct Args {
    // First: each option is taken out of clap's matches by the field that reads it.
    #[command(flatten)]
    record: Record,
    /// CSV, TSV, JSON lines, Parquet, XLSX, NPY or NPZ file, text also as .gz or .zst; - reads standard input
    file: PathBuf,
    /// Resume the run of a checkpoint, which holds all its options; the result is the same as without the interruption
    #[arg(long, value_name = "CKPT", conflicts_with_all = ["Reading", TEXT, TRAINING])]
    resume: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    flags: Flags<All>,
    /// File with the validation rows; the table then gives none
    #[arg(long, value_name = "FILE", help_heading = "Columns and rows")]
    validation_file: Option<PathBuf>,
    /// File with the test rows; the table then gives none
    #[arg(long, value_name = "FILE", help_heading = "Columns and rows")]
    test_file: Option<PathBuf>,
    /// Cross-validate: first train K models, each without a K-th of the rows, and report mean and spread of their figures. The model that is
    /// written is then trained on all rows, with the usual share for validation; --test holds rows out of all of this. With --time, each
    /// fold trains on the rows before those it holds out
    #[arg(long, value_name = "K", help_heading = "Columns and rows", conflicts_with_all = ["validation_file", "resume"])]
    folds: Option<usize>,
    /// First train N models with other seeds on the same rows, and report mean and spread of their figures: how much is luck
    #[arg(long, value_name = "N", help_heading = "Columns and rows", conflicts_with_all = ["folds", "resume"], value_parser = clap::value_parser!(u16).range(2..))]
    repeats: Option<u16>,
    #[command(flatten)]
    hardware: Hardware,
    #[command(flatten)]
    output: Output,
    /// Checkpoint file, written at Ctrl-C and every minute of a long run, removed at its end [default: MODEL.ckpt]
    #[arg(long, value_name = "CKPT", help_heading = "Output")]
    checkpoint: Option<PathBuf>,
    /// HTML page with the result, charts, what the model learns from, and its settings
    #[arg(long, value_name = "HTML", help_heading = "Output")]
    report: Option<PathBuf>,
    /// Folder for the losses, the learning rate and the norms of gradients of each epoch, as a file that TensorBoard reads while the run goes on
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    tensorboard: Option<PathBuf>,
    /// Write the options of this run to a file for --config; it repeats the run on the same table
    #[arg(long, value_name = "TOML", help_heading = "Output", conflicts_with = "resume")]
    save_config: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Answer {
    let options = args.shares(args.flags.checked(TrainOptions::default())?)?;
    args.hardware.check()?;
    let out = args.out();
    let checkpoint = args.checkpoint.clone().unwrap_or_else(|| default_checkpoint(&out));
    let table = ("table", args.file.as_path());
    let old = args.resume.as_deref().unwrap_or(&checkpoint);
    let held = [("validation file", &args.validation_file), ("test file", &args.test_file)];
    let held = held.iter().filter_map(|(what, path)| Some((*what, path.as_deref()?)));
    let inputs: Vec<(&str, &Path)> = [table].into_iter().chain(held).collect();
    let outs = [
        ("model", Some(&*out), None),
        ("page", args.report.as_deref(), Some(&PAGE)),
        ("configuration", args.save_config.as_deref(), Some(&CONFIG)),
    ];
    let is_forced = args.output.force;
    check_outs(&outs, &[&inputs[..], &[("checkpoint", &checkpoint), ("checkpoint", old)]].concat(), is_forced)?;
    check_outs(&[("checkpoint", Some(&checkpoint), None)], &inputs, is_forced)?;
    let _lock = FileLock::of(&checkpoint)?;
    interrupt::watch_until_work();
    let Start { mut run, origin, source, old, judging } = args.start(options)?;
    let is_resumed_here = args.resume.as_deref().is_some_and(|old| host::is_same_file(old, &checkpoint));
    check_replaced(&run, Some(&out), Some(&*checkpoint).filter(|_| !is_resumed_here), is_forced)?;
    if let Some(config) = &args.save_config {
        write_out(config, &CONFIG, args.config_text().as_bytes(), is_forced)?;
    }
    let data = std::mem::take(&mut run.data);
    let device = args.hardware.open()?;
    let mut trainer = match old {
        Some(checkpoint) => Trainer::resume(&device, data, checkpoint)?,
        None => Trainer::new(&device, run.spec.clone(), run.settings.clone(), data)?,
    };
    choose_geometry(&mut trainer, &args.hardware)?;
    let geometry = device.geometry(trainer.settings().batch);
    let command = args.resume_command(&origin.choice.target, &out, geometry);
    let is_written = is_resumed_here.into();
    let checkpoints = Some(Checkpoints { command: "train", path: checkpoint, resume: command, is_written });
    let is_json = args.output.json;
    let tensorboard = args.tensorboard.as_deref().map(TensorBoard::in_folder).transpose()?.map(RefCell::new);
    Session { device, run, origin, source, is_json, is_forced, out: Some(out), checkpoints, judging, tensorboard }
        .run(&mut trainer)
}

/// A run before its first step.
struct Start {
    run: Run,
    origin: Origin,
    /// The name of the table.
    source: String,
    /// The checkpoint to resume from.
    old: Option<Checkpoint>,
    judging: Judging,
}

impl Args {
    fn start(&self, options: TrainOptions) -> Answer<Start> {
        if let Some(path) = &self.resume {
            return self.resume_from(path);
        }
        let format = self.reading.format()?;
        let table = read(&self.file, &format)?;
        let source = table.source().to_owned();
        let names = options.choice.features.iter().flatten();
        let names = names.chain([&options.choice.target]).chain(&options.choice.more_targets);
        check_header(&table, format.header, names.map(String::as_str))?;
        let mut run = prepare(&options, &table)?;
        let held = self.hold(&mut run, &format, [&self.validation_file, &self.test_file])?;
        if let Some(group) = &options.choice.group {
            held.iter().try_for_each(|held| check_groups(&table, &held.table, group))?;
        }
        let TrainOptions { choice, fractions, .. } = options.clone();
        let [validation_file, test_file] =
            [&self.validation_file, &self.test_file].map(|path| path.as_ref().map(|path| path.display().to_string()));
        let origin = Origin { format, choice, fractions, validation_file, test_file };
        let report = self.page(&run, &table, &held)?;
        let repeats =
            self.repeats.map(|count| FoldPlan::repeats(&options, table.clone(), usize::from(count))).transpose()?;
        let folds = self.folds.map(|count| FoldPlan::new(options, table, count)).transpose()?;
        Ok(Start { run, origin, source, old: None, judging: Judging { folds, repeats, held, report } })
    }

    /// The options with the shares of validation and test rows that the files and folds leave. Errors on contradictions.
    fn shares(&self, mut options: TrainOptions) -> Answer<TrainOptions> {
        for (file, share) in [(&self.validation_file, "validation"), (&self.test_file, "test")] {
            if file.is_some() && self.flags.has(share) {
                let what = format!(
                    "--{share}-file holds the {share} rows, so --{share} has no rows to take; leave one of them out"
                );
                return Err(Failure::usage(what));
            }
        }
        let choice = &options.choice;
        if self.validation_file.is_some() && self.test_file.is_some() {
            let given =
                [("group", &choice.group), ("time", &choice.time)].into_iter().find(|(_, column)| column.is_some());
            if let Some((name, _)) = given {
                let what =
                    format!("--{name} splits the table, but the validation and test rows are in files of their own");
                return Err(Failure::usage(what));
            }
        }
        let fractions = &mut options.fractions;
        if self.validation_file.is_some() {
            fractions.validation = 0.0;
        }
        if self.test_file.is_some() || self.folds.is_some() && !self.flags.has("test") {
            fractions.test = 0.0;
        }
        Ok(options)
    }

    /// What the page is about: the test rows, or the validation rows if there are none.
    fn page(&self, run: &Run, table: &Table, held: &[Held]) -> Answer<Option<JudgedRows>> {
        let Some(path) = self.report.clone() else { return Ok(None) };
        let rows_of = |part: &'static str, own: &[u32]| {
            let file = held.iter().find(|held| held.part == part);
            let (table, rows) = file.map_or((table, own), |held| (&held.table, &held.rows.rows));
            (!rows.is_empty()).then(|| table.take(rows))
        };
        let test = rows_of("test", &run.split.test).map(|table| (table, true));
        let judged = test.or_else(|| Some((rows_of("validation", &run.split.validation)?, false)));
        let Some((table, is_test)) = judged else {
            return Err(Failure::usage("--report needs test or validation rows to judge the model by"));
        };
        let config = self.resume.is_none().then(|| self.config_text());
        Ok(Some(JudgedRows { path, table: table?, is_test, config }))
    }

    /// Reads the files of validation and test rows and puts their rows into the run.
    fn hold(&self, run: &mut Run, format: &Format, files: [&Option<PathBuf>; 2]) -> Answer<Vec<Held>> {
        let mut all = Vec::new();
        for (part, file) in ["validation", "test"].into_iter().zip(files) {
            let Some(file) = file else { continue };
            if host::is_same_file(file, &self.file) {
                return Err(Failure::usage(format!("{} is the {part} file and the table itself", file.display())));
            }
            let ReadLike { table: held, format, notes, .. } = read_like(file, format)?;
            let preparation = &run.preparation;
            let notes = notes.iter().map(|note| format!("{} {note}", held.source()));
            for note in notes.chain(preparation.differences(&held)) {
                complain(&format!("mero train: {part} rows: {note}"));
            }
            check_header(&held, format.header, preparation.every_name())?;
            let rows = if part == "test" { run.test_on(&held)? } else { run.validate_on(&held)? };
            all.push(Held { part, table: held, rows });
        }
        Ok(all)
    }

    /// The rows of the checkpoint's run, split the same way.
    fn resume_from(&self, path: &Path) -> Answer<Start> {
        let name = path.display().to_string();
        let (checkpoint, _) = Checkpoint::load(&read_model(path)?, &name)?;
        if checkpoint.source.is_some() {
            let what = "it is the checkpoint of mero contrast, which resumes it: expected one of mero train";
            return Err(Failure::usage(format!("{name}: {what}")));
        }
        let origin = checkpoint.origin(&name)?;
        let learnt = &origin.choice.target;
        if let Some(target) = self.flags.text("target").filter(|target| target != learnt) {
            return Err(Error::new(format!("{name}: it learns \"{learnt}\", not \"{target}\"")).into());
        }
        let table = read(&self.file, &origin.format)?;
        let source = table.source().to_owned();
        let mut run = Run::again(&table, &checkpoint, &name)?;
        if run.data.fingerprint() != checkpoint.fingerprint {
            return Err(Error::new(format!("{source}: these are not the rows that {name} was trained on")).into());
        }
        let given = [(&self.validation_file, &origin.validation_file), (&self.test_file, &origin.test_file)];
        let [validation, test] =
            given.map(|(given, stored)| given.clone().or_else(|| stored.as_ref().map(PathBuf::from)));
        let held = self.hold(&mut run, &origin.format, [&validation, &test])?;
        if let Some(part) = checkpoint.other_part(&run.data) {
            let file = held.iter().find(|held| held.part == part).map_or(&*source, |held| held.table.source());
            return Err(Error::new(format!("{file}: these are not the {part} rows of {name}")).into());
        }
        let report = self.page(&run, &table, &held)?;
        Ok(Start {
            run,
            origin,
            source,
            old: Some(checkpoint),
            judging: Judging { folds: None, repeats: None, held, report },
        })
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

    /// The options of the run as a file for `--config`.
    fn config_text(&self) -> String {
        let (engine, file) = (env!("CARGO_PKG_VERSION"), quoted(&self.file.display().to_string()));
        format!("{CONFIG_START}{engine}: mero train {file} --config THIS_FILE repeats it.\n{}", self.record.text)
    }

    /// The command that resumes from the checkpoint.
    fn resume_command(&self, target: &str, out: &Path, geometry: Geometry) -> ResumeCommand {
        let option = |name: &str, path: &Path| format!(" --{name}{}", quoted_option(&path.display().to_string()));
        let file = self.file.display().to_string();
        // A name that begins like an option is one, unless it is a path.
        let file = if file.starts_with('-') && file != "-" { format!("./{file}") } else { file };
        let words = format!("mero train {} --target{}", quoted(&file), quoted_option(target));
        let mut options = String::new();
        let named_out = if out == self.default_out() { String::new() } else { option("out", out) };
        if let Some(report) = &self.report {
            options += &option("report", report);
        }
        options += &self.hardware.options(geometry);
        let flags = [("force", self.output.force), ("json", self.output.json)];
        for (name, _) in flags.into_iter().filter(|(_, is_given)| *is_given) {
            options += &format!(" --{name}");
        }
        ResumeCommand { words, default_checkpoint: default_checkpoint(out), out: named_out, options }
    }
}
