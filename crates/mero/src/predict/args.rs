//! The options of `mero predict`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::options::hardware::Hardware;
use crate::options::outputs::Force;
use crate::options::reading::Reading;
use crate::{Answer, Failure};
use meromorph::Result;
use meromorph::files::Table;
use meromorph::model::{Factor, Model};
use meromorph::table::Unknown;
use meromorph::train::Precision;

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
    /// Type of activations on a GPU; f16 halves their memory, for plain perceptrons
    #[arg(long, default_value = "f32", value_parser = precision(), value_name = "TYPE")]
    pub(super) precision: Precision,
    /// What happens to a row with a category that training never saw: it counts as none of those it saw, has no prediction, or is an error
    #[arg(long, default_value = "other", value_parser = unknown(), value_name = "WHAT")]
    pub(super) unknown: Unknown,
    /// Add the probability of every class, in columns p(class)
    #[arg(long)]
    pub(super) proba: bool,
    /// Add columns lower and upper, between which the target lies with this probability, such as 0.9. They come from the errors of the
    /// test rows of training, or of all its folds; a fit always has bands, of its own level
    #[arg(long, value_name = "LEVEL")]
    pub(super) interval: Option<f64>,
    #[command(flatten)]
    pub(super) force: Force,
    #[command(flatten)]
    pub(super) reading: Reading,
    #[command(flatten)]
    pub(super) hardware: Hardware,
}

impl Args {
    /// Errors for an option that applies to models only.
    pub(super) fn check_fit(&self) -> Answer {
        let used = [
            ("valid", !self.valid.is_empty()),
            ("range", self.range),
            ("proba", self.proba),
            ("precision", self.precision != Precision::default()),
            ("unknown", self.unknown != Unknown::Other),
            ("device", !["auto", "cpu"].contains(&self.hardware.device.as_str())),
        ];
        match used.into_iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => Err(Failure::usage(format!("{name}: it applies to trained models; the file is a fit"))),
            None => Ok(()),
        }
    }

    /// Errors for an option that the model has no use for.
    pub(super) fn check(&self, model: &Model) -> Answer {
        if self.proba && model.preparation()?.target.levels().is_empty() {
            return Err(Failure::usage("proba: the target is a number; only classes have probabilities"));
        }
        if let Some(level) = self.interval {
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

fn precision() -> impl TypedValueParser<Value = Precision> {
    let names = PossibleValuesParser::new(Precision::ALL.map(|(name, _)| name));
    names.map(|name| Precision::ALL.into_iter().find(|(known, _)| *known == name).expect("one of them").1)
}

fn unknown() -> impl TypedValueParser<Value = Unknown> {
    let names = PossibleValuesParser::new(Unknown::ALL.map(|(name, _)| name));
    names.map(|name| Unknown::ALL.into_iter().find(|(known, _)| *known == name).expect("one of them").1)
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
