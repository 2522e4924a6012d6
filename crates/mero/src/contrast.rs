//! `mero contrast`: learns a memory from labelled rows, under which rows of the same class are near each other, and judges it.

mod layers;
pub(crate) mod rows;

use std::path::{Path, PathBuf};

use pollster::block_on;
use serde_json::{Value, json};

use crate::options::contents::{MAP, MEMORY};
use crate::options::flags::{Every, Flags};
use crate::options::hardware::Hardware;
use crate::options::outputs::{check_outs, keep_out};
use crate::terminal::console::{say, say_json};
use crate::terminal::interrupt;
use crate::terminal::progress::Progress;
use crate::{Answer, Failure};
use meromorph::contrast::{ContrastOptions, Judged, Labelled, Learning, Memory, MemoryHeader};
use meromorph::files::npy;
use meromorph::internal::host;
use meromorph::report::{count, counted, facts, figure};
use meromorph::train::{Event, Flow};
use rows::Source;

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    flags: Flags<Every<ContrastOptions>>,
    #[command(flatten)]
    hardware: Hardware,
    /// The file of the memory, or with --hidden of the model [default: the name of the table, ending in .memory or .safetensors]
    #[arg(short, long, value_name = "MEMORY", help_heading = "Output")]
    out: Option<PathBuf>,
    /// File for the learned map, an array of NumPy [outputs, columns]: rows x are compared as x mapᵀ
    #[arg(long, value_name = "NPY", help_heading = "Output")]
    map_out: Option<PathBuf>,
    /// Replace a file in the place of an output even if it is of another kind
    #[arg(long, help_heading = "Output")]
    force: bool,
    /// Print only JSON, one object per line
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Most held rows that judge a memory: more make its figures hardly better.
const MOST_JUDGED: usize = 2000;

pub(super) fn run(args: &Args) -> Answer {
    let options = args.flags.apply(ContrastOptions::default())?;
    args.hardware.check()?;
    if !options.hidden.is_empty() {
        return layers::run(args, &options);
    }
    let out = args.out_of("memory");
    let outs = [("memory", Some(&*out), Some(&MEMORY)), ("map", args.map_out.as_deref(), Some(&MAP))];
    check_outs(&outs, &args.source.inputs(), args.force)?;
    interrupt::watch_until_work();
    let (rows, header) = args.source.read("contrast")?;
    let [kept, held] = rows.split(options.test, options.seed);
    let learned = rows.subset(&kept);
    let device = args.hardware.open()?;
    let mut learning = Learning::new(&device, &learned, &options)?;
    let mut watch = Watch::new(options.epochs, args.json);
    let outcome = block_on(learning.run(&mut |event| watch.see(event)));
    let (seconds, epochs) = watch.end();
    outcome?;
    // The file holds all rows: those that judge the memory are as good as the others.
    let memory = block_on(learning.memory(&rows, header))?;
    keep_out(&out, &MEMORY, &memory.save()?, args.force)?;
    if let Some(path) = &args.map_out {
        let values = memory.map.iter().map(|&value| f64::from(value));
        let map = npy::write(&[memory.outputs(), memory.inputs()], true, values);
        keep_out(path, &MAP, &map, args.force)?;
    }
    let some: Vec<usize> = held.iter().copied().step_by(held.len().div_ceil(MOST_JUDGED).max(1)).collect();
    let judged = (!some.is_empty()).then(|| judged(&learning, &learned, &rows.subset(&some), options.sharpness));
    let judged = judged.transpose()?;
    let summary = Summary { memory: &memory, judged, out: &out, seconds, epochs, rows: [kept.len(), held.len()] };
    if args.json {
        say_json(&summary.json());
    } else {
        say(&summary.text());
    }
    if interrupt::is_requested() {
        return Err(Failure::Interrupted(format!(
            "stopped after {epochs} of {} epochs; the memory is written",
            options.epochs
        )));
    }
    Ok(())
}

/// Follows a run: progress or a line of JSON for each epoch, and whether Ctrl-C stops it.
struct Watch {
    progress: Progress,
    started_ms: f64,
    done: usize,
    all: usize,
    is_json: bool,
}

impl Watch {
    fn new(all: usize, is_json: bool) -> Self {
        interrupt::watch();
        let progress = Progress::of(all as u64, "learning").ticking();
        Self { progress, started_ms: host::now_ms(), done: 0, all, is_json }
    }

    fn see(&mut self, event: &Event<'_>) -> Flow {
        if let Event::Epoch(report) = event {
            self.done = report.epoch + 1;
            self.progress.set(self.done as u64);
            if self.is_json {
                let (done, all, loss, lr) = (self.done, self.all, report.train_loss, report.lr);
                say_json(&json!({ "event": "epoch", "epoch": done, "epochs": all, "loss": loss, "lr": lr }));
            }
        }
        if interrupt::is_requested() { Flow::Stop } else { Flow::Continue }
    }

    /// The seconds and the epochs of the run, which has ended.
    fn end(self) -> (f64, usize) {
        interrupt::work_is_done();
        ((host::now_ms() - self.started_ms) / 1e3, self.done)
    }
}

/// What a memory of the learned rows finds for the others, under the learned map and under none.
fn judged(learning: &Learning, learned: &Labelled, held: &Labelled, sharpness: f64) -> Answer<[Judged; 2]> {
    let _progress = Progress::open("judging");
    let header = MemoryHeader::default;
    let memory = block_on(learning.memory(learned, header()))?;
    let plain = Memory::plain(learned, sharpness)?;
    Ok([memory.judge(&held.x, &held.classes)?, plain.judge(&held.x, &held.classes)?])
}

impl Args {
    /// The output, by default the name of the table with this ending.
    fn out_of(&self, ending: &str) -> PathBuf {
        let name = if self.source.file == Path::new("-") { Path::new("memory") } else { &self.source.file };
        self.out.clone().unwrap_or_else(|| PathBuf::from(name.file_name().unwrap_or_default()).with_extension(ending))
    }
}

/// What is printed of a memory.
struct Summary<'s> {
    memory: &'s Memory,
    judged: Option<[Judged; 2]>,
    out: &'s Path,
    seconds: f64,
    epochs: usize,
    rows: [usize; 2],
}

impl Summary<'_> {
    fn text(&self) -> String {
        let memory = self.memory;
        let (inputs, outputs) = (counted(memory.inputs(), "column"), memory.outputs());
        let kept = count(self.rows[0] as u64);
        let epochs = counted(self.epochs, "epoch");
        let mut lines = vec![
            ("learned", format!("{kept} rows of {} in {epochs}, {} s", classes_of(memory), figure(self.seconds))),
            ("map", format!("{inputs} to {outputs} coordinates")),
        ];
        if let Some([learned, plain]) = &self.judged {
            let each =
                |value: &dyn Fn(&Judged) -> f64| format!("{:.3}   {:.3} without the map", value(learned), value(plain));
            lines.push(("judged", format!("{} that it has not seen", counted(learned.rows, "row"))));
            for (at, (k, _)) in learned.recall.iter().enumerate() {
                let name = ["recall@1", "recall@5", "recall@10"][usize::from(*k > 1) + usize::from(*k > 5)];
                lines.push((name, each(&|judged| judged.recall[at].1)));
            }
            lines.push(("accuracy", each(&|judged| judged.accuracy)));
            lines.push(("MAP@R", each(&|judged| judged.map_at_r)));
            lines.push(("within reach", format!("{:.3} of them", learned.known)));
        }
        lines.push(("memory", format!("{}, {} rows", self.out.display(), count(memory.rows() as u64))));
        facts(&lines)
    }

    fn json(&self) -> Value {
        let memory = self.memory;
        let judged = self.judged.as_ref().map(|[learned, plain]| json!({ "learned": of(learned), "plain": of(plain) }));
        json!({
            "event": "done", "memory": self.out, "rows": memory.rows(), "classes": memory.header.names, "inputs": memory.inputs(),
            "outputs": memory.outputs(), "reach": memory.header.reach, "epochs": self.epochs, "seconds": self.seconds, "judged": judged,
        })
    }
}

fn classes_of(memory: &Memory) -> String {
    let count = memory.header.names.len();
    format!("{count} class{}", if count == 1 { "" } else { "es" })
}

fn of(judged: &Judged) -> Value {
    let recall: serde_json::Map<String, Value> =
        judged.recall.iter().map(|(k, share)| (k.to_string(), json!(share))).collect();
    json!({
        "rows": judged.rows, "recall": recall, "accuracy": judged.accuracy, "map_at_r": judged.map_at_r, "within_reach": judged.known,
    })
}
