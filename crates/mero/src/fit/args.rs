//! The options of `mero fit`.

use std::path::PathBuf;

use super::chart::Look;
use super::print::Form;
use super::running::Running;
use crate::Answer;
use crate::options::flags::{Every, Flags};
use crate::options::reading::Reading;
use meromorph::fit::{FitOptions, MODELS};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// CSV, TSV, JSON lines, Parquet, XLSX, NPY or NPZ file, text also as .gz or .zst; - reads standard input
    pub(super) file: PathBuf,
    #[arg(long, value_name = "FORMULA", help = model_help())]
    pub(super) model: String,
    /// Fit of another model of the same data: compare AIC, and if that model is a special case of this one, test whether its further parameters are needed
    /// (F test)
    #[arg(long, value_name = "JSON")]
    pub(super) against: Option<PathBuf>,
    /// JSON file to write; mero predict reads it. For many fits, a table ending in .csv
    #[arg(short, long, value_name = "JSON")]
    pub(super) out: Option<PathBuf>,
    /// CSV file for the draws of --sample, a column for each free parameter
    #[arg(long, value_name = "CSV")]
    pub(super) samples_out: Option<PathBuf>,
    /// HTML page with data, curve, bands, residuals, correlations and convergence
    #[arg(long, value_name = "HTML")]
    pub(super) report: Option<PathBuf>,
    #[command(flatten)]
    pub(super) running: Running,
    /// Replace the checkpoint of another fit, and a file in the place of an output even if it is of another kind
    #[arg(long)]
    pub(super) force: bool,
    /// Print only JSON, one object
    #[arg(long)]
    pub(super) json: bool,
    /// Print only the parameters as CSV (table), or the model with its values as code
    #[arg(long, value_name = "FORM", conflicts_with = "json")]
    pub(super) print: Option<Form>,
    #[command(flatten)]
    axes: Axes,
    #[command(flatten)]
    flags: Flags<Every<FitOptions>>,
    #[command(flatten)]
    pub(super) reading: Reading,
}

#[derive(clap::Args)]
struct Axes {
    /// Logarithmic x axis of the charts
    #[arg(long)]
    log_x: bool,
    /// Logarithmic y axis of the charts
    #[arg(long)]
    log_y: bool,
}

impl Args {
    /// How charts look.
    pub(super) fn look(&self) -> Look {
        Look { log: [self.axes.log_x, self.axes.log_y], has_components: false }
    }

    /// The options of the fit.
    pub(super) fn options(&self) -> Answer<FitOptions> {
        let mut options = self.flags.apply(FitOptions::default())?;
        self.running.apply(&mut options.solve)?;
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
