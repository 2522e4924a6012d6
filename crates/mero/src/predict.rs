//! `mero predict`: predicts the rows of a table and writes CSV.

mod columns;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use pollster::block_on;

use columns::Columns;

use super::args::{Hardware, Reading, check_header, check_out, read_bytes, read_model, reading};
use super::progress::Progress;
use super::{Answer, Failure, console, curve};
use meromorph::error::listed;
use meromorph::export::validate_bundle;
use meromorph::files::Format;
use meromorph::files::Table;
use meromorph::files::csv::{self, Values};
use meromorph::files::{is_text, read_table};
use meromorph::internal::host;
use meromorph::model::{Factor, Follow, Model, PredictOptions, Prediction};
use meromorph::scm::strict::{self, Range};
use meromorph::table::{Note, NoteKind, Target, Unknown};
use meromorph::train::Precision;
use meromorph::{Device, Result};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Model file, a folder written by `mero export --bundle`, or a fit written by `mero fit --out`
    pub(super) model: PathBuf,
    /// CSV, TSV, JSON lines, Parquet, XLSX, NPY or NPZ file, text also as .gz or .zst; - reads standard input
    pub(super) file: PathBuf,
    /// CSV file to write; - or no file writes to standard output
    #[arg(short, long, value_name = "CSV")]
    out: Option<PathBuf>,
    /// Copy the columns of the table before the prediction
    #[arg(long)]
    pub(super) with_inputs: bool,
    /// Return no value where |COLUMN| is below TAU; for models with poles, up to four times
    #[arg(long, value_name = "COLUMN:TAU")]
    valid: Vec<Validity>,
    /// Add a column with each row's position: below, within or above the measuring range (⊥ by a pole is below or above)
    #[arg(long)]
    range: bool,
    /// Type of activations on a GPU; f16 halves their memory, for plain perceptrons
    #[arg(long, default_value = "f32", value_parser = precision(), value_name = "TYPE")]
    precision: Precision,
    /// What happens to a row with a category that training never saw: it counts as none of those it saw, has no prediction, or is an error
    #[arg(long, default_value = "other", value_parser = unknown(), value_name = "WHAT")]
    unknown: Unknown,
    /// Add the probability of every class, in columns p(class)
    #[arg(long)]
    proba: bool,
    /// Add columns lower and upper, between which the target lies with this probability, such as 0.9. They come from the errors of the
    /// test rows of training, or of all its folds; a fit always has bands, of its own level
    #[arg(long, value_name = "LEVEL")]
    pub(super) interval: Option<f64>,
    #[command(flatten)]
    pub(super) reading: Reading,
    #[command(flatten)]
    hardware: Hardware,
}

pub(super) fn run(args: &Args) -> Answer {
    args.hardware.check()?;
    let out = args.out.as_deref().filter(|out| *out != Path::new("-"));
    if let Some(out) = out {
        check_out(out, &[("model", &args.model), ("table", &args.file)])?;
        check_csv(out)?;
    }
    if let Some(fit) = curve::fit(&args.model)? {
        args.check_fit()?;
        return curve::run(args, &fit, out);
    }
    let model = load(&args.model)?;
    args.check(&model)?;
    let format = args.reading.format()?;
    let (bytes, source) = read_bytes(&args.file)?;
    let progress = reading(&args.file);
    let table = read_table(&bytes, &source, &format)?;
    drop(progress);
    check_header(&table, format.header, model.preparation()?.names())?;
    let device = args.hardware.open()?;
    let progress = Progress::of(table.rows() as u64, "predicting");
    let (predictions, notes) = args.predict(&model, &device, &table, &progress)?;
    let names: Vec<&str> = model.preparation()?.names().collect();
    let mut columns = Columns::of(&model, &predictions);
    args.fill(&mut columns, (&model, &device), &table, &predictions)?;
    let bottom = if args.valid.is_empty() { "no value: at a pole" } else { "no value: at a pole, or not valid" };
    columns.notes = note_texts(&notes, &names, &predictions, bottom);
    let text = if args.with_inputs {
        beside(&columns.values(), &table, &bytes, &format)?
    } else {
        csv::write(&columns.values())
    };
    progress.finish();
    if args.precision == Precision::F16 && device.info().runs_cpu_path() {
        console::complain("mero predict: precision: the cpu predicts in f32, not in f16");
    }
    match out {
        Some(out) => host::write_whole(out, &text)?,
        None => console::say_data(&text),
    }
    if let Some(summary) = summary(&notes, &names, table.rows()) {
        console::complain(&format!("mero predict: {summary}"));
    }
    Ok(())
}

/// Refuses the name of an array: predictions have columns of text and would lose them.
fn check_csv(out: &Path) -> Answer {
    let ending = out.extension().unwrap_or_default().to_ascii_lowercase();
    if ["npy", "npz", "parquet", "xlsx"].iter().any(|other| ending == *other) {
        let (out, csv) = (out.display(), out.with_extension("csv"));
        let csv = csv.display();
        return Err(Failure::usage(format!(
            "{out}: predictions are written as CSV only: expected a name such as {csv}"
        )));
    }
    Ok(())
}

impl Args {
    /// Errors for an option that applies to models only.
    fn check_fit(&self) -> Answer {
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
    fn check(&self, model: &Model) -> Answer {
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

    fn factors(&self, table: &Table) -> Result<Vec<Factor>> {
        self.valid.iter().map(|valid| valid.factor(table)).collect()
    }

    fn predict(
        &self,
        model: &Model,
        device: &Device,
        table: &Table,
        progress: &Progress,
    ) -> Result<(Vec<Prediction>, Vec<Note>)> {
        let follow = |done: usize, all: usize| progress.reach(done, all);
        let factors = self.factors(table)?;
        let options = PredictOptions {
            factors: &factors,
            precision: self.precision,
            unknown: self.unknown,
            follow: Some(Follow(&follow)),
        };
        block_on(model.predict_noting(device, table, options))
    }

    /// Fills the columns that were requested besides the prediction.
    fn fill(
        &self,
        columns: &mut Columns<'_>,
        (model, device): (&Model, &Device),
        table: &Table,
        predictions: &[Prediction],
    ) -> Result<()> {
        if self.range {
            let factors = self.factors(table)?;
            let options = PredictOptions { factors: &factors, unknown: self.unknown, ..PredictOptions::default() };
            let ranges = block_on(ranges(model, device, table, &options))?;
            let given = |(range, prediction): (&'static str, &Prediction)| match prediction {
                Prediction::None => "",
                _ => range,
            };
            columns.ranges = ranges.into_iter().zip(predictions).map(given).collect();
        }
        // The shares are the prediction.
        let is_share = matches!(model.preparation()?.target, Target::Shares { .. });
        if self.proba || is_share {
            columns.probabilities = block_on(model.probabilities(device, table, self.unknown))?;
            columns.classes = model.preparation()?.target.levels().iter().map(|name| format!("p({name})")).collect();
        }
        if let Some(level) = self.interval {
            let intervals = block_on(model.intervals(device, table, (level, self.unknown)))?;
            let given = intervals.into_iter().map(|interval| interval.unwrap_or([f64::NAN; 2]));
            (columns.lower, columns.upper) = given.map(|[lower, upper]| (lower, upper)).unzip();
        }
        Ok(())
    }
}

/// Loads a model from its file or from a valid bundle.
pub(super) fn load(path: &Path) -> Result<Model> {
    if host::is_folder(path) {
        return Ok(validate_bundle(path, None)?.model);
    }
    Model::load(&read_model(path)?, &path.display().to_string())
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
struct Validity {
    column: String,
    tau: f32,
}

impl FromStr for Validity {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let parts = text.rsplit_once(':').and_then(|(column, tau)| Some((column, tau.parse::<f32>().ok()?)));
        match parts {
            Some((column, tau)) if tau > 0.0 && tau.is_finite() => Ok(Self { column: column.to_owned(), tau }),
            _ => Err("wanted a column and a threshold above 0, like speed:0.1".into()),
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

/// Each row's position relative to the measuring range: ⊥ by a pole is on the side of its numerator's sign, ⊥ by a fault is within.
async fn ranges(
    model: &Model,
    device: &Device,
    table: &Table,
    options: &PredictOptions<'_>,
) -> Result<Vec<&'static str>> {
    let x = model.preparation()?.encode_noting(table, &table.every_row(), options.unknown)?.x;
    let decoded = model.decoded_where(device, &x, options.factors).await?;
    let numerators: Vec<f32> = model.outputs(device, &x).await?.into_iter().step_by(2).collect();
    let name = |range: &Range| match range {
        Range::Below => "below",
        Range::Within => "within",
        Range::Above => "above",
    };
    Ok(strict::ranges(&decoded, &numerators, None)?.iter().map(name).collect())
}

/// Columns after those of the table: as they are written in the file, or for a file that is not CSV, their cells as CSV.
pub(super) fn beside(columns: &[(&str, Values<'_>)], table: &Table, bytes: &[u8], format: &Format) -> Result<Vec<u8>> {
    if !is_text(bytes) {
        let own = table.columns().iter().map(|column| (column.name.as_str(), Values::Cells(column.as_category())));
        return Ok(csv::write(&own.chain(columns.iter().copied()).collect::<Vec<_>>()));
    }
    csv::append(bytes, table.source(), format, columns)
}

/// For each row, what was noticed about it: `age: outside the training range; city: not seen in training`; `bottom` where it has no value.
fn note_texts(notes: &[Note], names: &[&str], predictions: &[Prediction], bottom: &str) -> Vec<String> {
    let mut texts = vec![String::new(); predictions.len()];
    for Note { row, feature, kind } in notes {
        let what = match kind {
            NoteKind::Outside => "outside the training range",
            NoteKind::Unseen(_) => "not seen in training",
            NoteKind::Filled => "missing, a usual value filled in",
            NoteKind::Unusable(why) => why.as_str(),
        };
        let text = &mut texts[*row];
        let between = if text.is_empty() { "" } else { "; " };
        *text += &format!("{between}{}: {what}", names[*feature]);
    }
    for (text, prediction) in texts.iter_mut().zip(predictions) {
        let why = match prediction {
            Prediction::None if text.is_empty() => "the model's output is not a finite number",
            Prediction::Decoded { value: None, is_fault: true, .. } => "no value: a number is not finite",
            Prediction::Decoded { value: None, .. } => bottom,
            Prediction::Decoded { is_gap: true, .. } => "near a pole: the value is uncertain",
            _ => continue,
        };
        let between = if text.is_empty() { "" } else { "; " };
        *text += &format!("{between}{why}");
    }
    texts
}

/// The notes of all rows in one line, if there are any.
fn summary(notes: &[Note], names: &[&str], rows: usize) -> Option<String> {
    let kinds = [
        "without a prediction",
        "with a value that training did not see",
        "outside the training range",
        "with a missing cell filled in",
    ];
    let place = |kind: &NoteKind| match kind {
        NoteKind::Unusable(_) => 0,
        NoteKind::Unseen(_) => 1,
        NoteKind::Outside => 2,
        NoteKind::Filled => 3,
    };
    let part = |(at, what): (usize, &str)| {
        let of_kind: Vec<&Note> = notes.iter().filter(|note| place(&note.kind) == at).collect();
        let count = of_kind.iter().map(|note| note.row).collect::<BTreeSet<_>>().len();
        let columns: BTreeSet<usize> = of_kind.iter().map(|note| note.feature).collect();
        let columns: Vec<&str> = columns.into_iter().map(|feature| names[feature]).collect();
        (count > 0).then(|| format!("{count} {what} ({})", listed(&columns)))
    };
    let parts: Vec<String> = kinds.into_iter().enumerate().filter_map(part).collect();
    (!parts.is_empty()).then(|| format!("of {rows} rows, {}; see the column note", parts.join(", ")))
}
