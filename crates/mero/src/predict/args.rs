//! The options of `mero predict`.

use std::path::PathBuf;
use std::str::FromStr;

use crate::options::flags::{Every, Flags};
use crate::options::hardware::Hardware;
use crate::options::outputs::Force;
use crate::options::reading::Reading;
use crate::{Answer, Failure};
use meromorph::Result;
use meromorph::files::Table;
use meromorph::model::{Factor, Model};
use meromorph::run::Predicting;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Model file, a folder written by `mero export --bundle`, or a fit written by `mero fit --out`
    pub(super) model: PathBuf,
    /// CSV, TSV, JSON lines, Parquet, XLSX, NPY or NPZ file, text also as .gz or .zst; - reads standard input
    pub(super) file: PathBuf,
    /// CSV file to write; - or no file writes to standard output
    #[arg(short, long, value_name = "CSV")]
    pub(super) out: Option<PathBuf>,
    /// Copy the columns of the table before the prediction
    #[arg(long)]
    pub(super) with_inputs: bool,
    /// Return no value where |COLUMN| is below TAU; for models with poles, up to four times
    #[arg(long, value_name = "COLUMN:TAU")]
    pub(super) valid: Vec<Validity>,
    /// Add a column with each row's position: below, within or above the measuring range (⊥ by a pole is below or above)
    #[arg(long)]
    pub(super) range: bool,
    /// Add the probability of every class, in columns p(class)
    #[arg(long)]
    pub(super) proba: bool,
    #[command(flatten)]
    flags: Flags<Every<Predicting>>,
    #[command(flatten)]
    pub(super) force: Force,
    #[command(flatten)]
    pub(super) reading: Reading,
    #[command(flatten)]
    pub(super) hardware: Hardware,
}

impl Args {
    /// How the rows are predicted.
    pub(super) fn predicting(&self) -> Answer<Predicting> {
        self.flags.apply(Predicting::default())
    }

    /// Errors for an option that applies to models only.
    pub(super) fn check_fit(&self) -> Answer {
        let used = [
            ("valid", !self.valid.is_empty()),
            ("range", self.range),
            ("proba", self.proba),
            ("precision", self.flags.has("precision")),
            ("unknown", self.flags.has("unknown")),
            ("device", !["auto", "cpu"].contains(&self.hardware.device.as_str())),
        ];
        match used.into_iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => Err(Failure::usage(format!("{name}: it applies to trained models; the file is a fit"))),
            None => Ok(()),
        }
    }

    /// Errors for an option that the model has no use for.
    pub(super) fn check(&self, model: &Model, predicting: &Predicting) -> Answer {
        if self.proba && model.preparation()?.target.levels().is_empty() {
            return Err(Failure::usage("proba: the target is a number; only classes have probabilities"));
        }
        if let Some(level) = predicting.interval {
            model.interval_rank(level)?;
        }
        if model.spec.head().is_none() {
            let unused = [("valid", !self.valid.is_empty()), ("range", self.range)];
            if let Some((name, _)) = unused.into_iter().find(|(_, is_given)| *is_given) {
                return Err(Failure::usage(format!("{name}: the model has no poles; it gives every row a value")));
            }
        }
        Ok(())
    }

    pub(super) fn factors(&self, table: &Table) -> Result<Vec<Factor>> {
        self.valid.iter().map(|valid| valid.factor(table)).collect()
    }
}

/// A column that makes rows ⊥ where it is near 0.
#[derive(Clone, Debug)]
pub(super) struct Validity {
    column: String,
    tau: f32,
}

impl FromStr for Validity {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let parts = text.rsplit_once(':').and_then(|(column, tau)| Some((column, tau.parse::<f32>().ok()?)));
        match parts {
            Some((column, tau)) if tau > 0.0 && tau.is_finite() => Ok(Self { column: column.to_owned(), tau }),
            _ => Err("expected a column and a threshold above 0, like speed:0.1".into()),
        }
    }
}

impl Validity {
    fn factor(&self, table: &Table) -> Result<Factor> {
        let Self { column, tau } = self;
        let values = table.numbers(column).map_err(|error| error.within("valid"))?;
        Ok(Factor { values: values.iter().map(|value| *value as f32).collect(), tau: *tau })
    }
}
