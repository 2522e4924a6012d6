//! The options of `mero fit`.

use std::path::PathBuf;

use crate::Answer;
use crate::options::flags::{Every, Flags};
use crate::options::hardware::Hardware;
use crate::options::reading::Reading;
use meromorph::fit::{FitOptions, MODELS};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// CSV, TSV, JSON lines, Parquet, XLSX, NPY or NPZ file, text also as .gz or .zst; - reads standard input
    pub(super) file: PathBuf,
    #[arg(long, value_name = "FORMULA", help = model_help())]
    pub(super) model: String,
    /// Fit of a smaller model of the same data, whose parameters are some of this one's: test whether the others are needed (F test, AIC)
    #[arg(long, value_name = "JSON")]
    pub(super) against: Option<PathBuf>,
    /// Device of the search: a GPU searches in single precision, where the data allow it, and the cpu finds the last digits in double precision. Worth
    /// it from about a million rows: auto, cpu, webgpu
    #[arg(long, default_value = "cpu", value_name = "NAME")]
    pub(super) device: String,
    /// Threads; 0 = all. The result is the same for any number
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(super) threads: usize,
    /// JSON file to write; mero predict reads it. For many fits, a table ending in .csv
    #[arg(short, long, value_name = "JSON")]
    pub(super) out: Option<PathBuf>,
    /// HTML page with data, curve, bands, residuals, correlations and convergence
    #[arg(long, value_name = "HTML")]
    pub(super) report: Option<PathBuf>,
    /// Where rows are while the fit runs; the result is the same: standard (the whole table in memory), large (the columns that are used), chunked (the
    /// first rows; the others are read in each pass), streaming (none). auto takes the first that fits into three quarters of the memory
    #[arg(long, default_value = "auto", value_name = "STRATEGY")]
    pub(super) strategy: String,
    /// Memory that may be used, such as 8GB; the limits of control groups and of SLURM are known
    #[arg(long, value_name = "SIZE")]
    pub(super) memory_limit: Option<String>,
    /// Print what each strategy would take and which is chosen, and do not fit
    #[arg(long)]
    pub(super) plan: bool,
    /// File to save a long fit in now and then; the same command goes on from it, with the same result. On Ctrl-C, SIGTERM or SIGUSR1 the fit is
    /// saved and ends with exit code 75
    #[arg(long, value_name = "FILE")]
    pub(super) checkpoint: Option<PathBuf>,
    /// Seconds between checkpoints
    #[arg(long, default_value_t = 30.0, value_name = "SECONDS", requires = "checkpoint")]
    pub(super) checkpoint_every: f64,
    /// File for a line of JSON for each evaluation and checkpoint: seconds, rows a second, bytes
    #[arg(long, value_name = "FILE")]
    pub(super) log: Option<PathBuf>,
    /// Seconds from which something is written to the log
    #[arg(long, default_value_t = 0.1, value_name = "SECONDS", requires = "log")]
    pub(super) log_threshold: f64,
    /// Replace the checkpoint of another fit, and a file in the place of an output even if it is of another kind
    #[arg(long)]
    pub(super) force: bool,
    /// Print only JSON, one object
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    flags: Flags<Every<FitOptions>>,
    #[command(flatten)]
    pub(super) reading: Reading,
}

impl Args {
    pub(super) fn hardware(&self) -> Hardware {
        Hardware::of(&self.device, self.threads)
    }

    /// The options of the fit.
    pub(super) fn options(&self) -> Answer<FitOptions> {
        let mut options = self.flags.apply(FitOptions::default())?;
        options.solve.threads = self.threads;
        Ok(options)
    }
}

fn model_help() -> String {
    let models: Vec<String> = MODELS.iter().map(|model| format!("{} ({})", model.name, model.summary)).collect();
    format!(
        "Formula over columns and parameters, such as \"a*exp(-b*x)+c\"; names that are not columns are parameters. Or named models, alone or in a \
         formula, such as \"gaussian(x) + line(x)\": {}, polynomial(x, degree)",
        models.join("; ")
    )
}
