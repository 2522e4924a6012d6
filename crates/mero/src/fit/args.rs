//! The options of `mero fit`.

use std::path::PathBuf;

use crate::options::hardware::Hardware;
use crate::options::reading::Reading;
use crate::{Answer, Failure};
use meromorph::error::{hint, listed};
use meromorph::fit::{Global, MODELS, Method, SolveOptions};

#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Args {
    /// CSV, TSV, JSON lines, Parquet, XLSX, NPY or NPZ file, text also as .gz or .zst; - reads standard input
    pub(super) file: PathBuf,
    #[arg(long, value_name = "FORMULA", help = model_help())]
    pub(super) model: String,
    /// Observed values: a column, or a formula over columns such as "log(y)"; by default, the last column that the model does not use
    #[arg(long, value_name = "COLUMN")]
    pub(super) y: Option<String>,
    /// Starts of parameters; others are looked for
    #[arg(long, value_name = "a=1,b=0.1", allow_hyphen_values = true)]
    pub(super) p0: Vec<String>,
    /// Bounds of parameters, low:high; either may be left out
    #[arg(long, value_name = "a=0:10,b=:5", allow_hyphen_values = true)]
    pub(super) bounds: Vec<String>,
    /// Parameters that keep a value
    #[arg(long, value_name = "c=0", allow_hyphen_values = true)]
    pub(super) fix: Vec<String>,
    /// A parameter that is computed from others; may be repeated
    #[arg(long, value_name = "d=2*a")]
    pub(super) tie: Vec<String>,
    /// Column of standard deviations of the observed values: rows are weighted by 1 / sigma²
    #[arg(long, value_name = "COLUMN")]
    pub(super) sigma: Option<String>,
    /// Take sigma as it is; by default, standard errors are scaled so that the residuals agree with them
    #[arg(long, requires = "sigma")]
    pub(super) absolute_sigma: bool,
    /// Loss of a residual; all but linear are robust against outliers: linear, soft_l1, huber, cauchy, arctan
    #[arg(long, default_value = "linear", value_name = "LOSS")]
    pub(super) loss: String,
    /// Size of a residual from which a robust loss counts it less, in units of y, or with --sigma of sigma [default: 1]
    #[arg(long, value_name = "SIZE")]
    pub(super) loss_scale: Option<f64>,
    /// Search: trf takes bounds, lm does not
    #[arg(long, default_value = "trf", value_name = "METHOD")]
    pub(super) method: String,
    /// Search for the start all over the ranges, on up to a thousand rows, even if --p0 is given: none, multistart (many searches), cmaes (an
    /// evolution strategy)
    #[arg(long, default_value = "none", value_name = "SEARCH")]
    pub(super) global: String,
    /// Do not search again from other starts if the search gets stuck or the model is not finite at the start
    #[arg(long)]
    pub(super) no_recovery: bool,
    /// Also compute intervals from the profile of the cost: they are right where the model bends, and take some fits for each parameter
    #[arg(long)]
    pub(super) profile: bool,
    /// Fit of a smaller model of the same data, whose parameters are some of this one's: test whether the others are needed (F test, AIC)
    #[arg(long, value_name = "JSON")]
    pub(super) against: Option<PathBuf>,
    /// Probability of intervals and bands
    #[arg(long, default_value_t = 0.95, value_name = "LEVEL")]
    pub(super) level: f64,
    /// Evaluations of the model over all rows, at most; 0 = 500 for each free parameter and 500 more
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(super) max_evaluations: usize,
    /// Rows with a missing cell in a column that is used: error, or drop them
    #[arg(long, default_value = "error", value_parser = ["error", "drop"], value_name = "WHAT")]
    pub(super) missing: String,
    /// Seed of the starts that are tried for parameters without one
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    pub(super) seed: u64,
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
    pub(super) reading: Reading,
}

impl Args {
    pub(super) fn hardware(&self) -> Hardware {
        Hardware::of(&self.device, self.threads)
    }

    pub(super) fn options(&self) -> Answer<SolveOptions> {
        let found = Method::ALL.into_iter().find(|(name, _)| *name == self.method);
        let Some((_, method)) = found else {
            let (names, got) = (Method::ALL.map(|(name, _)| name), &self.method);
            let (all, near) = (listed(&names), hint(got, names.into_iter()));
            return Err(Failure::usage(format!("method: got \"{got}\", expected one of {all}{near}")));
        };
        let (level, evaluations, threads, seed) = (self.level, self.max_evaluations, self.threads, self.seed);
        let found = Global::ALL.into_iter().find(|(name, _)| *name == self.global);
        let Some((_, global)) = found else {
            let (names, got) = (Global::ALL.map(|(name, _)| name), &self.global);
            let (all, near) = (listed(&names), hint(got, names.into_iter()));
            return Err(Failure::usage(format!("global: got \"{got}\", expected one of {all}{near}")));
        };
        let recovers = !self.no_recovery;
        Ok(SolveOptions { method, global, recovers, level, evaluations, threads, seed })
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
