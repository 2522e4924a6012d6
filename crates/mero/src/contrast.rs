//! `mero contrast`: learns a memory from labelled rows, under which rows of the same class are near each other, and judges it.

mod layers;
mod log;
pub(crate) mod rows;
mod start;
mod summary;
pub(crate) mod through;
mod trainer2;
mod watch;

use std::path::{Path, PathBuf};

use pollster::block_on;

use crate::options::contents::{MAP, MEMORY};
use crate::options::flags::{Every, Flags, TEXT};
use crate::options::hardware::Hardware;
use crate::options::outputs::keep_out;
use crate::terminal::console::{say, say_json};
use crate::terminal::progress::Progress;
use crate::{Answer, profile};
use meromorph::Device;
use meromorph::contrast::{ContrastOptions, Judged, Labelled, Learning, Memory};
use meromorph::files::npy;
use meromorph::train::{Stop, Trainer};
use rows::Source;
use start::Start;
use summary::Summary;

#[derive(clap::Args)]
pub(super) struct Args {
    // First: those of the table have a heading.
    /// Resume the run of a checkpoint, which holds all its options; the result is the same as without the interruption
    #[arg(long, value_name = "CKPT", conflicts_with_all = ["Reading", TEXT, "ContrastOptions", "columns"])]
    resume: Option<PathBuf>,
    /// Trained model whose hidden layer makes the coordinates of a row: the table has the columns that the model was trained on. `mero recall` needs it too
    #[arg(long, value_name = "MODEL", conflicts_with = "columns")]
    through: Option<PathBuf>,
    /// Number of that layer, from 0 [default: the last one before the layer that makes the outputs]
    #[arg(long, value_name = "N", requires = "through", conflicts_with = "resume")]
    layer: Option<usize>,
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    flags: Flags<Every<ContrastOptions>>,
    #[command(flatten)]
    hardware: Hardware,
    /// Run the two-phase trainer Trainer2 (docs/MEMORY.md) on rows of tokens, the last of which follows from the others, and write telemetry and checkpoints
    /// into the folder that its configuration names, ./runs/experiment_01 if none: a JSON file, or one of development, production, profiling
    #[arg(long, value_name = "CONFIG", help_heading = "Trainer2", conflicts_with_all = ["resume", "through", "checkpoint", "log", "profile"])]
    trainer2: Option<String>,
    /// The file of the memory, or with --hidden of the model [default: the name of the table, ending in .memory or .safetensors]
    #[arg(short, long, value_name = "MEMORY", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Checkpoint file, written at Ctrl-C and every minute of a long run, removed at its end [default: MEMORY.ckpt]
    #[arg(long, value_name = "CKPT", help_heading = "Output")]
    checkpoint: Option<PathBuf>,
    /// File for a line of JSON about the run, and one about each epoch; a resumed run goes on with it, a new one replaces it
    #[arg(long, value_name = "JSONL", help_heading = "Output")]
    log: Option<PathBuf>,
    /// File for the learned map, an array of NumPy [outputs, columns]: rows x are compared as x mapᵀ
    #[arg(long, value_name = "NPY", help_heading = "Output")]
    map_out: Option<PathBuf>,
    /// Replace a file in the place of an output even if it is of another kind
    #[arg(long, help_heading = "Output")]
    force: bool,
    /// Print only JSON, one object per line
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Measure where the time of a window goes, with the launches of its kernels, instead of learning; nothing is written
    #[arg(long, help_heading = "Output", conflicts_with_all = ["resume", "out", "checkpoint", "log", "map_out"])]
    profile: bool,
}

/// Most held rows that judge a memory: more make its figures hardly better.
const MOST_JUDGED: usize = 10_000;

pub(super) fn run(args: &Args) -> Answer {
    if let Some(config) = &args.trainer2 {
        args.hardware.check()?;
        return trainer2::run(args, config);
    }
    let start = Start::of(args)?;
    if start.origin.options.hidden.is_empty() { memory(args, start) } else { layers::run(args, start) }
}

/// Learns a memory.
fn memory(args: &Args, mut start: Start) -> Answer {
    let device = args.open()?;
    let (rows, header) = start.rows.read("contrast", &device)?;
    start.check_rows(&rows, args)?;
    let options = start.origin.options.clone();
    let [kept, held] = rows.split(options.test, options.seed);
    let mut learning = match start.old.take() {
        Some((checkpoint, _)) => block_on(Learning::resume(&device, &rows, &kept, &options, checkpoint))?,
        None => Learning::of_part(&device, &rows, &kept, &options)?,
    };
    if args.profile {
        return profile::show(learning.trainer_mut(), args.json);
    }
    let sizes = ([kept.len(), held.len()], rows.inputs, rows.names.len());
    let watch = start.watch(args, &device, learning.trainer(), sizes)?;
    let checkpoints = start.checkpoints(args);
    let origin = &start.origin;
    let bytes = |trainer: &Trainer| origin.put(block_on(trainer.checkpoint())?).save(None);
    let (outcome, seconds) = watch.drive(learning.trainer_mut(), &checkpoints, &bytes)?;
    Learning::check(&outcome)?;
    if outcome.stop == Stop::Requested {
        return Err(checkpoints.interrupted(&outcome, bytes(learning.trainer()), args.json, ""));
    }
    let learned = block_on(learning.learned())?;
    // Their rows are not needed any more, and take as much memory as the table.
    drop((learning, device));
    // The file holds all rows: those that judge the memory are as good as the others.
    let memory = learned.memory(&rows, header)?;
    keep_out(&start.out, &MEMORY, &memory.save()?, args.force)?;
    if let Some(path) = &args.map_out {
        let values = memory.map.iter().map(|&value| f64::from(value));
        let map = npy::write(&[memory.outputs(), memory.inputs()], true, values);
        keep_out(path, &MAP, &map, args.force)?;
    }
    checkpoints.remove()?;
    let counts = ([kept.len(), held.len()], outcome.epochs, seconds);
    let mut summary = Summary::of(&memory, &start.out, counts);
    let some: Vec<usize> = held.iter().copied().step_by(held.len().div_ceil(MOST_JUDGED).max(1)).collect();
    if !some.is_empty() {
        summary.judged = Some(judged(memory, rows, [&kept, &some], options.sharpness)?);
    }
    if args.json {
        say_json(&summary.json());
    } else {
        say(&summary.text());
    }
    Ok(())
}

/// What a memory of the learned rows finds for some that it does not hold, under the learned map and under none. Of what is as large as the table, no more is
/// held at once than these memories need.
fn judged(memory: Memory, rows: Labelled, [kept, held]: [&[usize]; 2], sharpness: f64) -> Answer<[Judged; 2]> {
    let _progress = Progress::open("judging");
    let queries = rows.subset(held);
    let part = memory.part(kept);
    drop(memory);
    let learned = part.judge(&queries.x, &queries.classes)?;
    drop(part);
    let plain = rows.subset(kept);
    drop(rows);
    let plain = Memory::plain(&plain, sharpness)?;
    Ok([learned, plain.judge(&queries.x, &queries.classes)?])
}

impl Args {
    fn open(&self) -> Answer<Device> {
        if self.profile { self.hardware.open_timed() } else { self.hardware.open() }
    }

    /// The output, by default the name of the table with this ending.
    fn out_of(&self, ending: &str) -> PathBuf {
        self.out.clone().unwrap_or_else(|| self.default_out(ending))
    }

    fn default_out(&self, ending: &str) -> PathBuf {
        let name = if self.source.file == Path::new("-") { Path::new("memory") } else { &self.source.file };
        PathBuf::from(name.file_name().unwrap_or_default()).with_extension(ending)
    }
}
